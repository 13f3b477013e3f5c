package ws

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// decoders returns the decoder processes of this process, including those that ended and
// were not waited for.
func decoders(t *testing.T) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		stat, _ := os.ReadFile(name) // the process may have ended
		_, behind, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(behind)
		cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		ours := len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid())
		if ours && (len(cmdline) == 0 || bytes.HasPrefix(cmdline, []byte("parley-decoder"))) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// tone returns a tone of a length.
func tone(seconds float64) []float32 {
	pcm := make([]float32, int(seconds*16000))
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(float64(i)/4))
	}
	return pcm
}

// Each chat's sound is decoded in its own process. If one dies, that chat gets an error and
// goes on with a new stream, and other chats notice nothing. The process ends when the
// client leaves.
func TestAChatHasADecoderForAsLongAsItSendsMP3(t *testing.T) {
	files, err := audio.NewMP3Files(16000)
	if err != nil {
		t.Fatal(err)
	}
	mp3, err := files.Next(tone(1), true)
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, Timing{})
	one, first := b.dial("", nil)
	send(t, one, websocket.MessageBinary, string(mp3[:len(mp3)/2]))
	if pcm := got(t, first.got).(heard); len(pcm) < 4000 {
		t.Fatalf("%d samples", len(pcm))
	}
	of := decoders(t)
	if len(of) != 1 {
		t.Fatalf("%d decoders for one chat", len(of))
	}
	other, second := b.dial("", nil)
	send(t, other, websocket.MessageBinary, string(mp3[:len(mp3)/2]))
	_ = got(t, second.got)
	if n := len(decoders(t)); n != 2 {
		t.Fatalf("%d decoders for two chats", n)
	}

	p, err := os.FindProcess(of[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	send(t, one, websocket.MessageBinary, string(mp3[len(mp3)/2:]))
	e, ok := read(t, one).(contract.WebSocketError)
	if !ok || e.Code != contract.BrokenAudio || !strings.Contains(e.Message, "could not be decoded") {
		t.Errorf("got %+v", e)
	}
	send(t, other, websocket.MessageBinary, string(mp3[len(mp3)/2:]))
	if pcm := got(t, second.got).(heard); len(pcm) < 4000 {
		t.Errorf("the other chat: %d samples", len(pcm))
	}
	send(t, one, websocket.MessageBinary, string(mp3))
	if pcm := got(t, first.got).(heard); len(pcm) < 12000 {
		t.Errorf("a new stream: %d samples", len(pcm))
	}

	const settings = `{"type":"session_settings","audio":{"encoding":"linear16","sample_rate":16000,"channels":1}}`
	send(t, one, websocket.MessageText, settings)
	_ = got(t, first.got)
	send(t, one, websocket.MessageBinary, "\x00\x40")
	_ = got(t, first.got)
	if n := len(decoders(t)); n != 1 {
		t.Errorf("%d decoders, of which one chat needs one no more", n)
	}
	_ = other.CloseNow()
	for begun := time.Now(); len(decoders(t)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatal("a decoder outlives its chat")
		}
	}
}
