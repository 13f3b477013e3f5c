package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/store"
)

// An engine's error may name servers and files.
func TestFaultsSayWhatFailedAndNotWhere(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want contract.Fault
	}{
		"a server that is away": {fmt.Errorf("POST http://10.0.0.5:8000/v1: %w", engine.ErrUnreachable),
			contract.Fault{Code: contract.ModelUnreachable}},
		"a server in trouble": {fmt.Errorf("10.0.0.5: %w", engine.ErrBroken),
			contract.Fault{Code: contract.ProviderFailed}},
		"a box under load": {fmt.Errorf("encoder: %w", context.DeadlineExceeded),
			contract.Fault{Code: contract.NotTranscribed, Detail: timedOutDetail}},
		"too much to read": {fmt.Errorf("llama: %w", engine.ErrTooLong{Tokens: 9130, Limit: 8072}),
			contract.Fault{Code: contract.NotTranscribed,
				Detail: "The system prompt and the newest message, with its context, are 9130 tokens for it; at most " +
					"8072 are allowed. Make one of them shorter."}},
		"anything else": {errors.New("/var/lib/parley/model: broken"), contract.Fault{Code: contract.NotTranscribed}},
	} {
		got, ok := clientFault(contract.Fault{Code: contract.NotTranscribed, Cause: c.err})
		if !ok || got.Code != c.want.Code || got.Detail != c.want.Detail {
			t.Errorf("%s: %+v", name, got)
		}
		if !errors.Is(got.Cause, c.err) {
			t.Errorf("%s: the log would not say %v", name, c.err)
		}
	}
	cut := contract.Fault{Code: contract.NotTranscribed, Cause: fmt.Errorf("cut: %w", context.Canceled)}
	for _, e := range []turn.Event{turn.FaultReported{Fault: cut}, turn.TurnFailed{Fault: cut}} {
		if got := withClientDetail(e); got != nil {
			t.Errorf("the end of a context is the fault %+v", got)
		}
	}
}

// secret is what a client must never read.
const secret = "/var/lib/parley/x.onnx 10.9.8.7:8000 SELECT secret FROM api_key"

// failing wraps fakes, one of which fails with an error that holds secret.
type failing struct {
	*fakes
	where string
	kind  error // wrapped in the error; may be nil
}

func (f *failing) fail(where string) error {
	switch {
	case f.where != where:
		return nil
	case f.kind != nil:
		return fmt.Errorf("%s: %w", secret, f.kind)
	}
	return errors.New(secret)
}

func (f *failing) NewStream() engine.VoiceStream {
	return enginetest.Detector(func(frame []float32) (float32, error) {
		p, _ := enginetest.LevelDetector(0)(frame)
		return p, f.fail("detector")
	})
}

func (f *failing) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript,
	error) {
	if err := f.fail("transcriber"); err != nil {
		return engine.Transcript{}, err
	}
	return f.fakes.Transcribe(ctx, pcm, o)
}

func (f *failing) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	if err := f.fail("model"); err != nil {
		return engine.Usage{}, err
	}
	return f.fakes.Generate(ctx, p, emit)
}

func (f *failing) Voice(_ context.Context, account, name string) (engine.Synthesizer, error) {
	if name == "joe" {
		if err := f.fail("opening a voice"); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *failing) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if err := f.fail("voice"); err != nil {
		return err
	}
	return f.fakes.Speak(ctx, text, o, emit)
}

func (f *failing) StartChat(context.Context, store.NewChat, ...store.Event) error {
	return f.fail("beginning")
}

func (f *failing) GroupHistory(context.Context, string, int) ([]store.Event, error) {
	return nil, f.fail("resuming")
}

func (f *failing) WriteChat(ctx context.Context, id string, w store.ChatWrite) error {
	if err := f.fail("history"); err != nil {
		return err
	}
	return f.fakes.WriteChat(ctx, id, w)
}

// Whatever fails, the client reads what failed, and nothing of files, servers and SQL.
func TestInternalErrorsDoNotReachTheClient(t *testing.T) {
	kinds := map[string][]error{
		"detector": {nil}, "transcriber": {nil, context.DeadlineExceeded}, "voice": {nil, context.DeadlineExceeded},
		"opening a voice": {nil},
		"model": {nil, engine.ErrUnreachable, engine.ErrTimedOut, engine.ErrOverloaded, engine.ErrBroken,
			context.DeadlineExceeded},
		"beginning": {nil, store.ErrNotFound, store.ErrActive, store.ErrFull}, "resuming": {nil, store.ErrDamaged},
		"history": {nil, store.ErrFull, store.ErrBusy, store.ErrConflict},
	}
	for where, of := range kinds {
		for _, kind := range of {
			name := fmt.Sprint(where, ": ", kind)
			synctest.Test(t, func(t *testing.T) {
				f := &failing{fakes: newFakes(), where: where, kind: kind}
				h := hostOf(f)
				var connect contract.ConnectSettings
				if where == "beginning" || where == "resuming" {
					connect.ResumedChatGroupID = "g"
				}
				c, err := enter(t, h, connection.Opening{Line: f, Settings: connect})
				if fault, ok := errors.AsType[contract.Fault](err); ok && strings.Contains(fault.Error(), secret) {
					t.Errorf("%s: refused with %v", name, fault)
				}
				if err == nil {
					_ = c.Receive(contract.SessionSettings{VoiceID: "joe"})
					say(t, c, 0.1)
					f.until(t, "error")
					c.HangUp()
					<-c.Done()
				}
				f.fakes.mu.Lock()
				for _, m := range f.sent {
					if text, err := contract.Marshal(m); err != nil || strings.Contains(string(text), "parley") ||
						strings.Contains(string(text), "10.9.8.7") || strings.Contains(string(text), "SELECT") {
						t.Errorf("%s: the client received %s", name, text)
					}
				}
				f.fakes.mu.Unlock()
				if strings.Contains(f.reason, "SELECT") {
					t.Errorf("%s: closed with %q", name, f.reason)
				}
				if err := h.Stop(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// If the model gives no answer that can be said, the assistant asks the user to say it again: no turn ends in
// silence, and no message comes without sound.
func TestASilentModelMakesTheAssistantAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		f.replies = []string{"#"}
		_, c := open(t, f)
		if err := c.Receive(contract.UserInput{Text: "qwx zzz ##"}); err != nil {
			t.Fatal(err)
		}
		f.until(t, "assistant_end")
		if got, want := f.messages(),
			"chat_metadata user_message assistant_message audio_output assistant_end"; got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, m := range f.sent {
			text, err := contract.Marshal(m)
			if m.MessageType() == "assistant_message" &&
				(err != nil || !strings.Contains(string(text), "could you say that again?")) {
				t.Errorf("the client received %s, %v", text, err)
			}
		}
	})
}
