package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/internal/layout"
)

// fakeBox answers chats with script, which is given the socket.
func fakeBox(t *testing.T, script func(ctx context.Context, box *fakeLine)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != chatPath || r.Header.Get("X-Service-Api-Key") != "right" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"code":"E0001","error":"unauthorized","message":"no such key"}`)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(1 << 20)
		box := &fakeLine{t: t, conn: conn}
		box.send(r.Context(), contract.ChatMetadata{ChatID: "c", ChatGroupID: "g"})
		script(r.Context(), box)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

type fakeLine struct {
	t    *testing.T
	conn *websocket.Conn
}

func (b *fakeLine) send(ctx context.Context, m contract.ServerMessage) {
	data, err := m.MarshalJSON()
	if err != nil {
		b.t.Error(err)
	}
	b.conn.Write(ctx, websocket.MessageText, data)
}

// next is the next message of the client; nil when it hung up.
func (b *fakeLine) next(ctx context.Context) contract.ClientMessage {
	_, data, err := b.conn.Read(ctx)
	if err != nil {
		return nil
	}
	m, err := contract.ParseClientMessage(data)
	if err != nil {
		b.t.Error(err)
	}
	return m
}

func said(text string) contract.ChatMessage {
	return contract.ChatMessage{Role: contract.RoleAssistant, Content: text}
}

// tone is a clip of so many milliseconds.
func tone(ms int) []byte {
	pcm := make([]float32, 48*ms)
	for i := range pcm {
		pcm[i] = float32(0.5 * math.Sin(2*math.Pi*440*float64(i)/48000))
	}
	return audio.EncodeWAV(pcm, 48000)
}

func talk(t *testing.T, url, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	return parley(t, in, append([]string{"talk", "--url", url, "--key", "right"}, args...)...)
}

func TestTypedLinesAreAnsweredOneByOne(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		if s, ok := box.next(ctx).(contract.SessionSettings); !ok || s.Audio != nil || s.SystemPrompt == nil || *s.SystemPrompt != "Be kind." {
			t.Errorf("the first message is %+v, want settings with the prompt", s)
		}
		for i := 1; ; i++ {
			m, ok := box.next(ctx).(contract.UserInput)
			if !ok {
				return
			}
			box.send(ctx, contract.UserMessage{FromText: true, Message: contract.ChatMessage{Role: contract.RoleUser, Content: m.Text}})
			id := fmt.Sprint(i)
			box.send(ctx, contract.AssistantMessage{ID: id, Message: said("answer " + id)})
			box.send(ctx, contract.AudioOutput{ID: id, Data: tone(50)})
			box.send(ctx, contract.AssistantEnd{})
		}
	})
	code, out, errs := talk(t, url, "one\n\n two \n", "--text", "--json", "--prompt", "Be kind.")
	if code != exitDone {
		t.Fatalf("code %d, %s", code, errs)
	}
	var lines []string
	for line := range strings.Lines(out) {
		var l struct{ Who, Text string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		lines = append(lines, l.Who+": "+l.Text)
	}
	if got := strings.Join(lines, "; "); got != "you: one; assistant: answer 1; you: two; assistant: answer 2" {
		t.Errorf("got %s", got)
	}
}

func TestARecordingIsSentInRealTimeWithSilenceBehind(t *testing.T) {
	question := make([]float32, 16000/2)
	for i := range question {
		question[i] = 0.25
	}
	in, out := filepath.Join(t.TempDir(), "in.wav"), filepath.Join(t.TempDir(), "out.wav")
	if err := os.WriteFile(in, audio.EncodeWAV(question, 16000), 0o644); err != nil {
		t.Fatal(err)
	}
	var loud, quiet atomic.Int32
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		s, ok := box.next(ctx).(contract.SessionSettings)
		if !ok || s.Audio == nil || s.Audio.SampleRate != 16000 || s.Audio.Channels != 1 {
			t.Errorf("settings %+v", s)
		}
		begun := time.Now()
		for {
			m, ok := box.next(ctx).(contract.AudioInput)
			if !ok {
				return
			}
			if len(m.Data) != 640 {
				t.Errorf("%d bytes, want 20 ms", len(m.Data))
			}
			if m.Data[1] != 0 {
				if loud.Add(1) == 25 {
					if d := time.Since(begun); d < 400*time.Millisecond {
						t.Errorf("half a second was sent in %v", d)
					}
				}
				continue
			}
			if quiet.Add(1) != 10 {
				continue
			}
			box.send(ctx, contract.UserMessage{Message: contract.ChatMessage{Role: contract.RoleUser, Content: "Hello?"}, Time: contract.MillisecondInterval{Begin: 120}})
			box.send(ctx, contract.AssistantMessage{ID: "a", Message: said("Yes.")})
			box.send(ctx, contract.AudioOutput{ID: "a", Data: tone(300)})
			box.send(ctx, contract.AssistantMessage{ID: "b", Message: said("And no.")})
			box.send(ctx, contract.AudioOutput{ID: "b", Data: tone(300)})
			box.send(ctx, contract.AssistantEnd{})
		}
	})
	code, text, errs := talk(t, url, "", "--wav", in, "--out", out, "--both")
	if code != exitDone || loud.Load() != 25 {
		t.Fatalf("code %d, %d loud pieces, want 25: %s", code, loud.Load(), errs)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 3 || strings.Join(strings.Fields(lines[0]), " ") != "0.12 s you Hello?" || !strings.HasSuffix(lines[1], "Yes.") || !strings.HasSuffix(lines[2], "And no.") {
		t.Errorf("printed\n%s", text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	both, err := audio.DecodeAll(data, 48000) // the mean of both sides
	if err != nil {
		t.Fatal(err)
	}
	// The user is heard from the beginning, half a second, and the answer right
	// behind the ten pieces of silence (200 ms), for 600 ms.
	end := len(both)
	if end < 48*1250 || end > 48*1700 {
		t.Errorf("%d ms were recorded, want about 1300", end/48)
	}
	if peak(both[48*20:48*480]) < 0.1 || peak(both[48*540:48*680]) > 0.01 || peak(both[end-48*500:]) < 0.2 {
		t.Errorf("loudness user %.2f, pause %.2f, answer %.2f", peak(both[48*20:48*480]), peak(both[48*540:48*680]), peak(both[end-48*500:]))
	}
}

func peak(pcm []float32) (p float32) {
	for _, s := range pcm {
		p = max(p, s, -s)
	}
	return p
}

func TestAnInterruptionCutsWhatIsHeard(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in.wav"), filepath.Join(t.TempDir(), "out.wav")
	if err := os.WriteFile(in, audio.EncodeWAV(make([]float32, 1600), 16000), 0o644); err != nil {
		t.Fatal(err)
	}
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx)
		box.send(ctx, contract.AssistantMessage{ID: "a", Message: said("A long story.")})
		box.send(ctx, contract.AudioOutput{ID: "a", Data: tone(10_000)})
		time.Sleep(500 * time.Millisecond)
		box.send(ctx, contract.UserInterruption{Time: time.Now().UnixMilli()})
		box.conn.Close(websocket.StatusNormalClosure, "over")
	})
	code, text, errs := talk(t, url, "", "--wav", in, "--out", out)
	if code != exitDone || !strings.Contains(text, "(interrupted)") {
		t.Fatalf("code %d, %q, %s", code, text, errs)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if pcm, err := audio.DecodeAll(data, 48000); err != nil || len(pcm) < 48*400 || len(pcm) > 48*5000 { // of ten seconds
		t.Errorf("%d ms were recorded (%v), want about 500", len(pcm)/48, err)
	}
}

func TestWhatKeepsFromTalkingIsSaid(t *testing.T) {
	ok := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.send(ctx, contract.ModelTimedOut.Error(""))
		box.conn.Close(websocket.StatusPolicyViolation, "E0711")
	})
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"message":"the box is full"}`)
	}))
	defer full.Close()
	for _, c := range []struct {
		name, url, key, want string
	}{
		{"nobody there", "ws://127.0.0.1:1", "right", "parley serve"},
		{"wrong key", ok, "wrong", "parley keys create"},
		{"full", full.URL, "right", "the box is full"},
		{"ended by the box", ok, "right", "1008"},
	} {
		code, _, errs := parley(t, "hello\n", "talk", "--text", "--url", c.url, "--key", c.key)
		if code != exitFailed || !strings.Contains(errs, c.want) {
			t.Errorf("%s: code %d, %q; want 1 and %q", c.name, code, errs, c.want)
		}
	}
}

