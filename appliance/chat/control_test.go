package chat

import (
	"errors"
	"strings"
	"testing"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// A message from someone other than the client has the same effect as the client's.
func TestAChatIsSteered(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	prompt := "Be brief."
	for _, m := range []contract.ClientMessage{
		contract.SessionSettings{SystemPrompt: &prompt, CustomSessionID: "mine"}, contract.PauseAssistantMessage{},
		contract.UserInput{Text: "Hello"}, contract.AssistantInput{Text: "One moment."},
		contract.ResumeAssistantMessage{},
	} {
		if m == (contract.ResumeAssistantMessage{}) {
			f.until(t, "assistant_end") // of the text dictated meanwhile
		}
		if err := c.Steer(m); err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
	}
	f.until(t, "user_message assistant_message audio_output assistant_end assistant_message audio_output "+
		"assistant_message audio_output assistant_end")
	f.mu.Lock()
	defer f.mu.Unlock()
	if said := f.asked[len(f.asked)-1][0].Content; !strings.Contains(said, prompt) {
		t.Errorf("the model's prompt is %q", said)
	}
	for _, m := range f.sent[1:] {
		if data, _ := contract.Marshal(m); !strings.Contains(string(data), `"custom_session_id":"mine"`) {
			t.Errorf("the message does not carry the id: %s", data)
		}
	}
}

// Faults of such a message go to its sender, not to the client of the chat.
func TestSteeringFaultsGoToTheCaller(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	name, long := "a", contract.TextVariable(strings.Repeat("x", contract.MaxVariableChars))
	many := map[string]contract.VariableValue{}
	for range 41 {
		many[name] = long
		name += "a"
	}
	for _, x := range []struct {
		sent contract.ClientMessage
		code contract.Code
		says string
	}{
		{contract.UserInput{Text: "  "}, contract.WrongShape, "user_input.text"},
		{contract.UserInput{Text: "\u200b\x00\u00a0"}, contract.WrongShape, "user_input.text"},
		{contract.AssistantInput{Text: "  "}, contract.WrongShape, "assistant_input.text"},
		{contract.AudioInput{}, contract.WrongShape, "audio_input"},
		{contract.SessionSettings{Variables: many}, contract.InvalidSettings, "variables"},
		{contract.SessionSettings{VoiceID: "nobody"}, contract.InvalidSettings, "voice_id"},
		{contract.ToolResponseMessage{ToolCallID: "7", Content: "x"}, contract.UnexpectedTool, `"7"`},
		{contract.ToolErrorMessage{ToolCallID: "7", Error: "x"}, contract.UnexpectedTool, `"7"`},
	} {
		err := c.Steer(x.sent)
		if wrong, ok := errors.AsType[contract.Fault](err); !ok || wrong.Code != x.code ||
			!strings.Contains(wrong.Detail, x.says) {
			t.Errorf("%.80v: %v", x.sent, err)
		}
	}
	if err := c.Steer(contract.UserInput{Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	f.until(t, "assistant_end")
	if got := f.messages(); strings.Contains(got, "error") {
		t.Errorf("the client received %s", got)
	}
	c.HangUp()
	<-c.Done()
	for _, m := range []contract.ClientMessage{contract.UserInput{Text: "Hello"},
		contract.SessionSettings{CustomSessionID: "x"}} {
		if err := c.Steer(m); !errors.Is(err, ErrOver) {
			t.Errorf("%+v into what is over: %v", m, err)
		}
	}
}

// picky is a model that cannot call tools with parameters.
type picky struct{ *fakes }

func (picky) CheckTool(name string, parameters []byte) error {
	if string(parameters) == `{}` {
		return nil
	}
	return errors.New("the tool " + name + " cannot be called: it has parameters")
}

// A tool that the model could not call is refused at once, with the reason.
func TestAnUncallableToolIsRefused(t *testing.T) {
	f := newFakes()
	h := hostOf(f, func(p *Parts) { p.Model = picky{f} })
	c := begin(t, h, connection.Opening{Account: "a", Line: f})
	tool := contract.Tool{Type: contract.ToolFunction, Name: "weather", Parameters: `{"type":"string"}`}
	err := c.Steer(contract.SessionSettings{Tools: []contract.Tool{tool}})
	if wrong, ok := errors.AsType[contract.Fault](err); !ok || wrong.Code != contract.InvalidSettings ||
		!strings.Contains(wrong.Detail, "weather cannot be called") {
		t.Errorf("from the client: %v", err)
	}
	tool.Parameters = `{}`
	if err := c.Steer(contract.SessionSettings{Tools: []contract.Tool{tool}}); err != nil {
		t.Error(err)
	}
}
