package turn

import (
	"slices"
	"testing"
	"time"
)

// lateWords is a conversation in which the first utterance is over, its words are
// still to come, and the second has begun.
func lateWords(t *testing.T) *told {
	b := begin(t)
	want(t, b.after(Voiced{Utterance: 1, Voice: time.Second}, TurnEnded{Utterance: 1, Revision: 1}))
	want(t, b.after(Voiced{Utterance: 2, Voice: time.Second}))
	return b
}

func TestWordsThatComeLateAreSaidAndAnsweredWithTheNextOnes(t *testing.T) {
	b := lateWords(t)
	want(t, b.after(Guessed{Utterance: 1, Revision: 1, Words: says("I am Anna.")}), "user: I am Anna.")
	want(t, b.after(Guessed{Utterance: 2, Revision: 1, Words: says("When do you open?")}), "prepare 1: When do you open?")
	want(t, b.after(TurnEnded{Utterance: 2, Revision: 1}), "user: When do you open?")
	want(t, b.after(thinks(1, "At ten.")), "speak 1: At ten.")
	var said []string
	for _, m := range b.state.history {
		said = append(said, m.Text)
	}
	if !slices.Equal(said, []string{"I am Anna.", "When do you open?"}) {
		t.Errorf("the history is %q", said)
	}
}

func TestWordsThatComeLateAreAnsweredWhenNoMoreAreSaid(t *testing.T) {
	for name, end := range map[string][]Event{
		"a cough":         {TurnEnded{Utterance: 2, Revision: 0}},
		"nothing in them": {TurnEnded{Utterance: 2, Revision: 1}, Guessed{Utterance: 2, Revision: 1}},
	} {
		b := lateWords(t)
		b.after(Guessed{Utterance: 1, Revision: 1, Words: says("When do you open?")})
		if got := b.after(end...); !slices.Equal(got, []string{"think 1: When do you open?"}) {
			t.Errorf("%s: %q", name, got)
		}
		b = lateWords(t)
		b.after(end[0])
		if len(end) > 1 {
			continue // words come in their order
		}
		if got := b.after(Guessed{Utterance: 1, Revision: 1, Words: says("When do you open?")}); !slices.Equal(got, []string{"user: When do you open?", "think 1: When do you open?"}) {
			t.Errorf("%s, before the words: %q", name, got)
		}
	}
}

func TestSeveralUtterancesMayBeLate(t *testing.T) {
	b := lateWords(t)
	b.after(TurnEnded{Utterance: 2, Revision: 1}, Voiced{Utterance: 3, Voice: time.Second}, TurnEnded{Utterance: 3, Revision: 2})
	want(t, b.after(Guessed{Utterance: 1, Revision: 1, Words: says("One.")}), "user: One.")
	want(t, b.after(Guessed{Utterance: 1, Revision: 1, Words: says("One.")})) // only once
	want(t, b.after(Guessed{Utterance: 2, Revision: 1, Words: says("Two.")}), "user: Two.")
	want(t, b.after(Guessed{Utterance: 3, Revision: 1, Words: says("Thr")}))
	want(t, b.after(Guessed{Utterance: 3, Revision: 2, Words: says("Three.")}), "user: Three.", "think 1: Three.")
}
