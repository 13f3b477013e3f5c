package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/internal/layout"
	"parley/store"
)

// speakingBox returns a data folder whose box answers requests for speech, and how often
// it was asked.
func speakingBox(t *testing.T, answer func(w http.ResponseWriter, asked contract.PostedTTS)) (data string,
	asked *atomic.Int32) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	records, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	asked = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if keys, err := records.ListKeys(r.Context(), ""); err != nil || len(keys) != 1 ||
			len(r.Header.Get("X-Service-Api-Key")) < 40 {
			t.Errorf("keys %v, %v; want that of the command", keys, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		p, err := contract.ParsePostedTTS(body, true)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != speechPath {
			t.Errorf("%s %s %s: %v", r.Method, r.URL.Path, body, err)
		}
		answer(w, p)
	}))
	t.Cleanup(server.Close)
	where := fmt.Sprintf(`{"pid":%d,"url":%q}`, os.Getpid(), server.URL)
	if err := os.WriteFile(filepath.Join(data, layout.Address), []byte(where), 0o600); err != nil {
		t.Fatal(err)
	}
	return data, asked
}

func sendSpeech(t *testing.T, w io.Writer, messages ...contract.TTSMessage) {
	t.Helper()
	for _, m := range messages {
		line, err := contract.Marshal(m)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, "%s\n", line)
	}
}

// A running box speaks, with the requested voice and options.
func TestTheBoxThatRunsSpeaks(t *testing.T) {
	half := audio.AppendLinear16(nil, make([]float32, contract.OutputRateHz/2))
	data, asked := speakingBox(t, func(w http.ResponseWriter, p contract.PostedTTS) {
		u := p.Utterances[0]
		if u.Text != "Hello you." || u.Voice == nil || u.Voice.Name != "Old sailor" || u.Voice.Provider != "" ||
			u.Description != "slowly" || u.Speed != 1.5 ||
			p.Format.Type != contract.FormatPCM || !p.StripHeaders || !*p.InstantMode ||
			len(p.IncludeTimestampTypes) != 1 {
			t.Errorf("asked for %+v", p)
		}
		sendSpeech(t, w,
			contract.SnippetAudioChunk{Audio: half, AudioFormat: contract.FormatPCM},
			contract.SnippetAudioChunk{Audio: half, ChunkIndex: 1, IsLastChunk: true},
			contract.SnippetAudioChunk{Audio: half, IsLastChunk: true},
			contract.TimestampMessage{Timestamp: contract.Timestamp{Text: "you",
				Time: contract.MillisecondInterval{Begin: 1100, End: 1300}}})
	})
	file := filepath.Join(t.TempDir(), "said.wav")
	code, _, errs := parley(t, "", "say", "Hello you.", "--voice", "Old sailor", "--describe", "slowly", "--speed",
		"1.5", "--timestamps", "table", "--out", file, "--data", data)
	if code != exitDone || asked.Load() != 1 || errs != "  1.10 s    1.30 s  you\n" {
		t.Fatalf("code %d, asked %d times: %s", code, asked.Load(), errs)
	}
	if pcm, err := (&console{}).recording(t.Context(), file, contract.OutputRateHz); err != nil ||
		len(pcm) != 3*contract.OutputRateHz/2 {
		t.Errorf("%d samples, %v; want a second and a half", len(pcm), err)
	}
	if _, out, _ := parley(t, "", "keys", "list", "--data", data); strings.Contains(out, "parley say") {
		t.Errorf("the key of one text is listed for ever:\n%s", out)
	}
}

// What a box does not accept is spoken without it, as is everything with --alone. There
// are no voices here, so that fails.
func TestWhatTheBoxDoesNotSpeakIsSpokenWithoutIt(t *testing.T) {
	for _, c := range []struct {
		what  string
		args  []string
		asked int32
	}{
		{"it refuses", []string{"Hello."}, 1},
		{"it is not to be asked", []string{"Hello.", "--alone"}, 0},
		{"the voice has to be made", []string{"Hello.", "--describe", "an old man"}, 0},
		{"the text is too long for it", []string{strings.Repeat("Hello. ", 800)}, 0},
		{"it does not speak so fast", []string{"Hello.", "--speed", "2.5"}, 0},
	} {
		data, asked := speakingBox(t, func(w http.ResponseWriter, _ contract.PostedTTS) {
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		file := filepath.Join(t.TempDir(), "said.wav")
		code, _, errs := parley(t, "",
			append([]string{"say", "--out", file, "--data", data, "--packs", t.TempDir()}, c.args...)...)
		if code != exitFailed || asked.Load() != c.asked || !strings.Contains(errs, "parley packs pull") {
			t.Errorf("%s: code %d, asked %d times, %s", c.what, code, asked.Load(), errs)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: the file was begun, and nothing said", c.what)
		}
	}
}

// If a box crashes in the middle of a text, the command fails, and speaks nothing twice.
func TestABoxThatBreaksOffIsAFailure(t *testing.T) {
	for what, breaks := range map[string]func(w http.ResponseWriter){
		"ended early":        func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"an invalid message": func(w http.ResponseWriter) { fmt.Fprintln(w, `{"type":"surprise"}`) },
	} {
		data, asked := speakingBox(t, func(w http.ResponseWriter, _ contract.PostedTTS) {
			sendSpeech(t, w, contract.SnippetAudioChunk{Audio: make([]byte, 9600)})
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			breaks(w)
		})
		code, out, errs := parley(t, "", "say", "Hello.", "--out", "-", "--format", "pcm", "--data", data)
		if code != exitFailed || asked.Load() != 1 || len(out) != 9600 || !strings.Contains(errs, what) {
			t.Errorf("code %d, asked %d times, %d bytes, %s; want that it %s", code, asked.Load(), len(out), errs, what)
		}
	}
}