func TestAnErrorInPlaceOfAnAnswerIsAFailure(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx)
		for box.next(ctx) != nil {
			box.send(ctx, contract.ModelTimedOut.Error("ten seconds"))
		}
	})
	code, _, errs := talk(t, url, "one\ntwo\n", "--text")
	if code != exitFailed || strings.Count(errs, "ten seconds") != 2 || !strings.Contains(errs, "parley: talk: ") {
		t.Errorf("code %d, %q; want 1 after both lines", code, errs)
	}
}

func TestABoxThatIsWarmingUpIsWaitedFor(t *testing.T) {
	var tries atomic.Int32
	box := fakeBox(t, func(ctx context.Context, box *fakeLine) { box.conn.Close(websocket.StatusNormalClosure, "") })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.Redirect(w, r, box+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	if code, _, errs := talk(t, server.URL, "", "--text"); code != exitDone || tries.Load() != 2 {
		t.Errorf("code %d after %d tries: %s", code, tries.Load(), errs)
	}
}

func TestAddressesAreUnderstoodAsPeopleWriteThem(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:8080":   "ws://127.0.0.1:8080/v0/evi/chat",
		"https://box.example/":    "wss://box.example/v0/evi/chat",
		"box.example:8080":        "ws://box.example:8080/v0/evi/chat",
		"ws://h/other?config=1":   "ws://h/other?config=1",
		" wss://h:1/v0/evi/chat ": "wss://h:1/v0/evi/chat",
		"ftp://h":                 "",
		"ws://":                   "",
	} {
		got, err := chatAddress(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
}

func silentWAV(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "silence.wav")
	if err := os.WriteFile(file, audio.EncodeWAV(make([]float32, 1600), 16000), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestARecordingWithoutSpeechIsSaidToBeOne(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		for box.next(ctx) != nil {
		}
	})
	begun := time.Now()
	code, out, errs := talk(t, url, "", "--wav", silentWAV(t))
	took := time.Since(begun) - 100*time.Millisecond // the recording's length
	if code != exitFailed || out != "" || !strings.Contains(errs, "silence.wav: the box heard no speech") || took > 2*time.Second {
		t.Errorf("code %d %v after the end, %q, %q", code, took, out, errs)
	}
}

func TestABoxThatHeardAVoiceIsWaitedFor(t *testing.T) {
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx)
		said := func(interim bool) {
			box.send(ctx, contract.UserMessage{Interim: interim, Message: contract.ChatMessage{Role: contract.RoleUser, Content: "Hello?"}})
		}
		time.Sleep(unvoiced / 2)
		said(true)
		time.Sleep(unvoiced + 500*time.Millisecond)
		said(false)
		box.send(ctx, contract.AssistantEnd{})
		box.conn.Close(websocket.StatusNormalClosure, "")
	})
	if code, out, errs := talk(t, url, "", "--wav", silentWAV(t)); code != exitDone || strings.Count(out, "Hello?") != 1 {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}

