package appliance

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line"
	"parley/appliance/line/webrtc"
	"parley/appliance/line/ws"
)

// This measures the time from a click in a browser's microphone to the answer in its
// loudspeaker, by WebRTC and by a socket at the same time. The box answers each click at
// once with another, so only the lines and the browser are measured, and no model. It needs
// an idle machine and does not run with every test; the figures are in docs/webrtc.md.
func TestAnswersReachABrowserInTime(t *testing.T) {
	if os.Getenv("PARLEY_FULL_TESTS") == "" {
		t.Skip("PARLEY_FULL_TESTS is not set: this measures time")
	}
	output := measureClicks(t, "24")
	var ms struct {
		WebRTC, Socket []float64
		Network        map[string]float64
	}
	if err := json.Unmarshal([]byte(output), &ms); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if len(ms.WebRTC) < 10 || len(ms.Socket) < 10 {
		t.Errorf("%d and %d clicks came back, want 10 or more", len(ms.WebRTC), len(ms.Socket))
	}
	for _, d := range slices.Concat(ms.WebRTC, ms.Socket) {
		if d <= 0 {
			t.Errorf("a click came back after %v ms", d)
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load %s: by WebRTC %.0f ms (median of %d), by a socket %.0f ms (of %d); the browser says %v", load,
		median(ms.WebRTC), len(ms.WebRTC), median(ms.Socket), len(ms.Socket), ms.Network)
}

// A browser that also offers a camera and a second microphone gets an answer, and its call
// survives a restart (restartIce) that offers all of them again.
func TestBrowserRestartsItsCall(t *testing.T) {
	t.Parallel()
	measureClicks(t, "3")
}

// measureClicks makes a browser click that many times into its microphone over both lines,
// and restart the call at the end. It returns the browser's report.
func measureClicks(t *testing.T, times string) (output string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	log := slog.New(slog.DiscardHandler)
	calls, err := webrtc.Open(echoHost{}, webrtc.Network{Address: "127.0.0.1:0"}, webrtc.Timing{}, log)
	if err != nil {
		t.Fatal(err)
	}
	sockets := ws.NewServer(echoHost{}, []string{"*"}, ws.Timing{}, log)
	page, err := os.ReadFile(filepath.Join("testdata", "ear.html"))
	if err != nil {
		t.Fatal(err)
	}
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		id, changes := strings.CutPrefix(r.URL.Path, "/call/")
		switch {
		case changes:
			err = calls.Change(w, r, "acme", id)
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			_, err = w.Write(page)
		case r.URL.Path == "/socket":
			err = sockets.ServeChat(w, r, "acme", allowAll{})
		case r.URL.Path == "/call":
			err = calls.Answer(w, r, "acme", func(id string) string { return "/call/" + id }, allowAll{})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(func() {
		box.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = calls.Close(ctx)
	})
	runScriptWatching(t, func(line string) {
		if line != "done" {
			output = line
		}
	}, "node", filepath.Join("testdata", "ear.cjs"), "BOX_URL="+box.URL, "CLIENT="+clientFolder(t, "react-client"),
		"CHROMIUM="+chromium, "CLICKS="+times, "MICROPHONE="+clicks(t))
	return output
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)/2]
}

// allowAll permits everything.
type allowAll struct{}

func (allowAll) Check(context.Context) error             { return nil }
func (allowAll) Permits(contract.ClientMessage) error    { return nil }
func (allowAll) Watch() (lost context.Context, f func()) { return context.Background(), func() {} }

// echoHost is a host whose chats answer each click with another.
type echoHost struct{}

func (echoHost) Reserve(string) (line.Slot, error) { return echoHost{}, nil }
func (echoHost) Release()                          {}
func (echoHost) Open(_ context.Context, o connection.Opening) (line.Session, error) {
	return &echoSession{line: o.Line, done: make(chan struct{})}, nil
}

type echoSession struct {
	line  connection.Line
	quiet int // samples since the last loud one
	said  int
	once  sync.Once
	done  chan struct{}
}

func (e *echoSession) Hear(pcm []float32) error {
	for _, v := range pcm {
		if e.quiet++; math.Abs(float64(v)) > 0.1 {
			if e.quiet > engine.SpeechRateHz/5 {
				e.said++
				id := strconv.Itoa(e.said)
				if err := e.line.Send(context.Background(), contract.AssistantMessage{ID: id}); err != nil {
					return err
				}
				if err := e.line.Play(context.Background(),
					contract.Sound{ID: id, PCM: click(contract.OutputRateHz), Last: true}); err != nil {
					return err
				}
			}
			e.quiet = 0
		}
	}
	return nil
}

func (e *echoSession) Receive(contract.ClientMessage) error { return nil }
func (e *echoSession) Audio() *contract.AudioConfiguration {
	return &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: contract.OutputRateHz, Channels: 1}
}
func (e *echoSession) Played(string, time.Duration)      {}
func (e *echoSession) Fault(contract.Code, string) error { return nil }
func (e *echoSession) Done() <-chan struct{}             { return e.done }
func (e *echoSession) HangUp() {
	e.once.Do(func() {
		e.line.Close(contract.CloseNormal, "")
		close(e.done)
	})
}

func (e *echoSession) CutOff(error) { e.HangUp() }

// click returns 60 ms of a tone with a sharp start.
func click(rateHz int) []float32 {
	pcm := make([]float32, rateHz*60/1000)
	for i := range pcm {
		pcm[i] = float32(0.7 * math.Cos(2*math.Pi*600*float64(i)/float64(rateHz)))
	}
	return pcm
}

// clicks returns a file with a click every 1.37 s.
func clicks(t *testing.T) string {
	t.Helper()
	pcm := make([]float32, 137*contract.OutputRateHz/100)
	copy(pcm[contract.OutputRateHz:], click(contract.OutputRateHz))
	file := filepath.Join(t.TempDir(), "clicks.wav")
	if err := os.WriteFile(file, audio.EncodeWAV(pcm, contract.OutputRateHz), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
