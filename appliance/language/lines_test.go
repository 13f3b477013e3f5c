package language

import "testing"

// Each language of the table has its own lines, and an unknown one has the English ones.
func TestEveryLanguageHasItsLines(t *testing.T) {
	seen := map[string]string{}
	for _, l := range languages {
		if l.unknown == "" {
			continue // only its stop words are known
		}
		for name, text := range map[string]string{
			"working": l.Working(1), "working on": l.Working(9), "sorry": l.Sorry(), "done": l.Done(),
			"broken": l.AnswerFailed(), "again": l.SayAgain(),
			"nudge": l.Nudge(1), "nudge again": l.Nudge(2), "last nudge": l.Nudge(7), "goodbye": l.Goodbye(),
		} {
			if other, twice := seen[text]; text == "" || twice {
				t.Errorf("%s: %s is %q, as %s", l.tag, name, text, other)
			}
			seen[text] = l.tag + " " + name
		}
	}
	if got := Of("xx").Sorry(); got != Of("en").Sorry() {
		t.Errorf("the line of an unknown language is %q", got)
	}
}
