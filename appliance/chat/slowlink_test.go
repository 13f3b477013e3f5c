package chat

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine/enginetest"
	"parley/appliance/line/ws"
	"parley/store"
)

// spoken is the size of a second of speech on the wire, in bytes.
const spoken = contract.OutputRateHz * 2 * 4 / 3

// slowLink is a connection that is read at a limited rate, with small buffers.
type slowLink struct {
	net.Conn
	rate  float64 // bytes per second
	begun time.Time
	read  int
}

func (s *slowLink) Read(p []byte) (int, error) {
	if s.begun.IsZero() {
		s.begun = time.Now()
	}
	due := s.begun.Add(time.Duration(float64(s.read) / s.rate * float64(time.Second)))
	time.Sleep(time.Until(due))
	n, err := s.Conn.Read(p[:min(len(p), 4<<10)])
	s.read += n
	return n, err
}

// dialSlowly connects a client whose link carries times the rate of speech.
func dialSlowly(t *testing.T, url string, times float64) *websocket.Conn {
	t.Helper()
	small := net.Dialer{Control: func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 32<<10)
		})
		return err
	}}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := small.DialContext(ctx, network, address)
		return &slowLink{Conn: conn, rate: times * spoken}, err
	}}
	o := websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}}
	conn, _, err := websocket.Dial(t.Context(), url, &o)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// hurried has shorter times than in production, but long enough for a busy machine. Even the shortest text
// takes longer than Pong on the fastest of the links.
var hurried = ws.Timing{
	Write:     5 * time.Second,
	PingEvery: 900 * time.Millisecond,
	Pong:      4 * time.Second,
	Close:     time.Second,
}

// serve serves the chats of f on a socket.
func serve(t *testing.T, f whole, timing ws.Timing) (url string) {
	t.Helper()
	h := hostOf(f)
	lines := ws.NewServer(testServer{h}, nil, timing, slog.New(slog.DiscardHandler))
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := lines.ServeChat(w, r, "a", always{}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := lines.Wait(ctx); err != nil {
			t.Error(err)
		}
		box.Close()
	})
	return box.URL
}

// listen reads until a message of a type, and returns how much sound came before.
func listen(t *testing.T, conn *websocket.Conn, until string) (sound time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("after %v of sound: %v", sound, err)
		}
		m, err := contract.ParseServerMessage(data)
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := m.(contract.AudioOutput); ok {
			pcm, err := audio.DecodeAll(a.Data, contract.OutputRateHz)
			if err != nil {
				t.Fatal(err)
			}
			sound += time.Duration(len(pcm)) * time.Second / contract.OutputRateHz
		}
		if m.MessageType() == until {
			return sound
		}
	}
}

func dictate(t *testing.T, conn *websocket.Conn, sentences int) {
	t.Helper()
	text := fmt.Sprintf(`{"type":"assistant_input","text":%q}`, strings.Repeat("This is a sentence. ", sentences))
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// each is how long a sentence plays: its sound and the pause after it.
const each = 1150 * time.Millisecond

// A client on a slow link hears all of a long text, whether the link is faster than speech or not, and its
// chat goes on, although no pong comes in time.
func TestALongTextIsHeardOverASlowLink(t *testing.T) {
	t.Parallel()
	sentences, timing := 12, hurried
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		sentences, timing = 130, ws.Timing{} // 150 s
	}
	for _, times := range []float64{0.8, 1.5} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			f := newFakes()
			conn := dialSlowly(t, serve(t, voiced{f, enginetest.FixedSound(contract.OutputRateHz, second)}, timing),
				times)
			dictate(t, conn, sentences)
			if got, want := listen(t, conn, "assistant_end"), time.Duration(sentences)*each; got != want {
				t.Errorf("%v of %v were heard", got, want)
			}
			if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
				t.Error(err)
			}
			endsAs(t, f, store.UserEnded)
		})
	}
}

// A stopped answer is silent within two seconds of the link's time, and the unsent part is never sent.
func TestAnAnswerIsStoppedOnASlowLink(t *testing.T) {
	t.Parallel()
	for _, times := range []float64{0.8, 1.5} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			f := newFakes()
			conn := dialSlowly(t, serve(t, voiced{f, enginetest.FixedSound(contract.OutputRateHz, second)}, hurried),
				times)
			dictate(t, conn, 130)
			for heard := time.Duration(0); heard < 4*time.Second; {
				heard += each
				listen(t, conn, "audio_output")
			}
			stop := []byte(`{"type":"user_input","text":"Stop."}`)
			if err := conn.Write(t.Context(), websocket.MessageText, stop); err != nil {
				t.Fatal(err)
			}
			late := listen(t, conn, "user_interruption")
			if most := time.Duration(2 * times * float64(time.Second)); late > most {
				t.Errorf("%v of sound came after the interruption, at %v times its rate", late, times)
			}
			if rest := listen(t, conn, "assistant_end"); rest != 2*each { // the new answer
				t.Errorf("%v of sound came after user_interruption", rest)
			}
		})
	}
}

// A client that takes nothing at all is cut off, which is an error.
func TestAClientThatTakesNothingIsCutOff(t *testing.T) {
	t.Parallel()
	f := newFakes()
	conn := dialSlowly(t, serve(t, voiced{f, enginetest.FixedSound(contract.OutputRateHz, second)}, hurried), 10)
	dictate(t, conn, 40) // and stop reading
	endsAs(t, f, store.Failed)
}

// endsAs waits for the end of the chat and checks its status.
func endsAs(t *testing.T, f *fakes, wanted store.Status) {
	t.Helper()
	var status store.Status
	eventually(t, "the chat ends", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		status = f.status
		return status != ""
	})
	if status != wanted {
		t.Errorf("the chat ended as %s", status)
	}
}
