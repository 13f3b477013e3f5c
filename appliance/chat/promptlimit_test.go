package chat

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// short is a model that reads a limited number of bytes, each of which counts as a token.
type short struct {
	*fakes
	room int
}

func (s short) CheckPrompt(_ context.Context, p engine.Prompt) error {
	n := 0
	for _, m := range p.Messages {
		n += len(m.Content)
	}
	if n > s.room {
		return engine.ErrTooLong{Tokens: n, Limit: s.room}
	}
	return nil
}

// shortLimit suffices for the box's own prompt and a user's words, and little more.
const shortLimit = 4000

// refusedAsUnreadable checks that err is the fault for a prompt that no model can read.
func refusedAsUnreadable(t *testing.T, doing string, err error) {
	t.Helper()
	wrong, ok := errors.AsType[contract.Fault](err)
	if !ok || wrong.Code != contract.InvalidSettings ||
		!strings.Contains(wrong.Detail, "tokens for the language model; at most 4000 are allowed") {
		t.Errorf("%s: %v", doing, err)
	}
}

// A prompt that no model of the chat can read is refused when it comes, not at every answer. The settings in
// force stay.
func TestAPromptThatNoModelCanReadIsRefused(t *testing.T) {
	f := newFakes()
	h := hostOf(f, func(p *Parts) { p.Model = short{f, shortLimit} })
	long := strings.Repeat("x", shortLimit)
	_, err := enter(t, h, connection.Opening{Line: f,
		Settings: contract.ConnectSettings{SessionSettings: contract.SessionSettings{SystemPrompt: &long}}})
	refusedAsUnreadable(t, "at connect", err)

	c := begin(t, h, connection.Opening{Line: f})
	brief := "Say {{what}}."
	for _, m := range []contract.SessionSettings{
		{SystemPrompt: &brief},
		{Variables: map[string]contract.VariableValue{"what": contract.TextVariable("hello")}},
	} {
		if err := c.Steer(m); err != nil {
			t.Fatal(err)
		}
	}
	refusedAsUnreadable(t, "a prompt", c.Steer(contract.SessionSettings{SystemPrompt: &long}))
	refusedAsUnreadable(t, "a context", c.Steer(contract.SessionSettings{Context: &contract.Context{Text: long}}))
	refusedAsUnreadable(t, "a variable of the prompt",
		c.Steer(contract.SessionSettings{
			Variables: map[string]contract.VariableValue{"what": contract.TextVariable(long)}}))
	if err := c.Steer(contract.SessionSettings{
		Variables: map[string]contract.VariableValue{"other": contract.TextVariable(long)}}); err != nil {
		t.Errorf("a variable that no text has: %v", err)
	}
	typed(t, c, "Go on.")
	f.answers(t, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked := f.asked[len(f.asked)-1][0].Content; !strings.HasSuffix(asked, "Say hello.") {
		t.Errorf("the refused prompt is in force: %.200q", asked)
	}
}

// A config may name a model, or a fallback, that reads more than the box's own.
func TestAPromptThatAnotherModelCanReadIsAccepted(t *testing.T) {
	f := newFakes()
	made := config(t, `{"name":"n","evi_version":"4-mini","prompt":{"text":"`+strings.Repeat("x", shortLimit)+`"}}`)
	withLimit := func(p *Parts) { p.Configs, p.Model = oneConfig{made}, short{f, shortLimit} }
	open := connection.Opening{Line: f, Settings: contract.ConnectSettings{ConfigID: "c"}}
	_, err := enter(t, hostOf(f, withLimit), open)
	refusedAsUnreadable(t, "a config", err)

	begin(t, hostOf(f, withLimit, func(p *Parts) { p.Models = withFallback{oneModel{fallback: f}} }), open)
}