func TestAnUnreadableRecordingIsSaidBeforeTheBoxIsAsked(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.wav")
	if err := os.WriteFile(text, []byte("buy milk and bread, and call the plumber"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, "/not/there.wav", t.TempDir()} {
		code, _, errs := parley(t, "", "talk", "--url", "ws://127.0.0.1:1", "--key", "k", "--wav", file)
		if code != exitMisuse || !strings.Contains(errs, file) {
			t.Errorf("%s: code %d, %q", file, code, errs)
		}
	}
}

// The one that talk finds by itself answers as one that was named.
func TestTheBoxOfADataFolderIsFound(t *testing.T) {
	data, _ := aBox(t)
	if code, _, errs := parley(t, "", "talk", "--text", "--data", data); code != exitFailed || !strings.Contains(errs, "parley serve --data "+data) {
		t.Errorf("no box runs: code %d, %q", code, errs)
	}
	var key atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key.Store(r.Header.Get("X-Service-Api-Key"))
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	where := fmt.Sprintf(`{"pid":%d,"url":%q}`, os.Getpid(), server.URL)
	if err := os.WriteFile(filepath.Join(data, layout.Address), []byte(where), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := parley(t, "", "talk", "--text", "--data", data)
	if code != exitFailed || !strings.Contains(errs, "418") || len(key.Load().(string)) < 40 {
		t.Errorf("code %d, %q, key %v", code, errs, key.Load())
	}
	if _, out, _ := parley(t, "", "keys", "list", "--data", data); strings.Contains(out, "parley talk") {
		t.Errorf("the key of one talk is listed for ever:\n%s", out)
	}
}

func TestWhatWasSaidIsKeptOnCtrlC(t *testing.T) {
	out, answered := filepath.Join(t.TempDir(), "out.wav"), make(chan struct{})
	url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
		box.next(ctx)
		box.next(ctx)
		box.send(ctx, contract.AssistantMessage{ID: "a", Message: said("A long story.")})
		box.send(ctx, contract.AudioOutput{ID: "a", Data: tone(10_000)})
		time.Sleep(300 * time.Millisecond) // for the clip to be taken
		close(answered)
		for box.next(ctx) != nil {
		}
	})
	cmd := program(t, nil, "talk", "--text", "--url", url, "--key", "right", "--out", out)
	cmd.Stdin = strings.NewReader("tell me a story\n")
	code, errs, took := signalWhenReady(t, cmd, answered, syscall.SIGINT)
	if want := "parley: interrupted: " + out + " holds the conversation up to here\n"; code != 130 || errs != want || took > time.Second {
		t.Errorf("code %d after %v, %q; want 130, %q", code, took, errs, want)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if pcm, err := audio.DecodeAll(data, 48000); err != nil || len(pcm) < 48*200 || len(pcm) > 48*8000 { // of ten seconds
		t.Errorf("%d ms, %v", len(pcm)/48, err)
	}
}
