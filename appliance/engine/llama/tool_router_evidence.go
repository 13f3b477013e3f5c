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

// The required arguments of a tool also show whether words request it. "Has 55310 been shipped?"
// and "What is your return policy?" look much alike to the router of an order-status tool, but only
// the first has an order number.

// evidence is by how much the router margin may be lower if the words hold a number, a day or a
// choice that the tool requires, in natural logarithms. nameEvidence is the same for a name; many
// names have nothing to do with a tool: "I went to Rome last summer."
const (
	evidence     = 1.2
	nameEvidence = 0.8
)

// lookupTool matches names and descriptions of tools that only look something up.
var lookupTool = regexp.MustCompile(
	`(?i)^(?:this tool is for )?(?:get|find|look|search|check|list|read|query|fetch|show|tell)`)

// evidenceFor returns the evidence in the user's last words for a call of tool at. Only tools that
// look something up get evidence: an unwanted lookup costs a moment, an unwanted booking or
// cancellation costs more.
func (s *toolset) evidenceFor(at int, messages []engine.Message) float64 {
	if t := s.tools[at]; !lookupTool.MatchString(t.Name) && !lookupTool.MatchString(t.Description) {
		return 0
	}
	return evidenceFor(s.parameters[at], messages)
}

// evidenceFor returns the evidence in the user's last words for a call with these parameters: all
// required arguments occur, judged by their kind; 0: none.
func evidenceFor(p *schema.Parameters, messages []engine.Message) float64 {
	_, user, _, _ := lastRequest(messages)
	src := newSource([]engine.Message{{Role: engine.User, Content: user}}) // without the notes
	most := 0.0
	for _, a := range p.Arguments {
		switch {
		case !a.Required:
		case a.Chosen():
			supported := func(v json.RawMessage) bool { return src.hasText(a, strings.Trim(string(v), `"`)) }
			if slices.ContainsFunc(a.Enum, supported) {
				most = evidence
			}
		case a.Default != nil:
		case src.hasKind(a, user):
			most = evidence
		case hasName(user) && a.Type != "integer" && a.Type != "number":
			most = max(most, nameEvidence)
		default:
			return 0
		}
	}
	return most
}

// hasKind reports whether the words hold a number or a day that may be a value of a.
func (s source) hasKind(a schema.Argument, user string) bool {
	if a.Type == "integer" || a.Type == "number" {
		return len(s.numbers) > 1 || len(s.numbers) == 1 && !s.numbers["0"] // "oh" counts as zero
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

// hasName reports whether the words hold a name: a capitalised word that does not begin a sentence.
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
