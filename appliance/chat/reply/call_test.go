package reply

import (
	"strings"
	"testing"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

func TestACallMustFitItsTool(t *testing.T) {
	tools := []turn.Tool{
		{Name: "book", Parameters: `{"type":"object","properties":{"day":{"type":"string","format":"date"},` +
			`"people":{"type":"integer","minimum":1}},"required":["day"]}`},
		{Name: "tree", Parameters: `{"type":"object","$defs":{"n":{"type":"object","properties":{"in":{"$ref":"#/` +
			`$defs/n"},"name":{"type":"string"}}}},"$ref":"#/$defs/n"}`},
		{Name: "broken", Parameters: `{`},
	}
	f := &toolChecks{}
	for range 2 { // compiled, and then cached
		for _, x := range []struct{ name, arguments, why string }{
			{"book", `{"day":"2026-03-03","people":2}`, ""},
			{"book", `{"people":2}`, "day"},
			{"book", `{"day":"tomorrow"}`, "day"},
			{"book", `{"day":"2026-03-03","people":0}`, "people"},
			{"book", `[]`, "not a JSON object"},
			{"book", `{"day":`, "not JSON"},
			{"tree", `{"in":{"in":{"name":"a"}}}`, ""},
			{"tree", `{"in":{"in":{"name":7}}}`, "name"},
			{"broken", `{"a":1}`, ""},
			{"fly", `{}`, `no tool "fly"; there are: book, tree, broken`},
		} {
			got := f.misfit(tools, engine.ToolCall{Name: x.name, Arguments: x.arguments})
			if (got == "") != (x.why == "") || !strings.Contains(got, x.why) {
				t.Errorf("%s %s: %q, want %q in it", x.name, x.arguments, got, x.why)
			}
		}
	}
	if f.misfit(tools[1:], engine.ToolCall{Name: "tree", Arguments: `{}`}); len(f.validators) != 2 {
		t.Errorf("%d validators are cached, want 2", len(f.validators))
	}
	tools[1].Parameters = `{"type":"object"}`
	if why := f.misfit(tools[1:], engine.ToolCall{Name: "tree", Arguments: `{"name":7}`}); why != "" ||
		len(f.validators) != 1 {
		t.Errorf("after its parameters have changed: %q, %d validators are cached", why, len(f.validators))
	}
}

// A model is told what it can do instead of a call that does not fit.
func TestTheModelReceivesWhyItsCallDoesNotFit(t *testing.T) {
	book := []turn.Tool{{Name: "book", Parameters: `{"type":"object","required":["day"]}`}}
	for _, c := range []struct {
		tools     []turn.Tool
		name, end string
	}{
		{book, "book", "Call it once more, with arguments that fit."},
		{book, "fly", "there are: book. Call one of these, or answer without."},
		{nil, "fly", "and no other one. Answer without."},
	} {
		call := engine.ToolCall{Name: c.name, Arguments: `{}`}
		why := (&toolChecks{}).misfit(c.tools, call)
		if message := retryMessages(call, why, c.tools)[1].Content; !strings.HasSuffix(message, c.end) {
			t.Errorf("the message is %q, want the end %q", message, c.end)
		}
	}
}
