package webrtc

import (
	"context"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"
	"go.uber.org/goleak"

	"parley/appliance/audio"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
)

// desk is a host whose sessions a test controls.
type desk struct {
	opened  chan *talk
	refuses error
	rests   func()

	mu    sync.Mutex
	taken int
}

func (d *desk) Reserve(string) (line.Slot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken++
	return &chair{d: d}, nil
}

func (d *desk) seats() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.taken
}

type chair struct {
	d    *desk
	once sync.Once
}

func (c *chair) Release() {
	c.once.Do(func() {
		c.d.mu.Lock()
		defer c.d.mu.Unlock()
		c.d.taken--
	})
}

func (c *chair) Open(_ context.Context, o connection.Opening) (line.Session, error) {
	if c.d.refuses != nil {
		return nil, c.d.refuses
	}
	t := &talk{
		Opening: o,
		heard:   make(chan []float32, 9000),
		rests:   c.d.rests,
		got:     make(chan contract.ClientMessage, 99),
		faults:  make(chan string, 99),
		far:     make(chan time.Duration, 999),
		done:    make(chan struct{}),
		chair:   c,
	}
	c.d.opened <- t
	return t, nil
}

// talk is a session that records what it gets.
type talk struct {
	connection.Opening
	heard  chan []float32
	rests  func() // delays callers that send sound; nil: no delay
	got    chan contract.ClientMessage
	faults chan string
	far    chan time.Duration
	done   chan struct{}
	once   sync.Once
	chair  *chair
}

func (t *talk) Receive(m contract.ClientMessage) error { t.got <- m; return nil }
func (t *talk) Audio() *contract.AudioConfiguration    { return nil }
func (t *talk) Hear(pcm []float32) error {
	t.heard <- pcm
	if t.rests != nil {
		t.rests()
	}
	return nil
}
func (t *talk) Played(_ string, upTo time.Duration) { t.far <- upTo }
func (t *talk) Fault(c contract.Code, detail string) error {
	t.faults <- string(c) + " " + detail
	return nil
}
func (t *talk) Done() <-chan struct{} { return t.done }
func (t *talk) HangUp()               { t.end(contract.CloseNormal, "") }
func (t *talk) CutOff(error)          { t.end(contract.CloseNormal, "") }
func (t *talk) end(code int, reason string) {
	t.once.Do(func() {
		t.Line.Close(code, reason)
		t.chair.Release()
		close(t.done)
	})
}

// phone is a server of calls with its host.
type phone struct {
	*desk
	server  *Server
	http    *httptest.Server
	between *wifi // and its clients; nil: no network simulation
	pass    pass

	answered func(string) string // changes an answer for the client
	offered  func(string) string // changes an offer for the box; nil: unchanged
}

var quiet = slog.New(slog.DiscardHandler)

// calls returns how many calls the server has.
func (p *phone) calls() int {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	return len(p.server.calls)
}

// pass is an authorization that is revoked when its context ends.
type pass struct {
	context.Context
	permits func(contract.ClientMessage) error // nil: permits everything
}

func (p pass) Check(context.Context) error { return nil }

func (p pass) Permits(m contract.ClientMessage) error {
	if p.permits == nil {
		return nil
	}
	return p.permits(m)
}

func (p pass) Watch() (context.Context, func()) { return p.Context, func() {} }

func start(t *testing.T, timing Timing) *phone {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	d := &desk{opened: make(chan *talk, 9)}
	s, err := Open(d, Network{Address: "127.0.0.1:0"}, timing, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, d, s)
}

func startOn(t *testing.T, d *desk, s *Server) *phone {
	t.Helper()
	l := &phone{
		desk:     d,
		server:   s,
		pass:     pass{Context: context.Background()},
		answered: func(answer string) string { return answer },
	}
	l.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		id := strings.TrimPrefix(r.URL.Path, "/call/")
		if l.offered != nil && r.Method == http.MethodPost {
			all, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(l.offered(string(all))))
		}
		switch r.Method {
		case http.MethodPost:
			w.Header().Set("X-Request-Id", "req-1")
			err = s.Answer(w, r, "acme", func(id string) string { return "/call/" + id }, l.pass)
		case http.MethodPatch:
			err = s.Change(w, r, "acme", id)
		case http.MethodDelete:
			err = s.HangUp("acme", id)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		l.http.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		if n := d.seats(); n != 0 {
			t.Errorf("%d seats were not given back", n)
		}
	})
	return l
}

