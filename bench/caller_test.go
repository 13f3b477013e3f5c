package bench

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// script is a scripted box: it gets the client's pieces, and answers.
type script struct {
	conn    *websocket.Conn
	heardAt time.Time // the last piece that was not silent
}

func (s *script) send(ctx context.Context, m contract.ServerMessage) error {
	data, err := contract.Marshal(m)
	if err != nil {
		return err
	}
	return s.conn.Write(ctx, websocket.MessageText, data)
}

// hear reads until so many pieces of silence follow a sound.
func (s *script) hear(ctx context.Context, silent int) error {
	loud, quiet := 0, 0
	for loud == 0 || quiet < silent {
		_, data, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		m, err := contract.ParseClientMessage(data)
		if err != nil {
			return err
		}
		in, ok := m.(contract.AudioInput)
		switch {
		case !ok:
		case strings.Trim(string(in.Data), "\x00") == "":
			quiet++
		default:
			loud, quiet, s.heardAt = loud+1, 0, time.Now()
		}
	}
	return nil
}

// answer sends a clip of so much silence and so much sound.
func (s *script) answer(ctx context.Context, lead, sound time.Duration) error {
	clip := audio.Resample(joined(silence(lead), tone(sound, -6)), testRateHz, contract.OutputRateHz)
	for _, m := range []contract.ServerMessage{
		contract.UserMessage{Message: contract.ChatMessage{Role: contract.RoleUser, Content: "Hello box"}},
		contract.AssistantMessage{ID: "a",
			Message: contract.ChatMessage{Role: contract.RoleAssistant, Content: "Hello you."}},
		contract.AudioOutput{ID: "a", Data: audio.EncodeWAV(clip, contract.OutputRateHz)},
		contract.AssistantEnd{},
	} {
		if err := s.send(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// scripted serves chats with play, and returns their address.
func scripted(t *testing.T, play func(context.Context, *script) error) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		if err := play(r.Context(), &script{conn: conn}); err != nil {
			return // the client hung up
		}
		conn.Close(websocket.StatusNormalClosure, "")
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// question returns a recording with a second of sound, silent at both ends.
func question() []float32 {
	return joined(silence(200*time.Millisecond), tone(time.Second, -6), silence(100*time.Millisecond))
}

func TestTheAnswerIsTimedFromTheLastSoundToTheFirst(t *testing.T) {
	const lead = 150 * time.Millisecond
	gaps := make(chan time.Duration, 1)
	url := scripted(t, func(ctx context.Context, s *script) error {
		if err := s.hear(ctx, 15); err != nil {
			return err
		}
		gaps <- time.Since(s.heardAt)
		if err := s.answer(ctx, lead, 400*time.Millisecond); err != nil {
			return err
		}
		return s.hear(ctx, 1)
	})
	c, err := call(t.Context(), endpoint{address: url, key: "key"}, hotel)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	got, err := c.ask(t.Context(), question())
	if err != nil {
		t.Fatal(err)
	}
	c.hangUp()
	if !got.ok() || got.transcript != "Hello box" || !strings.Contains(got.String(), "after") {
		t.Errorf("%+v", got)
	}
	// A busy machine makes everything later, never earlier, and the script
	// measured the same from its own side; the sound before it takes a second.
	gap := <-gaps
	if got.transcriptAt < 280*time.Millisecond || got.transcriptAt > gap+900*time.Millisecond {
		t.Errorf("understood after %v; the box waited %v", got.transcriptAt, gap)
	}
	if got.messageAt < got.transcriptAt || got.clipAt < got.messageAt || got.soundAt-got.clipAt < lead-windowDuration ||
		got.soundAt-got.clipAt > lead+windowDuration {
		t.Errorf("%+v; the clip has %v of silence ahead", got, lead)
	}
	if took := time.Since(begun); took < 1200*time.Millisecond+gap+550*time.Millisecond {
		t.Errorf("the turn was over after %v, before its answer was played", took)
	}
}

func TestTurnsThatGoWrongDoNotCount(t *testing.T) {
	for name, row := range map[string]struct {
		play func(context.Context, *script) error
		says string
	}{
		"answered too early": {func(ctx context.Context, s *script) error {
			if err := s.hear(ctx, 0); err != nil {
				return err
			}
			return s.answer(ctx, 0, 100*time.Millisecond)
		}, "before it was over"},
		"failed": {func(ctx context.Context, s *script) error {
			return s.send(ctx, contract.ModelTimedOut.Error("out of words"))
		}, "out of words"},
		"taken for an interruption": {func(ctx context.Context, s *script) error {
			if err := s.send(ctx, contract.UserInterruption{Time: 1}); err != nil {
				return err
			}
			return s.answer(ctx, 0, 100*time.Millisecond)
		}, "interruption"},
	} {
		url := scripted(t, func(ctx context.Context, s *script) error {
			if name == "answered too early" {
				return row.play(ctx, s)
			}
			if err := s.hear(ctx, 15); err != nil {
				return err
			}
			if err := row.play(ctx, s); err != nil {
				return err
			}
			return s.hear(ctx, 1)
		})
		c, err := call(t.Context(), endpoint{address: url, key: "key"}, hotel)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.ask(t.Context(), question())
		if err == nil && got.ok() || err == nil && !strings.Contains(got.String(), row.says) {
			t.Errorf("%s: %v %+v", name, got, got)
		}
		c.hangUp()
	}
}

func TestABoxThatHangsUpEndsTheTurn(t *testing.T) {
	url := scripted(t, func(ctx context.Context, s *script) error { return s.hear(ctx, 0) })
	c, err := call(t.Context(), endpoint{address: url, key: "key"}, hotel)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ask(t.Context(), question()); err == nil {
		t.Error("a turn went on without a box")
	}
	if _, err := c.ask(t.Context(), question()); err == nil {
		t.Error("one could speak to nobody")
	}
	c.hangUp()
}
