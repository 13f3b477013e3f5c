package chat

import (
	"context"
	"testing"
	"testing/synctest"

	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// telephone is a line with tools; it connects every caller.
type telephone struct {
	*caller
	ran connection.ToolRun
}

func (l *telephone) RunTool(_ context.Context, r connection.ToolRun) (connection.ToolResult, error) {
	l.ran = r
	return connection.ToolResult{Content: "Connected.", Over: true}, nil
}

func TestTheLineRunsItsToolsAndMayEndTheChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := []contract.TransferDestination{{Name: "desk", To: "100", RingSecs: 30}}
		says := []engine.Part{call("transfer", `{"destination":"desk"}`)}
		l := &telephone{caller: &caller{fakes: newFakes(), says: says}}
		host := hostOf(l.caller, func(p *Parts) {
			p.Defaults.Tools = []turn.Tool{turn.Builtin(contract.BuiltinToolConfig{
				Name:         contract.Transfer,
				Destinations: desk,
			})}
		})
		s := begin(t, host, connection.Opening{Line: l.caller, Tools: l})
		_ = s.Receive(contract.UserInput{Text: "A person, please."}) // the chat may be over when it returns
		<-s.Done()
		if l.ran.Name != contract.Transfer || l.ran.Arguments != `{"destination":"desk"}` ||
			len(l.ran.Destinations) != 1 || l.ran.Destinations[0] != desk[0] {
			t.Errorf("the line ran %+v", l.ran)
		}
		if m := newestOf[contract.ToolResponseMessage](t, l.fakes); m.Content != "Connected." {
			t.Errorf("%+v", m)
		}
	})
}

func TestOtherLinesDoNotOfferTheToolsOfATelephone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &caller{fakes: newFakes(), says: []engine.Part{{Text: "No."}}}
		host := hostOf(c, func(p *Parts) {
			p.Defaults.Tools = []turn.Tool{
				turn.Builtin(contract.BuiltinToolConfig{Name: contract.SendDigits}),
				weatherTool,
			}
		})
		s := begin(t, host, connection.Opening{Line: c})
		tells(t, s, contract.UserInput{Text: "Press 1."})
		if tools := c.last().Tools; len(tools) != 1 || tools[0].Name != "weather" {
			t.Errorf("the model knows %+v", tools)
		}
	})
}
