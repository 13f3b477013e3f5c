package language

import "strings"

// telephone are what the box says on the telephone outside of a chat, in one language.
type telephone struct {
	// recorded says that a call is recorded, and mayRecord asks for it.
	recorded, mayRecord string
	// puttingThrough is said before a caller waits for a person, and nobodyThere when none comes.
	puttingThrough, nobodyThere string
	// The person hears callForYou, or callFrom with the {number} of the caller; then about, with the {reason} of the
	// call; then the question takeCall.
	callForYou, callFrom, about, takeCall string
}

// Recorded says that the call is recorded.
func (l Language) Recorded() string { return linesOf(l).recorded }

// MayRecord asks whether the call may be recorded.
func (l Language) MayRecord() string { return linesOf(l).mayRecord }

// PuttingThrough says that the caller is being connected to a person.
func (l Language) PuttingThrough() string { return linesOf(l).puttingThrough }

// NobodyThere says that no person can take the call.
func (l Language) NobodyThere() string { return linesOf(l).nobodyThere }

// Brief tells a person who calls and what for, and asks whether the person takes the call. The number and the
// reason may be empty.
func (l Language) Brief(number, reason string) string {
	t := linesOf(l).telephone
	said := []string{t.callForYou}
	if number != "" {
		said[0] = strings.Replace(t.callFrom, "{number}", number, 1)
	}
	if reason = strings.TrimSpace(reason); reason != "" {
		if !strings.HasSuffix(reason, ".") && !strings.HasSuffix(reason, "。") && !Question(reason) {
			reason += "."
		}
		said = append(said, strings.Replace(t.about, "{reason}", reason, 1))
	}
	return strings.Join(append(said, t.takeCall), " ")
}

// Answer reads the answer to a question for yes or no. Anything negative in it makes it a no. ok is false if it
// is neither. English answers count in every language.
func (l Language) Answer(text string) (yes, ok bool) {
	words := Plain(text)
	if words == "" {
		return false, false
	}
	for _, of := range []Language{l, Of("en")} {
		rest, agrees := of.afterYes(words)
		for _, no := range of.no {
			if contains(rest, Plain(no), of.joined) {
				return false, true
			}
		}
		if agrees || of.Backchannel(text) && !common.Backchannel(text) {
			return true, true
		}
	}
	return false, words == misheardNo
}

// misheardNo is what a transcriber writes for a short English "no" on a telephone. As an answer it means nothing
// else.
const misheardNo = "now"

// afterYes returns what follows the longest beginning of a positive answer, and false if there is none.
func (l Language) afterYes(words string) (rest string, found bool) {
	rest = words
	for _, list := range [...][]string{{"okay", "ok"}, l.yes, l.agreement} {
		for _, yes := range list {
			after, is := strings.CutPrefix(words, Plain(yes))
			if is && (after == "" || l.joined || after[0] == ' ') && (!found || len(after) < len(rest)) {
				rest, found = after, true
			}
		}
	}
	return rest, found
}

// Mailbox reports whether a text, in any language of the table, is what a mailbox says.
func Mailbox(text string) bool {
	return announces(text, func(l Language) []string { return l.mailbox })
}

// WrongNumber reports whether a text, in any language of the table, is what a telephone network says of a number
// that does not exist.
func WrongNumber(text string) bool {
	return announces(text, func(l Language) []string { return l.wrongNumber })
}

func announces(text string, kind func(Language) []string) bool {
	words := Plain(text)
	for _, l := range languages {
		for _, phrase := range kind(l) {
			if contains(words, Plain(phrase), l.joined || l.tag == "ko") {
				return true
			}
		}
	}
	return false
}

// contains reports whether words hold a phrase: as whole words, unless the language joins them.
func contains(words, phrase string, joined bool) bool {
	if joined {
		return strings.Contains(strings.ReplaceAll(words, " ", ""), strings.ReplaceAll(phrase, " ", ""))
	}
	return strings.Contains(" "+words+" ", " "+phrase+" ")
}
