package llama

import (
	"strings"
	"testing"

	"parley/appliance/engine"
)

// The beginning of a reply can be made less likely, and only the beginning.
func TestAReplyCanBeKeptFromBeginningWithAWord(t *testing.T) {
	m := small(t, nil)
	say := func(begins map[string]float64) string {
		var b strings.Builder
		p := engine.Prompt{Messages: ask("Is breakfast on the second floor?"), FirstWordBias: begins, MaxTokens: 8}
		if _, err := m.Generate(within(t), p, func(part engine.Part) error {
			b.WriteString(part.Text)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	usual := say(nil)
	first, _, _ := strings.Cut(usual, " ")
	first = strings.Trim(first, ",.")
	if first == "" {
		t.Fatalf("the reply is %q", usual)
	}
	if got := say(map[string]float64{first: -50, "": 3}); strings.HasPrefix(got, first) || got == "" {
		t.Errorf("with %q excluded as a beginning, the reply is %q", first, got)
	}
	if got := say(map[string]float64{"Zebra": 60}); !strings.HasPrefix(got, "Z") {
		t.Errorf("with Zebra favoured as a beginning, the reply is %q", got)
	}
	if got := say(nil); got != usual {
		t.Errorf("afterwards the reply is %q, before it was %q", got, usual)
	}
}
