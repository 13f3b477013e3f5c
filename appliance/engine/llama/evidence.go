package llama

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

// Whether words ask for a tool shows in what it needs, too. "Has 55310 been shipped?"
// and "What is your return policy?" are much alike to the router of a tool that tells
// where an order is, but only the first has an order's number.

// evidence is by how much less likely a tool may be that is called where a number, a day
// or a choice that it needs was said, in natural logarithms, and nameEvidence the same of
// a name, of which many are said that no tool is meant by: "I went to Rome last summer."
const (
	evidence     = 1.2
	nameEvidence = 0.8
)

// lookupTool is how the names and descriptions of tools begin that only tell something.
var lookupTool = regexp.MustCompile(
	`(?i)^(?:this tool is for )?(?:get|find|look|search|check|list|read|query|fetch|show|tell)`)

// evidenced is how much evidence what the user said last is for a call of one of the
// tools. It counts for those that look something up: one that was not wanted costs a
// moment, and a wrong booking or cancellation costs more.
func (s *toolset) evidenced(at int, messages []engine.Message) float64 {
	if t := s.tools[at]; !lookupTool.MatchString(t.Name) && !lookupTool.MatchString(t.Description) {
		return 0
	}
	return evidenceFor(s.parameters[at], messages)
}

// evidenceFor is how much evidence what the user said last is for a call: it has all that
// has to be said for it, as far as its kind shows. 0: there is none.
func evidenceFor(p *schema.Parameters, messages []engine.Message) float64 {
	_, user, _, _ := lastRequest(messages)
	heard := newSource([]engine.Message{{Role: engine.User, Content: user}}) // without what was noted
	most := 0.0
	for _, a := range p.Arguments {
		switch {
		case !a.Required:
		case a.Chosen():
			said := func(v json.RawMessage) bool { return heard.hasText(a, strings.Trim(string(v), `"`)) }
			if slices.ContainsFunc(a.Enum, said) {
				most = evidence
			}
		case a.Default != nil:
		case heard.hasKind(a, user):
			most = evidence
		case hasName(user) && a.Type != "integer" && a.Type != "number":
			most = max(most, nameEvidence)
		default:
			return 0
		}
	}
	return most
}

// hasKind tells whether words have a number or a day that a value of an argument may be.
func (s source) hasKind(a schema.Argument, user string) bool {
	if a.Type == "integer" || a.Type == "number" {
		return len(s.numbers) > 1 || len(s.numbers) == 1 && !s.numbers["0"] // "oh" is one
	}
	dated := strings.HasPrefix(a.Format, "date") || strings.Contains(strings.ToLower(a.Name+a.Description), "date")
	if len(s.days) > 0 && dated {
		return true
	}
	for n := range s.numbers {
		if len(n) > 1 {
			return true
		}
	}
	return strings.ContainsFunc(user, unicode.IsDigit)
}

// hasName tells whether words have a name: one with a capital that does not begin a
// sentence.
func hasName(user string) bool {
	begins := true
	for _, w := range strings.Fields(user) {
		bare := strings.TrimFunc(w, func(r rune) bool { return !isWordRune(r) })
		if !begins && wordKind([]string{bare}) == "name" && !strings.HasPrefix(bare, "I'") &&
			!strings.HasPrefix(bare, "I’") {
			return true
		}
		begins = strings.ContainsAny(w[len(w)-1:], ".!?:")
	}
	return false
}
