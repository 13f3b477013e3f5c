package appliance

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// After 450 malformed messages the box still holds what it retains on purpose: the
// connections of SQLite's readers, which are opened when several queries run in parallel
// (four, or one per core, each with the database and its log), the libraries that decode
// MP3 and AAC, and memory that Go and the C library reuse. So a second and a third attack
// must leave no more than the first.
func TestMalformedMessagesLeaveNothingBehind(t *testing.T) {
	b := startFakeBox(t)
	fresh, small := measureResources(), residentBytes(t)
	// Apart from the readers, connections and log files come and go.
	mostFiles := fresh.files + 2*max(4, runtime.NumCPU()) + 4
	attack(t, b, 1)
	first, resident := measureResources(), residentBytes(t)
	t.Logf("at first %+v, %d MB; after an attack %+v, %d MB", fresh, small>>20, first, resident>>20)
	const retained = 160 << 20 // most of it the peaks of Go and of the decoders
	if resident > small+retained {
		t.Errorf("an attack leaves %d MB", (resident-small)>>20)
	}
	// Stacks, and the arenas of the C library, vary by this much.
	const moreHeap, moreResident = 4 << 20, 32 << 20
	for seed := range uint64(2) {
		attack(t, b, 2+seed)
		for deadline := time.Now().Add(30 * time.Second); ; <-time.After(100 * time.Millisecond) {
			now, rss := measureResources(), residentBytes(t)
			if now.files <= mostFiles && now.goroutines <= first.goroutines+8 &&
				now.heap <= first.heap+moreHeap && rss <= resident+moreResident {
				t.Logf("after another %+v, %d MB", now, rss>>20)
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("before %+v and %d MB, after another attack %+v and %d MB; at most %d files",
					first, resident>>20, now, rss>>20, mostFiles)
			}
		}
	}
}

// attack sends 450 invalid messages over fifteen chats, and waits for the chats to end.
func attack(t *testing.T, b *runningBox, seed uint64) {
	t.Helper()
	const chats, each = 15, 30
	files, err := filepath.Glob("audio/testdata/*/*.*")
	if err != nil || len(files) < 10 {
		t.Fatalf("%v, %v", files, err)
	}
	var all sync.WaitGroup
	var errors atomic.Int32
	for n := range uint64(chats) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, n))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(b.url, "http")+"/v0/evi/chat?api_key="+b.key,
				nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.CloseNow()
			conn.SetReadLimit(-1)
			read := make(chan struct{}) // closed when all messages are read
			all.Go(func() {
				defer close(read)
				for {
					_, m, err := conn.Read(ctx)
					if err != nil || strings.Contains(string(m), `"type":"user_message"`) {
						return
					}
					if strings.Contains(string(m), `"type":"error"`) {
						errors.Add(1)
					}
				}
			})
			for range each {
				if err := conn.Write(ctx, websocket.MessageText, []byte(malformed(t, r, files))); err != nil {
					t.Error(err)
				}
			}
			if err := conn.Write(ctx, websocket.MessageText,
				[]byte(`{"type":"user_input","text":"Hello?"}`)); err != nil {
				t.Error(err)
			}
			<-read
			_ = conn.Close(websocket.StatusNormalClosure, "")
		})
	}
	all.Wait()
	waitUntilEnded(t, b, nil)
	t.Logf("%d errors were told of %d messages", errors.Load(), chats*each)
}

// malformed returns a message that is invalid as JSON, as a message, or as sound.
func malformed(t *testing.T, r *rand.Rand, files []string) string {
	switch r.IntN(10) {
	case 0:
		return `{"type":"user_input","text":` + strings.Repeat("[", r.IntN(20_000))
	case 1:
		return fmt.Sprintf(`{"type":"no such type %d"}`, r.IntN(1000))
	case 2:
		return fmt.Sprintf(`{"type":"audio_input","data":"?%d"}`, r.IntN(1000))
	case 3:
		audio := fmt.Sprintf(`{"encoding":"linear16","sample_rate":%d,"channels":99}`, r.IntN(1000))
		return `{"type":"session_settings","audio":` + audio + `}`
	case 4:
		return fmt.Sprintf(`{"type":"session_settings","system_prompt":%q}`, strings.Repeat("{{x}} ", r.IntN(60_000)))
	}
	sound, err := os.ReadFile(files[r.IntN(len(files))])
	if err != nil {
		t.Error(err)
	}
	for range 1 + r.IntN(20) { // a broken one
		sound[r.IntN(len(sound))] = byte(r.Uint32())
	}
	sound = sound[:1+r.IntN(len(sound))]
	return `{"type":"audio_input","data":"` + base64.StdEncoding.EncodeToString(sound) + `"}`
}

// residentBytes returns the memory of the process, including that of C libraries.
func residentBytes(t *testing.T) uint64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * uint64(os.Getpagesize())
}
