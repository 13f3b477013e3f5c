package chat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// loading are voices, one of which, joe, is being loaded until it is released.
type loading struct {
	*fakes
	loaded chan error
}

func (l loading) Voice(ctx context.Context, account, name string) (engine.Synthesizer, error) {
	if name != "joe" {
		return l.fakes, nil
	}
	select {
	case err := <-l.loaded:
		return l.fakes, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func openLoading(t *testing.T) (loading, *Session) {
	t.Helper()
	v := loading{newFakes(), make(chan error)}
	return v, begin(t, hostOf(v), connection.Opening{Line: v})
}

// What the client sends after it asked for a voice is handled while the voice is loaded; only the answer
// waits.
func TestAVoiceIsLoadedDuringTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, c := openLoading(t)
		taken := make(chan struct{})
		go func() {
			defer close(taken)
			_ = c.Receive(contract.SessionSettings{VoiceID: "joe"})
			hear(t, c, 600, true)
			hear(t, c, 900, false)
		}()
		select {
		case <-taken:
		case <-time.After(time.Minute):
			t.Fatal("nothing is heard while a voice is loaded")
		}
		v.until(t, "user_message")
		if strings.Contains(v.messages(), "audio_output") {
			t.Error("the assistant spoke although its voice is not loaded")
		}
		v.loaded <- nil
		v.until(t, "audio_output")
	})
}

// If a voice cannot be loaded, the turn fails with the reason, and the next one tries again.
func TestAVoiceThatCannotBeLoadedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, c := openLoading(t)
		if err := errors.Join(c.Receive(contract.SessionSettings{VoiceID: "joe"}),
			c.Receive(contract.UserInput{Text: "Hello"})); err != nil {
			t.Fatal(err)
		}
		v.loaded <- errors.New("voice.onnx is damaged")
		v.until(t, "error")
		v.mu.Lock()
		for _, m := range v.sent {
			if e, ok := m.(contract.WebSocketError); ok &&
				(!strings.Contains(e.Message, "voice cannot be opened") || strings.Contains(e.Message, "damaged")) {
				t.Errorf("the client received %q", e.Message)
			}
		}
		v.mu.Unlock()
		if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
			t.Fatal(err)
		}
		v.loaded <- nil
		v.until(t, "audio_output")
	})
}
