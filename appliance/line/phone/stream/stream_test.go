package stream

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/ws"
)

// sine returns sound at 440 Hz.
func sine(d time.Duration, rateHz int) []float32 {
	pcm := make([]float32, int(d*time.Duration(rateHz)/time.Second))
	for i := range pcm {
		pcm[i] = float32(0.3 * math.Sin(2*math.Pi*440*float64(i)/float64(rateHz)))
	}
	return pcm
}

// loud is 20 ms of a loud square wave at 400 Hz in µ-law.
func loud() []byte {
	return bytes.Repeat(append(bytes.Repeat([]byte{0x90}, 10), bytes.Repeat([]byte{0x10}, 10)...), 8)
}

// listener collects what a call hears.
type listener struct {
	mu   sync.Mutex
	pcm  []float32
	keys string
}

func listen(c *Call) *listener {
	l := &listener{}
	c.Listen(func(pcm []float32) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pcm = append(l.pcm, pcm...)
	}, func(key rune) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.keys += string(key)
	})
	return l
}

// heard returns the length of the sound so far, and of the loud part of it.
func (l *listener) heard() (all, aloud time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, v := range l.pcm {
		if math.Abs(float64(v)) > 0.05 {
			n++
		}
	}
	return time.Duration(len(l.pcm)) * time.Second / engine.SpeechRateHz, time.Duration(n) * time.Second /
		engine.SpeechRateHz
}

func TestTheCallerIsHeardWithoutGaps(t *testing.T) {
	b := newBox(t, "")
	p, c := b.call()
	l := listen(c)
	for range 10 {
		p.speak(loud())
		time.Sleep(frameLength)
	}
	p.send(map[string]any{"event": "dtmf", "streamSid": "MZ1", "dtmf": map[string]any{"track": "inbound_track",
		"digit": "4"}})
	p.send(map[string]any{"event": "dtmf", "dtmf": map[string]any{"digit": "long"}})
	p.send(map[string]any{"event": "dtmf", "dtmf": map[string]any{"digit": "#"}})
	p.send(map[string]any{"event": "of the future"})
	eventually(t, "the pause after the words is heard", func() bool {
		all, _ := l.heard()
		return all > 600*time.Millisecond
	})
	if _, aloud := l.heard(); aloud < 180*time.Millisecond || aloud > 210*time.Millisecond {
		t.Errorf("heard %v of 200 ms", aloud)
	}
	p.send(map[string]any{"event": "stop", "stop": map[string]any{"accountSid": "AC1", "callSid": "CA1"}})
	<-c.Done()
	if l.keys != "4#" || c.Err() != nil {
		t.Errorf("keys %q, ended with %v", l.keys, c.Err())
	}
	if code, _ := p.closed(); code != contract.CloseNormal {
		t.Errorf("closed with %d", code)
	}
	if s := c.Stats(); s.PacketsReceived != 10 || s.PacketsLost != 0 || s.Codec != "PCMU" {
		t.Errorf("%+v", s)
	}
}

// played collects what a call reports as played.
type played struct {
	mu   sync.Mutex
	upTo map[string]time.Duration
}

func follow(c *Call) *played {
	p := &played{upTo: map[string]time.Duration{}}
	c.OnPlayed(func(id string, upTo time.Duration) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.upTo[id] = max(p.upTo[id], upTo)
	})
	return p
}

func (p *played) of(id string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.upTo[id]
}

