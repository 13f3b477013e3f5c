package ws

import (
	"slices"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// Settings apply to exactly the audio after them, however it is split into frames.
func TestAFormatAppliesToTheAudioAfterIt(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial(raw, nil)
	second := string(make([]byte, 16000))
	hear := func(want int) {
		t.Helper()
		if a := got(t, s.got).(heard); len(a) < want-300 || len(a) > want {
			t.Errorf("heard %d samples, want %d", len(a), want)
		}
	}
	send(t, c, websocket.MessageBinary, second)
	send(t, c, websocket.MessageText,
		`{"type":"session_settings","audio":{"encoding":"linear16","channels":1,"sample_rate":8000}}`)
	send(t, c, websocket.MessageBinary, second)
	send(t, c, websocket.MessageText,
		`{"type":"session_settings","audio":{"encoding":"linear16","channels":2,"sample_rate":8000}}`)
	send(t, c, websocket.MessageBinary, second)
	hear(8000)
	got(t, s.got)
	hear(16000)
	got(t, s.got)
	hear(8000)
}

// Sound that cannot be decoded is an error, the sound before it is heard, and the socket
// stays open.
func TestBrokenAudioIsAnErrorAndTheSocketStays(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	wants := func(code contract.Code) {
		t.Helper()
		if e, ok := read(t, c).(contract.WebSocketError); !ok || e.Code != code {
			t.Errorf("got %+v, want %s", e, code)
		}
	}
	send(t, c, websocket.MessageBinary, "no audio at all, just words without end")
	wants(contract.BrokenAudio)
	wav := audio.EncodeWAV(beep(16000, 200*ms), 16000)
	send(t, c, websocket.MessageBinary, string(wav))
	wants(contract.WholeRecording)
	stream := slices.Clone(wav) // without a length in the header, as recorders write while they record
	copy(stream[4:], "\xff\xff\xff\xff")
	copy(stream[40:], "\xff\xff\xff\xff")
	for n := range slices.Chunk(stream, 1000) { // in pieces of the network, also of odd lengths
		send(t, c, websocket.MessageBinary, string(n[:333]))
		if len(n) > 333 {
			send(t, c, websocket.MessageBinary, string(n[333:]))
		}
	}
	var pcm heard
	for len(pcm) < 3200 {
		pcm = append(pcm, got(t, s.got).(heard)...)
	}
	if want := audio.Linear16(wav[44:]); !slices.Equal(pcm, want) {
		t.Errorf("%d samples were heard of %d, or others", len(pcm), len(want))
	}
}

// Messages are recognised in frames of either type, also between pieces of sound.
func TestAMessageMayComeInABinaryFrame(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial(raw, nil)
	send(t, c, websocket.MessageBinary, string(make([]byte, 16000)))
	got(t, s.got)
	send(t, c, websocket.MessageBinary, `{"type":"user_input","text":"Hello."}`)
	if m, ok := got(t, s.got).(contract.UserInput); !ok || m.Text != "Hello." {
		t.Errorf("parsed as %+v", m)
	}
	send(t, c, websocket.MessageBinary, "{\"type\":")
	if a, ok := got(t, s.got).(heard); !ok || len(a) == 0 {
		t.Errorf("sound that begins like a message is parsed as %+v", a)
	}
}