// caller is a client.
type caller struct {
	*pion.PeerConnection
	at       string // of the call
	messages chan string
	packets  chan *rtp.Packet
	voice    *pion.TrackLocalStaticRTP
	words    *pion.DataChannel
}

// dial makes a call. before changes the client before its offer.
func (l *phone) dial(t *testing.T, query string, before ...func(*caller) error) *caller {
	t.Helper()
	pc, err := pion.NewPeerConnection(pion.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{PeerConnection: pc, messages: make(chan string, 99), packets: make(chan *rtp.Packet, 9000)}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	if c.voice, err = pion.NewTrackLocalStaticRTP(opus, "mic", "caller"); err != nil {
		t.Fatal(err)
	}
	if _, err := pc.AddTrack(c.voice); err != nil {
		t.Fatal(err)
	}
	if c.words, err = pc.CreateDataChannel(channelLabel, nil); err != nil {
		t.Fatal(err)
	}
	for _, does := range before {
		if err := does(c); err != nil {
			t.Fatal(err)
		}
	}
	c.words.OnMessage(func(m pion.DataChannelMessage) { c.messages <- string(m.Data) })
	pc.OnTrack(func(track *pion.TrackRemote, _ *pion.RTPReceiver) {
		for {
			p, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			c.packets <- p
		}
	})
	answer, at := c.offer(t, http.MethodPost, l.http.URL+"/call/?"+query, nil)
	c.at = l.http.URL + at
	if answer = l.answered(answer); l.between != nil {
		answer = l.between.through(answer, l.server.Port())
	}
	if err := pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	return c
}

// offer sends an offer and returns the answer.
func (c *caller) offer(t *testing.T, method, to string, o *pion.OfferOptions) (answer, at string) {
	t.Helper()
	offer, err := c.CreateOffer(o)
	if err != nil {
		t.Fatal(err)
	}
	gathered := pion.GatheringCompletePromise(c.PeerConnection)
	if err := c.SetLocalDescription(offer); err != nil {
		t.Fatal(err)
	}
	got(t, gathered)
	code, answer, at := bring(t, method, to, sdpType, c.LocalDescription().SDP)
	if code != http.StatusCreated && code != http.StatusOK {
		t.Fatalf("answered with %d: %s", code, answer)
	}
	return answer, at
}

// bring sends a body to an address, and returns the status, the body and the location of
// the answer.
func bring(t *testing.T, method, to, typ, body string) (code int, answer, at string) {
	t.Helper()
	code, answer, head := asks(t, method, to, typ, body, "")
	return code, answer, head.Get("Location")
}

// asks is bring with an If-Match header, unless state is empty, and returns all headers of
// the answer.
func asks(t *testing.T, method, to, typ, body, state string) (code int, answer string, head http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", typ)
	if state != "" {
		req.Header.Set("If-Match", state)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(all), res.Header
}

// got waits for a value that must come.
func got[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("it did not come within 30 s")
		panic("unreachable")
	}
}

// vowel returns a sound like a voice: harmonics of a tone that rises and falls in pitch and
// loudness. A steady tone would count as noise, which is not sent.
func vowel(d time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(d, audio.CallRateHz))
	phase := 0.0
	for i := range pcm {
		at := float64(i) / audio.CallRateHz
		phase += 2 * math.Pi * (140 + 40*math.Sin(2*math.Pi*3*at)) / audio.CallRateHz
		for k := 1.0; k <= 10; k++ {
			pcm[i] += float32(math.Sin(k*phase) / k * (0.3 + 0.1*math.Sin(2*math.Pi*4*at)))
		}
	}
	return pcm
}

// level returns the root mean square.
func level(pcm []float32) float64 {
	var sum float64
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(pcm)))
}
