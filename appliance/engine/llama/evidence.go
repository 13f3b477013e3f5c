package llama

import (
	"strings"
	"unicode"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

// Whether words ask for a tool shows in what it needs, too. "Has 55310 been shipped?"
// and "What is your return policy?" are much alike to the router of a tool that tells
// where an order is, but only the first has an order's number.

// evidence is by how much less likely a tool may be that is called where what it needs
// was said, in natural logarithms.
const evidence = 2.3

// evidenced tells whether what the user said last has all that has to be said for a
// call, as far as its kind shows: a number, a day, a name or a code, or one of the
// values to choose from.
func evidenced(p *schema.Parameters, messages []engine.Message) bool {
	_, user, _, _ := newest(messages)
	heard := hear([]engine.Message{{Role: engine.User, Content: user}}) // without what was noted
	any := false
	for _, a := range p.Arguments {
		switch {
		case !a.Required:
		case a.Chosen():
			for _, value := range a.Enum {
				any = any || heard.hasText(a, strings.Trim(string(value), `"`))
			}
		case a.Default != nil:
		case heard.hasKind(a, user):
			any = true
		default:
			return false
		}
	}
	return any
}

// hasKind tells whether words have something that a value of an argument may be.
func (s said) hasKind(a schema.Argument, user string) bool {
	if a.Type == "integer" || a.Type == "number" {
		return len(s.numbers) > 0
	}
	if len(s.days) > 0 && (strings.HasPrefix(a.Format, "date") || strings.Contains(strings.ToLower(a.Name+a.Description), "date")) {
		return true
	}
	for n := range s.numbers {
		if len(n) > 1 {
			return true
		}
	}
	begins := true
	for _, w := range strings.Fields(user) {
		bare := strings.TrimFunc(w, func(r rune) bool { return !wordy(r) })
		if strings.ContainsFunc(bare, unicode.IsDigit) || !begins && kindOf([]string{bare}) == "name" && !strings.HasPrefix(bare, "I'") && !strings.HasPrefix(bare, "I’") {
			return true
		}
		begins = strings.ContainsAny(w[len(w)-1:], ".!?:")
	}
	return false
}
