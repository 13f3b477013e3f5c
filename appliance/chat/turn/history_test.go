package turn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
)

// A client that types as fast as it can, with a long context in every message, does not fill the memory, and
// the newest message is never dropped.
func TestTheHistoryIsBounded(t *testing.T) {
	b := begin(t, func(s *Settings) {
		s.Context = &contract.Context{Text: strings.Repeat("x", contract.MaxPromptChars),
			Type: contract.ContextPersistent}
	})
	most := 0
	for n := range 100 {
		text := fmt.Sprint("Message ", n)
		b.wait(time.Second).after(Typed{Text: text})
		held := 0
		for _, e := range b.state.history {
			held += len(e.Text)
		}
		most = max(most, held)
		if last := b.state.history[len(b.state.history)-2].Text; last != text {
			t.Fatalf("the history ends with %q after %q", last, text)
		}
	}
	if most > maxHistory+contract.MaxPromptChars+100 || most < maxHistory/2 {
		t.Errorf("the history held %d bytes", most)
	}
}
