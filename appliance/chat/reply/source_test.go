package reply

import (
	"testing"

	"parley/appliance/chat/turn"
)

// The whole decision between tool, approved answer and model, as a table.
func TestWhoReplies(t *testing.T) {
	likely, weak := 0.8, 0.6 // scores of answers
	for _, row := range []struct {
		name string
		e    evidence
		want source
	}{
		{"an answer fits", evidence{fits: true, score: likely}, fromAnswer},
		{"none fits", evidence{}, fromModel},
		{"none fits, and a tool is asked for", evidence{tools: true, routed: true, tool: "book", margin: 3}, fromModel},
		{"an answer fits, and no tool is asked for", evidence{fits: true, score: weak, tools: true, routed: true},
			fromAnswer},
		{"a tool fits better", evidence{
			fits:   true,
			score:  weak,
			tools:  true,
			routed: true,
			tool:   "book",
			margin: 3,
		}, fromTool},
		{"the answer fits better", evidence{
			fits:   true,
			score:  likely,
			tools:  true,
			routed: true,
			tool:   "book",
			margin: 0.5,
		}, fromAnswer},
		{"a farewell that is approved", evidence{
			fits:   true,
			score:  weak,
			tools:  true,
			routed: true,
			tool:   turn.HangUp,
			margin: 9,
		}, fromFarewell},
		{"a server decides about its tools", evidence{fits: true, score: likely, tools: true}, fromTool},
		{"a server is not asked for a certain answer", evidence{fits: true, score: certain, tools: true}, fromAnswer},
		{"a server without tools", evidence{fits: true, score: weak}, fromAnswer},
		{"the assistant speaks by itself", evidence{unprompted: true}, fromModel},
		{"a tool has answered", evidence{afterTool: true, tools: true}, fromModel},

		{"only: an answer fits", evidence{only: true, fits: true, score: weak}, fromAnswer},
		{"only: none fits", evidence{only: true}, fromUnknown},
		{"only: a tool is asked for", evidence{
			only:   true,
			tools:  true,
			routed: true,
			tool:   "book",
			margin: 0,
		}, fromTool},
		{"only: no tool is asked for", evidence{only: true, tools: true, routed: true}, fromUnknown},
		{"only: a server decides about its tools", evidence{only: true, tools: true}, fromTool},
		{"only: the assistant speaks by itself", evidence{only: true, unprompted: true, tools: true}, fromNothing},
		{"only: a tool has answered", evidence{only: true, afterTool: true}, fromToolResult},
		{"only: another tool is asked for", evidence{
			only:      true,
			afterTool: true,
			tools:     true,
			routed:    true,
			tool:      "book",
			margin:    3,
		}, fromTool},
		{"only: after a tool, a server decides about another", evidence{only: true, afterTool: true, tools: true},
			fromToolResult},
	} {
		if got := row.e.choose(); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}
