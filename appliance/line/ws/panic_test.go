package ws

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

func TestAPanicWhileAMessageIsReadEndsThatChatOnly(t *testing.T) {
	var log bytes.Buffer
	b := startLogged(t, Timing{}, slog.New(slog.NewTextHandler(&log, nil)))
	other, s := b.dial("", nil)
	broken, _ := b.dial("", nil)
	send(t, broken, websocket.MessageText, `{"type":"user_input","text":"panic"}`)
	if e, ok := read(t, broken).(contract.WebSocketError); !ok || e.Code != contract.Internal ||
		strings.Contains(e.Message, "breaks") {
		t.Errorf("got %+v", e)
	}
	if ce := closed(t, broken); ce.Code != contract.CloseInternal || ce.Reason != "internal_error" {
		t.Errorf("closed with %d %q", ce.Code, ce.Reason)
	}
	send(t, other, websocket.MessageText, `{"type":"user_input","text":"still here"}`)
	if m := got(t, s.got); m != (contract.UserInput{Text: "still here"}) {
		t.Errorf("the other chat: %+v", m)
	}
	if text := log.String(); !strings.Contains(text, "a message that breaks us") || !strings.Contains(text, "read.go") {
		t.Errorf("log: %s", text)
	}
}

// breaking is a decoder that panics.
type breaking struct{ audio.Decoder }

func (breaking) Decode([]byte) ([]float32, error) { panic("a decoder that breaks us") }

func (breaking) Close() {}

func TestAPanicOfADecoderEndsThatChatOnly(t *testing.T) {
	var log bytes.Buffer
	b := startLogged(t, Timing{}, slog.New(slog.NewTextHandler(&log, nil)))
	other, well := b.dial(raw, nil)
	broken, hurt := b.dial(raw, nil)
	hurt.Line.(*Line).audio.New = func(*contract.AudioConfiguration) (audio.Decoder, error) { return breaking{}, nil }
	send(t, broken, websocket.MessageBinary, "\x00\x40")
	if e, ok := read(t, broken).(contract.WebSocketError); !ok || e.Code != contract.Internal ||
		strings.Contains(e.Message, "breaks") {
		t.Errorf("got %+v", e)
	}
	if ce := closed(t, broken); ce.Code != contract.CloseInternal || ce.Reason != "internal_error" {
		t.Errorf("closed with %d %q", ce.Code, ce.Reason)
	}
	send(t, other, websocket.MessageBinary, "\x00\x40")
	if a := got(t, well.got).(heard); !slices.Equal(a, heard{0.5}) {
		t.Errorf("the other chat heard %v", a)
	}
	if text := log.String(); !strings.Contains(text, "a decoder that breaks us") {
		t.Errorf("log: %s", text)
	}
}

func TestAPanicOutsideTheReaderEndsThatChatOnly(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	s.breaks.Store(true)
	b.lose()
	if ce := closed(t, c); ce.Code != contract.CloseInternal {
		t.Errorf("closed with %v", ce)
	}
	got(t, s.done)
	b = start(t, Timing{})
	c, s = b.dial("", nil)
	s.Line.(*Line).lifecycle.Go("a test", func() { panic("a writer that breaks us") })
	got(t, s.hungUp)
	c.CloseNow()
}

func TestAPanicWhileAChatOpensReleasesItsSlot(t *testing.T) {
	b := start(t, Timing{})
	b.panics = "an opening that breaks us"
	if ce := closed(t, b.connect("", nil)); ce.Code != contract.CloseInternal {
		t.Errorf("closed with %v", ce)
	}
	b.seats.Wait() // a second Release would panic, and a missing one would hang
}
