package language

import (
	"slices"
	"strings"
	"testing"
)

func TestAnswersAreYesNoOrNeither(t *testing.T) {
	for _, row := range []struct {
		tag, text string
		yes, ok   bool
	}{
		{"en", "Yes.", true, true},
		{"en", "Yeah, go ahead.", true, true},
		{"en", "Okay.", true, true},
		{"en", "No, thanks.", false, true},
		{"en", "I'd rather not.", false, true},
		{"en", "Yes, but not now.", false, true},
		{"en", "Yep, put him through.", true, true},
		{"en", "No problem.", true, true},
		{"en", "Fine, but not now.", false, true},
		{"en", "Now", false, true},
		{"en", "Sorry, I can't right now.", false, true},
		{"de", "Kein Problem, verbinden Sie.", true, true},
		{"zh", "没问题。", true, true},
		{"en", "What is this about?", false, false},
		{"en", "Mm-hm", false, false},
		{"en", "", false, false},
		{"de", "Ja, gerne.", true, true},
		{"de", "In Ordnung.", true, true},
		{"de", "Nein.", false, true},
		{"de", "Lieber nicht.", false, true},
		{"de", "Yes.", true, true},
		{"de", "Worum geht es?", false, false},
		{"fr", "Oui, d'accord.", true, true},
		{"fr", "Non merci.", false, true},
		{"es", "Sí, claro.", true, true},
		{"pl", "Tak.", true, true},
		{"pl", "Nie.", false, true},
		{"tr", "Evet.", true, true},
		{"tr", "Hayır.", false, true},
		{"ru", "Да, конечно.", true, true},
		{"ja", "はい、どうぞ。", true, true},
		{"ja", "いいえ。", false, true},
		{"zh", "好的。", true, true},
		{"zh", "不要。", false, true},
		{"ko", "네.", true, true},
		{"ko", "아니요.", false, true},
	} {
		if yes, ok := Of(row.tag).Answer(row.text); yes && ok != row.yes || ok != row.ok {
			t.Errorf("%q in %q: yes %v, understood %v", row.text, row.tag, yes, ok)
		}
	}
}

// In each language, people can say what the box asks them to say.
func TestTheTelephoneSpeaksEveryLanguage(t *testing.T) {
	for _, l := range languages {
		if l.unknown == "" {
			continue // only its stop words are known
		}
		brief := l.Brief("+4930123", "a lost key")
		for name, text := range map[string]string{
			"recorded": l.Recorded(), "may record": l.MayRecord(), "putting through": l.PuttingThrough(),
			"nobody there": l.NobodyThere(), "brief": brief, "bare brief": l.Brief("", ""),
		} {
			if text == "" || l.tag != "en" && text == map[string]string{"recorded": Of("en").Recorded()}[name] ||
				strings.ContainsAny(text, "{}") {
				t.Errorf("%s: %s is %q", l.tag, name, text)
			}
		}
		if !strings.Contains(brief, "+4930123") || !strings.Contains(brief, "a lost key.") {
			t.Errorf("%s: %q", l.tag, brief)
		}
		for _, no := range l.no {
			if yes, ok := l.Answer(no); yes || !ok {
				t.Errorf("%s: %q is yes %v, understood %v", l.tag, no, yes, ok)
			}
		}
		for _, yes := range append(slices.Clone(l.yes), l.agreement...) {
			if said, ok := l.Answer(yes); !said || !ok {
				t.Errorf("%s: %q is yes %v, understood %v", l.tag, yes, said, ok)
			}
		}
		for _, p := range l.mailbox {
			if !Mailbox("Hello. " + p + "!") {
				t.Errorf("%s: %q is no mailbox", l.tag, p)
			}
		}
		for _, p := range l.wrongNumber {
			if !WrongNumber(p) {
				t.Errorf("%s: %q is no wrong number", l.tag, p)
			}
		}
		if len(l.no) == 0 || len(l.mailbox) == 0 || len(l.wrongNumber) == 0 {
			t.Errorf("%s lacks words", l.tag)
		}
	}
}

func TestPeopleAreNoMailboxes(t *testing.T) {
	for _, text := range []string{"Hello?", "Schmidt, guten Tag.", "Museum, what can I do for you?", "Allô ?",
		"もしもし", ""} {
		if Mailbox(text) || WrongNumber(text) {
			t.Errorf("%q counts as a recording", text)
		}
	}
}