func TestTheCallEndsAfterItsLastSound(t *testing.T) {
	b := newBox(t, "")
	p, c := b.call()
	report := follow(c)
	words := sine(700*time.Millisecond, contract.OutputRateHz)
	for i, piece := range [][]float32{words[:10_000], words[10_000:]} {
		if err := c.Play(contract.Sound{ID: "a", Index: i, PCM: piece, Last: i == 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Play(contract.Sound{ID: "b", PCM: words[:9600], Last: true}); err != nil {
		t.Fatal(err)
	}
	if isClosed(c.Drained()) {
		t.Error("drained before it was played")
	}
	close(b.over) // the box hangs up
	if code, reason := p.closed(); code != contract.CloseNormal {
		t.Errorf("closed with %d %s", code, reason)
	}
	<-c.Done()
	if c.Err() != nil || p.heard != 900*8 {
		t.Errorf("%v, %v", c.Err(), p)
	}
	if report.of("a") != 700*time.Millisecond || report.of("b") != 200*time.Millisecond {
		t.Errorf("played %v", report.upTo)
	}
	if err := c.Play(contract.Sound{ID: "c", PCM: words}); err == nil {
		t.Error("a call that is over takes sound")
	}
}

func TestAnInterruptionSilencesTheProvider(t *testing.T) {
	b := newBox(t, "")
	p, c := b.call()
	report := follow(c)
	if err := c.Play(contract.Sound{ID: "a", PCM: sine(5*time.Second, contract.OutputRateHz), Last: true}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the beginning was played", func() bool { return report.of("a") >= firstMark })
	c.Cut()
	at := report.of("a")
	<-c.Drained()
	time.Sleep(300 * time.Millisecond) // for marks that a clear returns, and for sound after it
	p.mu.Lock()
	if last := p.messages[len(p.messages)-1]; p.clears != 1 || last.Event != "clear" || len(p.buffer) > 0 {
		t.Errorf("%d clears, and %s came last", p.clears, last.Event)
	}
	if p.most > int(maxAhead/frameLength)+10 { // the provider's clock is late on a busy machine
		t.Errorf("the provider held %d frames", p.most)
	}
	p.mu.Unlock()
	if got := report.of("a"); got != at {
		t.Errorf("what was cleared counts as played: %v after %v", got, at)
	}
	next := contract.Sound{ID: "b", PCM: sine(300*time.Millisecond, contract.OutputRateHz), Last: true}
	if err := c.Play(next); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the next sentence is played", func() bool { return report.of("b") == 300*time.Millisecond })
}

func TestKeysAreSentAsTones(t *testing.T) {
	b := newBox(t, "")
	p, c := b.call()
	if err := c.Press(t.Context(), "1x"); err == nil {
		t.Error("a key that no telephone has")
	}
	if err := c.Press(t.Context(), "1#"); err != nil || p.heard != 400*8 {
		t.Errorf("%v, %v", err, p)
	}
}

func TestLiveSoundDoesNotPileUp(t *testing.T) {
	b := newBox(t, "")
	p, c := b.call()
	for range 5 {
		c.Relay(sine(10*time.Millisecond, engine.SpeechRateHz))
	}
	eventually(t, "two frames arrive", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.got == 2*160 })
	c.Relay(sine(10*time.Second, engine.SpeechRateHz))
	time.Sleep(100 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.got > 160*int(maxRelayed/frameLength+6) {
		t.Errorf("%d bytes of 10 s were sent", p.got)
	}
}

func TestACallWithoutAChatIsClosedWithTheReason(t *testing.T) {
	for _, c := range []struct {
		why    error
		code   int
		reason string
	}{
		{contract.ErrFull{What: "the box has no slot"}, closeTryLater, "the box has no slot"},
		{contract.ErrNotFound{What: "config", ID: "x"}, contract.ClosePolicy, `no config "x"`},
		{contract.Fault{Code: contract.KeyRevoked}, contract.KeyRevoked.CloseCode(), ""},
		{errors.New("/secret/path"), contract.CloseInternal, contract.Internal.Slug()},
	} {
		b := newBox(t, "")
		b.noChat = c.why
		close(b.over)
		p, call := b.call()
		if code, reason := p.closed(); code != c.code || !strings.Contains(reason, c.reason) {
			t.Errorf("%v: %d %s", c.why, code, reason)
		}
		<-call.Done()
		if call.Err() == nil {
			t.Errorf("%v: no error", c.why)
		}
		if err := call.Transfer(t.Context(), "100"); !errors.Is(err, ErrCannotTransfer) {
			t.Error(err)
		}
	}
}

func TestWhatIsNoStreamIsClosedWithAReason(t *testing.T) {
	b := newBox(t, "")
	b.server.startTimeout = 300 * time.Millisecond
	edit := func(change func(start map[string]any)) func(*provider) {
		return func(p *provider) {
			m := startMessage(b.token())
			change(m["start"].(map[string]any))
			p.send(m)
		}
	}
	for name, c := range map[string]struct {
		do   func(*provider)
		code int
		want string
	}{
		"nothing": {func(*provider) {}, contract.ClosePolicy, "no start message within 300ms"},
		"no JSON": {func(p *provider) { p.text("hello") }, closeBadData, "not a JSON object"},
		"a list":  {func(p *provider) { p.text("[]") }, closeBadData, "not a JSON object"},
		"a number": {func(p *provider) { p.text(`{"event":"media","media":{"payload":5}}`) }, closeBadData,
			"media.payload is of the wrong type: number"},
		"no event":  {func(p *provider) { p.text("{}") }, closeBadData, "not a JSON object"},
		"deep":      {func(p *provider) { p.text(strings.Repeat(`{"a":`, 20_000)) }, closeBadData, "not a JSON object"},
		"too large": {func(p *provider) { p.text(strings.Repeat("a", maxMessage+1)) }, contract.CloseTooBig, "262144"},
		"no token":  {edit(func(s map[string]any) { delete(s, "customParameters") }), contract.ClosePolicy, "token"},
		"odd token": {edit(func(s map[string]any) { s["customParameters"] = map[string]any{"token": 7} }),
			contract.ClosePolicy, "token"},
		"A-law": {edit(func(s map[string]any) {
			s["mediaFormat"] = map[string]any{"encoding": "audio/x-alaw", "sampleRate": 8000, "channels": 1}
		}), closeUnsupported, "audio/x-alaw"},
		"16 kHz": {edit(func(s map[string]any) {
			s["mediaFormat"] = map[string]any{"encoding": "audio/x-mulaw", "sampleRate": "16000", "channels": 1}
		}), closeUnsupported, "16000 Hz"},
		"no base64": {func(p *provider) {
			p.start(b.token())
			p.send(map[string]any{"event": "media", "media": map[string]any{"payload": "%%"}})
		}, closeBadData, "base64"},
	} {
		p := b.dial(SocketPath)
		c.do(p)
		if code, reason := p.closed(); code != c.code || !strings.Contains(reason, c.want) {
			t.Errorf("%s: %d %q", name, code, reason)
		}
	}
}

// The protocol of WebSockets asks a client that reads for signs of life.
func TestAProviderThatVanishesEndsTheCall(t *testing.T) {
	b := newBoxWith(t, "", ws.Timing{PingEvery: 50 * time.Millisecond, Pong: 200 * time.Millisecond})
	conn, _, err := websocket.Dial(t.Context(), strings.Replace(b.http.URL, "http", "ws", 1)+SocketPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	(&provider{t: t, conn: conn}).start(b.token()) // it reads nothing
	c := b.answered()
	select {
	case <-c.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the call goes on")
	}
	if c.Err() == nil {
		t.Error("it counts as hung up")
	}
}
