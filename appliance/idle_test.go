package appliance

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/ws"
	"parley/store"
)

// mute stands in for the engines of chats in which nobody says anything.
type mute struct{}

func (mute) NewStream() engine.VoiceStream          { return mute{} }
func (mute) Reset()                                 {}
func (mute) Probability([]float32) (float32, error) { return 0, nil }
func (mute) Transcribe(context.Context, []float32, engine.TranscribeOptions) (engine.Transcript, error) {
	return engine.Transcript{}, nil
}
func (mute) Generate(context.Context, engine.Prompt, func(engine.Part) error) (engine.Usage, error) {
	return engine.Usage{}, nil
}
func (mute) Prefill(context.Context, engine.Prompt) error { return nil }
func (mute) Forget(string)                                {}
func (mute) Choose(context.Context, engine.Prompt, []string) ([]float64, error) {
	return nil, engine.ErrCannot
}
func (mute) Prepare(string) error { return nil }
func (mute) Voice(context.Context, string) (engine.Synthesizer, error) {
	return nil, contract.ErrInvalid{Field: "voice", Why: "nobody speaks here"}
}

// An idle text chat, with its socket, its rows and its recorder, holds at most 48
// KiB on the heap. It was 110 when its queues had room for all that may wait.
func TestAnIdleTextChatIsSmall(t *testing.T) {
	const chats, most = 300, 48 << 10
	log := slog.New(slog.DiscardHandler)
	records, err := store.Open(t.Context(), t.TempDir(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	if _, err := records.CreateKey(t.Context(), store.NewKey{Account: "home"}); err != nil {
		t.Fatal(err)
	}
	account, err := records.Account(t.Context(), "home")
	if err != nil {
		t.Fatal(err)
	}
	history, recordings := kept(config.Retention{History: true, Audio: true}, records)
	host := chat.NewHost(t.Context(), chat.Parts{
		Detector: mute{}, Transcriber: mute{}, Model: mute{}, Voices: mute{}, Records: history, Recordings: recordings,
		Defaults: chat.DefaultSettings(), Log: log, MaxChats: chats + 1, ChatsPerAccount: chats + 1,
	})
	admission := &admission{log: log, stop: t.Context()}
	admission.host.Store(host)
	lines := ws.NewServer(admission, nil, ws.Timing{}, log)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := lines.ServeChat(w, r, account.ID, func(context.Context) error { return nil }); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	defer front.Close()
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := host.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := lines.Wait(ctx); err != nil {
			t.Error(err)
		}
	}()
	address := front.Listener.Addr().String()
	defer openIdle(t, address)() // what the first one alone needs
	before := inUse()
	for range chats {
		defer openIdle(t, address)()
	}
	each := (inUse() - before) / chats
	t.Logf("an idle chat holds %d bytes", each)
	if file := os.Getenv("PARLEY_IDLE_PROFILE"); file != "" {
		profile(t, file)
	}
	if each > most {
		t.Errorf("an idle chat holds %d bytes; at most %d are allowed (PARLEY_IDLE_PROFILE=FILE says what)", each, most)
	}
}

// openIdle opens a chat over a bare socket, which holds next to nothing itself,
// and reads what it begins with. The function returned closes it.
func openIdle(t *testing.T, address string) func() {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /v0/evi/chat HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", address)
	r := bufio.NewReader(conn)
	answer, err := http.ReadResponse(r, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %v", answer, err)
	}
	if _, err := r.ReadByte(); err != nil { // chat_metadata
		t.Fatal(err)
	}
	return func() { _ = conn.Close() }
}

// inUse is what the heap holds after collections. What stacks take is another
// matter: how deep they once were decides for how long they stay large.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what finalizers have let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func profile(t *testing.T, file string) {
	for _, kind := range []string{"heap", "goroutine"} {
		f, err := os.Create(file + "." + kind)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := pprof.Lookup(kind).WriteTo(f, map[string]int{"heap": 0, "goroutine": 1}[kind]); err != nil {
			t.Fatal(err)
		}
	}
}
