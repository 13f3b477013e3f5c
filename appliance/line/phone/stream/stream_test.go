package stream

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

func TestTwiMLConnectsTheCallWithASocketAtTheSameHost(t *testing.T) {
	b := newBox(t, "")
	for _, c := range []struct{ host, proto, want string }{
		{"box.example", "", "wss://box.example" + SocketPath},
		{"box.example:8443", "", "wss://box.example:8443" + SocketPath},
		{"192.0.2.1:8080", "", "wss://192.0.2.1:8080" + SocketPath},
		{"127.0.0.1:8080", "https, http", "wss://127.0.0.1:8080" + SocketPath},
		{"127.0.0.1:8080", "", "ws://127.0.0.1:8080" + SocketPath},
		{"[::1]:8080", "http", "ws://[::1]:8080" + SocketPath},
		{"localhost", "", "ws://localhost" + SocketPath},
	} {
		r := b.request("config_id=c&api_key=secret", nil)
		r.Host = c.host
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		status, x := b.ask(r)
		if status != http.StatusOK || x.Stream.URL != c.want {
			t.Errorf("%+v: %d, %q", c, status, x.Stream.URL)
		}
		if len(x.token()) < 40 || strings.Contains(fmt.Sprint(x), "secret") {
			t.Errorf("%+v", x)
		}
	}
}

func TestTheTicketHasWhatTheProviderSaysOfTheCall(t *testing.T) {
	b := newBox(t, "")
	for _, form := range []url.Values{callerForm(), nil} {
		query := "config_id=c&session_settings[custom_session_id]=s"
		if form == nil {
			query += "&" + callerForm().Encode()
		}
		_, x := b.ask(b.request(query, form))
		p := b.dial(SocketPath)
		p.start(x.token())
		got := b.answered().Ticket()
		if got.Account != "account" || got.Settings.ConfigID != "c" || got.Caller != "+15551234567" ||
			got.Called != "+15557654321" || got.CallSID != "CA1" ||
			got.Settings.SessionSettings.CustomSessionID != "s" {
			t.Errorf("%+v", got)
		}
		if len(got.Twilio) != 14 || got.Twilio["caller_name"] != "A & B" || got.Twilio["from_city"] != "" ||
			got.Twilio["from_number"] != "+15551234567" {
			t.Errorf("%v", got.Twilio)
		}
	}
}

func TestAWithheldNumberIsNoNumber(t *testing.T) {
	for from, want := range map[string]string{
		"+15551234567": "+15551234567",
		" 15551234567": "+15551234567",
		"100":          "100",
		"+266696687":   "",
		"anonymous":    "",
		"client:alice": "",
		"":             "",
		"+1555; drop":  "",
	} {
		if got := number(from); got != want {
			t.Errorf("%q: %q", from, got)
		}
	}
}

func TestABusyBoxRejectsTheCall(t *testing.T) {
	b := newBox(t, "")
	for _, why := range []error{contract.ErrFull{}, contract.ErrTooMany{}, contract.ErrUnavailable{Why: "loading"}} {
		b.busy = fmt.Errorf("reserving: %w", why)
		status, x := b.ask(b.request("", callerForm()))
		if status != http.StatusOK || x.Reject == nil || x.Reject.Reason != "busy" || x.Stream.URL != "" {
			t.Errorf("%v: %d, %+v", why, status, x)
		}
	}
	b.busy = contract.ErrForbidden{}
	if status, _ := b.ask(b.request("", callerForm())); status != http.StatusForbidden {
		t.Errorf("an error that another try does not mend was answered with %d", status)
	}
}

