package turn

import (
	"testing"
	"time"
)

// What the model says of a pause decides how long it may be, where the settings
// want that; without them the config's silence holds, whatever it says.
func TestWhatSoundsFinishedIsAnsweredSooner(t *testing.T) {
	const config = 800 * time.Millisecond
	for name, row := range map[string]struct {
		semantic    bool
		said        string
		probability float64 // negative: the model has not said
		silence     time.Duration
	}{
		"finished":                  {true, "When do you open?", 0.95, 350 * time.Millisecond},
		"not sure":                  {true, "When do you open?", 0.7, config},
		"in doubt":                  {true, "When do you open?", 0.3, 1500 * time.Millisecond},
		"unfinished":                {true, "I would like", 0.05, 3 * time.Second},
		"a word that holds":         {true, "I would like to go to the", 0.9, 3 * time.Second},
		"a word that begins":        {true, "Well,", 0.95, 1500 * time.Millisecond},
		"the model has not said":    {true, "When do you open?", -1, config},
		"finished, not asked for":   {false, "When do you open?", 0.9, config},
		"unfinished, not asked for": {false, "I would like to go to the", 0.05, config},
	} {
		b := begin(t, func(s *Settings) { s.Semantic = row.semantic })
		b.after(Voiced{Utterance: 1, Voice: time.Second}, Paused{Utterance: 1, Revision: 1, End: b.now})
		end := b.state.heard.pause.end
		if row.probability >= 0 {
			b.after(Finished{Utterance: 1, Revision: 1, Probability: row.probability})
		}
		b.after(Guessed{Utterance: 1, Revision: 1, Words: Words{Text: row.said, Language: "en"}})
		b.after(Silent{Utterance: 1, Until: end + 10*time.Second})
		if got := b.wakes() - end; got != row.silence {
			t.Errorf("%s: the turn ends after %v, want %v", name, got, row.silence)
		}
	}
}

// What is said of an earlier pause says nothing of this one.
func TestAFinishedSentenceThatGoesOn(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Semantic = true })
	b.after(Voiced{Utterance: 1, Voice: time.Second}, Paused{Utterance: 1, Revision: 1, End: b.now},
		WentOn{Utterance: 1, Revision: 1, Begin: b.now}, Voiced{Utterance: 1, Voice: 2 * time.Second},
		Finished{Utterance: 1, Revision: 1, Probability: 1}, Paused{Utterance: 1, Revision: 2, End: b.now},
		Finished{Utterance: 1, Revision: 1, Probability: 1})
	if b.state.heard.pause.asked {
		t.Error("it is taken for finished")
	}
	b.after(Finished{Utterance: 1, Revision: 2, Probability: 1})
	if !b.state.heard.pause.asked {
		t.Error("it is not heard of")
	}
}
