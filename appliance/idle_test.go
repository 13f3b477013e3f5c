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

// An idle text chat, with its socket, its rows and its recorder, holds at most 20 KiB on
// the heap. It held 110 when its queues were allocated in full, 37 when all its goroutines
// ran and the request that opened it stayed open, and 21 with the server's read buffer. Its
// two goroutines have at most 28 KiB of stack, once collections have shrunk them; it was 39
// when the session waited below frames of 8 KiB.
func TestIdleTextChatIsSmall(t *testing.T) {
	const chats, most, mostStack = 300, 20 << 10, 28 << 10
	b := startFakeBox(t, func(p *chat.Parts) {
		p.Log, p.MaxChats = slog.New(slog.DiscardHandler), chats+1
		history, recordings := chatRecords(config.Retention{History: true, Audio: true}, p.Records.(*store.Store))
		p.Records, p.Recordings = history, recordings
	})
	defer b.openIdle(t)() // what only the first chat allocates
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

// openIdle opens a chat over a bare socket, which itself holds next to nothing, and reads
// its first message. The function that it returns closes the chat.
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

// stacks returns the size of all stacks after some collections: each halves the stacks of
// which less than a quarter is in use.
func stacks() int64 {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}

// inUse returns the size of the heap after collections, without stacks.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what finalizers have released
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
