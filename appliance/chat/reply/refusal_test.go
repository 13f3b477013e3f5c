package reply

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
)

// A request is refused with "I can't", not with "I don't know".
func TestARequestIsRefused(t *testing.T) {
	const unknown = "I'm sorry, I don't know that."
	for _, row := range []struct {
		user   string
		pieces []string
		want   []string
	}{
		{"Please wake me up at six.", []string{unknown}, []string{cannot, "end"}},
		{"Send a bottle of water.", []string{"I'm sorry, I can't send one."},
			[]string{"I'm sorry, I can't send one.", "end"}},
		{"When do you close?", []string{unknown}, []string{unknown, "end"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			think := turn.Think{Turn: 1, Conversation: askedOfFacts(row.user)}
			wantSaid(t, thought(t, alone(&scripted{pieces: row.pieces}), think, ModelOptions{},
				newSchedule(true, time.Now())), row.want...)
		})
	}
	c := askedOfFacts("Please wake me up at six.")
	w := newRefusal(c)
	if first, then := w.filter("I'm sorry,", true), w.filter("I don't know that.", false); first+" "+then != cannot {
		t.Errorf("in pieces: %q %q", first, then)
	}
	c.Language = "de"
	if newRefusal(c) != nil || newRefusal(turn.Conversation{}) != nil {
		t.Error("wishes are known in English, where answers are checked")
	}
}
