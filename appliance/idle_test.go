package appliance

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/store"
)

// An idle text chat, with its socket, its rows and its recorder, holds at most 20
// KiB on the heap. It was 110 when its queues had room for all that may wait, 37
// when all of it ran and the request that opened it lasted as long, and 21 with the
// server's own read buffer. Its two goroutines have 28 KiB of stack at most, once
// collections have made them smaller: it was 39 when the session waited at the
// bottom of frames of 8 KiB.
func TestAnIdleTextChatIsSmall(t *testing.T) {
	const chats, most, mostStack = 300, 20 << 10, 28 << 10
	b := startFakeBox(t, func(p *chat.Parts) {
		p.Log, p.MaxChats = slog.New(slog.DiscardHandler), chats+1
		history, recordings := chatRecords(config.Retention{History: true, Audio: true}, p.Records.(*store.Store))
		p.Records, p.Recordings = history, recordings
	})
	defer b.openIdle(t)() // what the first one alone needs
	before, stackBefore := inUse(), stacks()
	for range chats {
		defer b.openIdle(t)()
	}
	each := (inUse() - before) / chats
	stack := (stacks() - stackBefore) / chats
	t.Logf("an idle chat holds %d bytes, and %d of stack", each, stack)
	if file := os.Getenv("PARLEY_IDLE_PROFILE"); file != "" {
		profile(t, file)
	}
	if each > most {
		t.Errorf("an idle chat holds %d bytes; at most %d are allowed (PARLEY_IDLE_PROFILE=FILE says what)", each, most)
	}
	if stack > mostStack {
		t.Errorf("the goroutines of an idle chat have %d bytes of stack; at most %d are allowed", stack, mostStack)
	}
}

// openIdle opens a chat over a bare socket, which holds next to nothing itself,
// and reads what it begins with. The function returned closes it.
func (b *runningBox) openIdle(t *testing.T) func() {
	t.Helper()
	address := strings.TrimPrefix(b.url, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /v0/evi/chat?api_key=%s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: "+
		"websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", b.key, address)
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

// stacks is what stacks take after some collections: each halves those of which less
// than a quarter is in use.
func stacks() int64 {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}

// inUse is what the heap holds after collections, without stacks.
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