func TestOnlySignedRequestsAreAnsweredWhereATokenIsSet(t *testing.T) {
	b := newBox(t, "12345")
	ask := func(form url.Values, sign func(url string) []byte) int {
		r := b.request("config_id=c", form)
		r.Host = "box.example"
		if sign != nil {
			r.Header.Set(signatureHeader, base64.StdEncoding.EncodeToString(sign(r.URL.RequestURI())))
		}
		status, _ := b.ask(r)
		return status
	}
	form := callerForm()
	for name, c := range map[string]struct {
		form url.Values
		sign func(string) []byte
		want int
	}{
		"POST":      {form, func(u string) []byte { return b.server.sign("https://box.example"+u, form) }, 200},
		"with port": {form, func(u string) []byte { return b.server.sign("https://box.example:443"+u, form) }, 200},
		"GET":       {nil, func(u string) []byte { return b.server.sign("https://box.example"+u, nil) }, 200},
		"none":      {form, nil, 403},
		"wrong":     {form, func(string) []byte { return make([]byte, 20) }, 403},
		"other URL": {form, func(string) []byte { return b.server.sign("https://box.example/", form) }, 403},
		"other form": {form, func(u string) []byte {
			return b.server.sign("https://box.example"+u, url.Values{"From": {"+1"}})
		}, 403},
	} {
		if got := ask(c.form, c.sign); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// The example of https://www.twilio.com/docs/usage/security, whose signature Twilio's libraries test with.
func TestTheSignatureIsThatOfTheProvider(t *testing.T) {
	s := Open(Options{AuthToken: "12345"})
	form := url.Values{
		"CallSid": {"CA1234567890ABCDE"},
		"Caller":  {"+14158675309"},
		"Digits":  {"1234"},
		"From":    {"+14158675309"},
		"To":      {"+18005551212"},
	}
	got := base64.StdEncoding.EncodeToString(s.sign("https://mycompany.com/myapp.php?foo=1&bar=2", form))
	if got != "RSOYDt4T1cUTdK1PDd93/VVr8B8=" {
		t.Error(got)
	}
}

func TestAForgedSocketIsNotOpened(t *testing.T) {
	b := newBox(t, "12345")
	try := func(signature, path string) int {
		h := http.Header{}
		if signature != "" {
			h.Set(signatureHeader, signature)
		}
		conn, answer, err := websocket.Dial(t.Context(), strings.Replace(b.http.URL, "http", "ws", 1)+path,
			&websocket.DialOptions{HTTPHeader: h})
		if err == nil {
			conn.CloseNow()
		}
		return answer.StatusCode
	}
	address := strings.Replace(b.http.URL, "http", "ws", 1) + SocketPath
	right := base64.StdEncoding.EncodeToString(b.server.sign(address+"/", nil))
	if got := try(right, SocketPath); got != 101 {
		t.Errorf("signed: %d", got)
	}
	if got := try("", SocketPath); got != 101 {
		t.Errorf("without a signature: %d", got)
	}
	if got := try("AAAA", SocketPath); got != 403 {
		t.Errorf("wrong signature: %d", got)
	}
	if got := try("", SocketPath+"?token=wrong"); got != 403 {
		t.Errorf("wrong token: %d", got)
	}
}

func TestATokenOpensOneStreamForAMinute(t *testing.T) {
	b := newBox(t, "")
	token := b.token()
	b.dial(SocketPath + "?token=" + token).start("")
	b.answered()
	p := b.dial(SocketPath)
	p.start(token)
	if code, reason := p.closed(); code != contract.ClosePolicy || !strings.Contains(reason, "used before") {
		t.Errorf("a used token: %d %s", code, reason)
	}
	var all tokens
	now := time.Now()
	text, err := all.issue(Ticket{}, now)
	if err != nil || !all.has(text, now.Add(tokenLifetime-time.Second)) {
		t.Error("a new token is not valid", err)
	}
	if _, err := all.redeem(text, now.Add(tokenLifetime)); err == nil {
		t.Error("a token is valid after a minute")
	}
	if len(all.valid) != 0 || len(all.issued) != 0 {
		t.Error("an expired token is stored")
	}
}

func TestAnAccountCannotUseUpTheTokens(t *testing.T) {
	var all tokens
	now := time.Now()
	for range maxTokensEach {
		text, err := all.issue(Ticket{Account: "a"}, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := all.redeem(text, now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all.issue(Ticket{Account: "a"}, now); !isBusy(err) {
		t.Error("no limit:", err)
	}
	if _, err := all.issue(Ticket{Account: "b"}, now); err != nil {
		t.Error("another account:", err)
	}
	if _, err := all.issue(Ticket{Account: "a"}, now.Add(tokenLifetime)); err != nil {
		t.Error("a minute later:", err)
	}
}

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
		{contract.ErrFull{What: "the box has no seat"}, closeTryLater, "the box has no seat"},
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
		"nothing":   {func(*provider) {}, contract.ClosePolicy, "no start message within 300ms"},
		"no JSON":   {func(p *provider) { p.text("hello") }, closeBadData, "not a JSON object"},
		"a list":    {func(p *provider) { p.text("[]") }, closeBadData, "not a JSON object"},
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
	eventually(t, "no socket counts as open", func() bool { return b.server.unstarted.Load() == 0 })
}

func TestUnstartedSocketsAreBounded(t *testing.T) {
	b := newBox(t, "")
	b.server.unstarted.Store(maxUnstarted)
	_, answer, err := websocket.Dial(t.Context(), strings.Replace(b.http.URL, "http", "ws", 1)+SocketPath, nil)
	if err == nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%v", answer)
	}
}
