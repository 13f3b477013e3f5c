package reply

import (
	"strconv"
	"strings"
	"sync"

	"parley/appliance/chat/turn"
	"parley/appliance/clerk"
	"parley/appliance/text"
)

// desk keeps what a clerk has read of the facts of a chat, which mostly stay the
// same: of 4 KB that takes a few milliseconds.
type desk struct {
	mu   sync.Mutex
	told string
	read *clerk.Desk
}

// at is the desk at which a conversation is answered; nil where it has no facts
// that a clerk can read, who knows English.
func (d *desk) at(c turn.Conversation) *clerk.Desk {
	if d == nil || c.Facts == nil || !c.Facts.Spelt || c.Facts.Own {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if told := c.Facts.Told; d.told != told {
		d.told, d.read = told, nil
		if len(text.Numbers(told)) >= turn.LeastFacts {
			d.read = clerk.Read(told)
		}
	}
	return d.read
}

// yesDoubt is by how much less likely an answer begins with yes than the model
// says, in the natural logarithm: small models say yes to most questions.
const yesDoubt = 1.3

// refusal is the same for no, and against yes, where the fact that is nearest to a
// question says what is not so.
const refusal = 1.5

// granted is the same against no, where that fact says that it may be.
const granted = 0.7

// ignoranceDoubt is the same for not knowing, of a question for a fact: the rules
// make that likely also where a fact has other words. What is invented instead has
// mostly a number or a name, and is not said.
const ignoranceDoubt = 1.0

// certain is by how much likelier an answer begins with yes or no where that
// follows from the facts by the calendar: more than any model is sure of the
// other.
const certain = 8

// mostBefore is how many bytes of a conversation, the newest, are looked through for
// what was told in it.
const mostBefore = 1 << 15

// begins is how the answer to a question about facts is made more or less likely
// to begin; nil where there are none.
func (f *facts) begins(c turn.Conversation) map[string]float64 {
	if f == nil || f.measured {
		return nil
	}
	out, yes := map[string]float64{}, -yesDoubt
	ignorant := firstWord(f.Unknown)
	leaning := f.leaning(c)
	switch leaning {
	case clerk.Open:
		if f.Spelt && clerk.Wonders(asked(c)) {
			out[ignorant] = -ignoranceDoubt
		}
	case clerk.Refused:
		yes, out["No"] = -yesDoubt-refusal, refusal
	case clerk.Yes:
		yes, out["No"] = -certain, -certain
	case clerk.No:
		yes, out["No"] = -certain, certain
	case clerk.Granted:
		yes, out["No"], out[ignorant] = 0, -granted, -refusal
	case clerk.Errand:
		yes, out[ignorant] = -certain, certain
	case clerk.Untold:
		yes, out["No"], out[ignorant] = -certain, -certain, certain
	}
	for _, word := range f.Yes {
		out[word] = yes
	}
	if leaning == clerk.Yes {
		out["Yes"] = certain
	}
	return out
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// leaning is which way the answer goes, as far as that is sure. What a tool has
// answered may say otherwise, and what is not told a tool may find out.
func (f *facts) leaning(c turn.Conversation) clerk.Leaning {
	if n := len(c.History); n > 0 && c.History[n-1].Role == turn.ToolResult {
		return clerk.Open
	}
	leaning := f.desk.Answers(asked(c), toldIn(c))
	if (leaning == clerk.Untold || leaning == clerk.Errand) && len(c.Tools) > 0 {
		return clerk.Open
	}
	return leaning
}

// toldIn is what was said and told in a conversation before the user's last words.
func toldIn(c turn.Conversation) string {
	var all strings.Builder
	for i := len(c.History) - 1; i >= 0 && all.Len() < mostBefore; i-- {
		if e := c.History[i]; e.Role != turn.User {
			all.WriteString(e.Text + " ")
		}
	}
	return all.String()
}

// sum is what a question asks to be added up; nil: nothing, or the model cannot be
// held to a grammar.
func (f *facts) sum(c turn.Conversation) *clerk.Sum {
	if f == nil || !f.Reckon || len(c.Tools) > 0 {
		return nil
	}
	return f.desk.Sum(asked(c))
}

// opening is the grammar of an answer that is a rule, or begins with whom it is for; empty:
// it may begin in any way.
func (f *facts) opening(c turn.Conversation) string {
	if f == nil || !f.Reckon || len(c.Tools) > 0 {
		return ""
	}
	whom := f.desk.Opening(asked(c))
	if whom == "" {
		return ""
	}
	if strings.HasSuffix(whom, ".") {
		return "root ::= " + strconv.Quote(whom) // it is all there is to say
	}
	return "root ::= " + strconv.Quote(whom) + ` [^\n]+`
}

// total is how the answer goes on that names what a sum is made of.
func (f *facts) total(sum *clerk.Sum, begun string) string {
	if sum == nil {
		return ""
	}
	rest, value, ok := sum.Total(begun)
	if !ok {
		return ""
	}
	for _, n := range text.Numbers(rest) { // "18 dollars and 50 cents"
		f.numbers[n.Value] = true
	}
	f.numbers[value] = true
	return rest
}
