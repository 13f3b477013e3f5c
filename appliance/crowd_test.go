package appliance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	pion "github.com/pion/webrtc/v4"
	"golang.org/x/sync/errgroup"

	"parley/appliance/config"
)

// Two screens by WebRTC and five sockets talk at the same time. Each gets its own answers,
// as text and as sound, and none waits for the others: when one has its last answer, all
// have had their first. The language model follows a script.
func TestTwoScreensAndFiveSocketsTalkAtOnce(t *testing.T) {
	t.Parallel()
	const questions = 3
	model := config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = model
		c.Chat.MaxChats, c.Limits.ChatsPerAccount = 7, 7
	})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	var all []*crowdCaller
	for n := range 7 {
		g := &crowdCaller{name: []string{"Ada", "Ben", "Cleo", "Dora", "Emil", "Frida", "Gustav"}[n],
			told: make(chan map[string]any, 999)}
		if n < 2 {
			g.call(ctx, t, b.url, screenKey(ctx, t, b.url, pairingCode(t, b, g.name)))
		} else {
			g.dial(ctx, t, b)
		}
		all = append(all, g)
	}
	for _, g := range all {
		if err := g.until(ctx, "chat_metadata"); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	answered := map[string]int{}
	var together errgroup.Group
	for _, g := range all {
		together.Go(func() error {
			for n := range questions {
				if err := g.ask(ctx, fmt.Sprintf("%s %d.", g.name, n)); err != nil {
					return fmt.Errorf("%s: %w", g.name, err)
				}
				mu.Lock()
				answered[g.name]++
				if answered[g.name] == questions && len(answered) < len(all) {
					t.Errorf("%s has %d answers, and only %v have any", g.name, questions, answered)
				}
				mu.Unlock()
			}
			return nil
		})
	}
	if err := together.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		for deadline := time.Now().Add(time.Minute); g.sounds.Load() == 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s has heard nothing", g.name)
			}
		}
	}
}

// crowdCaller is one client.
type crowdCaller struct {
	name   string
	told   chan map[string]any // messages of the box except sound
	send   func(string) error
	sounds atomic.Int32
}

// ask says something and waits for the answer.
func (g *crowdCaller) ask(ctx context.Context, question string) error {
	m, _ := json.Marshal(map[string]string{"type": "user_input", "text": question})
	if err := g.send(string(m)); err != nil {
		return err
	}
	answer := ""
	for {
		m, err := g.next(ctx)
		if err != nil {
			return fmt.Errorf("%q is not answered: %w", question, err)
		}
		switch m["type"] {
		case "assistant_message":
			answer += fmt.Sprint(m["message"].(map[string]any)["content"], " ")
		case "error":
			return fmt.Errorf("%v", m)
		case "assistant_end":
			if !strings.Contains(answer, question) {
				return fmt.Errorf("%q is answered with %q", question, answer)
			}
			return nil
		}
	}
}

// until waits for a message of a type.
func (g *crowdCaller) until(ctx context.Context, kind string) error {
	for {
		if m, err := g.next(ctx); err != nil || m["type"] == kind {
			return err
		}
	}
}

func (g *crowdCaller) next(ctx context.Context) (map[string]any, error) {
	select {
	case m := <-g.told:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (g *crowdCaller) take(data []byte) {
	var m map[string]any
	if json.Unmarshal(data, &m) != nil {
		return
	}
	if m["type"] == "audio_output" {
		g.sounds.Add(1)
		return
	}
	g.told <- m
}

// dial opens a socket.
func (g *crowdCaller) dial(ctx context.Context, t *testing.T, b *runningBox) {
	t.Helper()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(b.url, "http")+"/v0/evi/chat?api_key="+b.key, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(32 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	g.send = func(m string) error { return conn.Write(ctx, websocket.MessageText, []byte(m)) }
	go func() {
		for {
			_, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			g.take(data)
		}
	}()
}

// call starts a WebRTC call as a screen does.
func (g *crowdCaller) call(ctx context.Context, t *testing.T, box, key string) {
	t.Helper()
	pc, err := pion.NewPeerConnection(pion.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	if _, err := pc.AddTransceiverFromKind(pion.RTPCodecTypeAudio,
		pion.RTPTransceiverInit{Direction: pion.RTPTransceiverDirectionRecvonly}); err != nil {
		t.Fatal(err)
	}
	pc.OnTrack(func(track *pion.TrackRemote, _ *pion.RTPReceiver) {
		for {
			if _, _, err := track.ReadRTP(); err != nil {
				return
			}
			g.sounds.Add(1)
		}
	})
	words, err := pc.CreateDataChannel("chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	words.OnMessage(func(m pion.DataChannelMessage) { g.take(m.Data) })
	g.send = words.SendText
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		t.Fatal(err)
	}
	gathered := pion.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	<-gathered
	status, answer := post(ctx, t, box+"/v0/evi/chat/webrtc", "application/sdp", key, pc.LocalDescription().SDP)
	if status != http.StatusCreated {
		t.Fatalf("%d: %s", status, answer)
	}
	if err := pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
}

// screenKey pairs a screen and returns its key.
func screenKey(ctx context.Context, t *testing.T, box, code string) string {
	t.Helper()
	status, body := post(ctx, t, box+"/v0/box/kiosks", "application/json", "", `{"code":"`+code+`"}`)
	var made struct {
		APIKey string `json:"api_key"`
	}
	if err := json.Unmarshal([]byte(body), &made); err != nil || made.APIKey == "" {
		t.Fatalf("%d: %s", status, body)
	}
	return made.APIKey
}

func post(ctx context.Context, t *testing.T, to, kind, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	if key != "" {
		req.Header.Set("X-Service-Api-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(said)
}
