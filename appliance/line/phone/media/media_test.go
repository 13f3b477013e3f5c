package media

import (
	"log/slog"
	"math"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line/rtp"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// end is one side of a call, and what it hears.
type end struct {
	*Session
	mu   sync.Mutex
	pcm  []float32
	keys string
	came chan struct{} // receives when something was heard or pressed
}

func options() Options {
	return Options{
		Ports:  Ports{30000, 39999},
		Listen: loopback,
		Clock:  rtp.NewClock(),
		Log:    slog.New(slog.DiscardHandler),
	}
}

// newEnd opens a side of a call that listens.
func newEnd(t *testing.T, o Options) *end {
	t.Helper()
	return endAt(t, o, loopback)
}

// endAt opens a side of a call with a peer.
func endAt(t *testing.T, o Options, peer netip.Addr) *end {
	t.Helper()
	s, err := New(o, peer)
	if err != nil {
		t.Fatal(err)
	}
	e := &end{Session: s, came: make(chan struct{}, 1)}
	note := func(what func()) {
		e.mu.Lock()
		what()
		e.mu.Unlock()
		select {
		case e.came <- struct{}{}:
		default:
		}
	}
	s.Listen(func(pcm []float32) {
		note(func() { e.pcm = append(e.pcm, pcm...) })
	}, func(key rune) { note(func() { e.keys += string(key) }) })
	t.Cleanup(func() {
		s.Close()
		s.workers.Wait()
	})
	return e
}

// heard returns what was heard so far.
func (e *end) heard() []float32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]float32(nil), e.pcm...)
}

// pressed returns the keys so far.
func (e *end) pressed() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.keys
}

// until waits until something about an end is true.
func (e *end) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for !is() {
		select {
		case <-e.came:
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			t.Fatalf("not after 10 s: %s", what)
		}
	}
}

// connect lets a offer a call and b answer it. change edits the offer.
func connect(t *testing.T, a, b *end, change func(offer string) string) {
	t.Helper()
	offer, err := a.Offer()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.Answer([]byte(change(string(offer))))
	if err != nil {
		t.Fatalf("%v; the offer is\n%s", err, change(string(offer)))
	}
	if err := a.Accept(answer); err != nil {
		t.Fatalf("%v; the answer is\n%s", err, answer)
	}
}

// only returns a change of an offer to one codec.
func only(name string) func(string) string {
	return func(offer string) string {
		var kept []string
		number := ""
		for line := range strings.Lines(offer) {
			if n, ok := strings.CutPrefix(line, "a=rtpmap:"); ok && strings.Contains(line, " "+name+"/") {
				number, _, _ = strings.Cut(n, " ")
			}
		}
		for line := range strings.Lines(offer) {
			if strings.HasPrefix(line, "m=audio") {
				f := strings.Fields(line)
				line = strings.Join(append(f[:3], number, "101", "110", "13"), " ") + "\r\n"
			}
			kept = append(kept, line)
		}
		return strings.Join(kept, "")
	}
}

// vowel returns a sound with the overtones of a voice, at contract.OutputRateHz.
func vowel(d time.Duration) []float32 {
	pcm := make([]float32, audio.Samples(d, contract.OutputRateHz))
	for i := range pcm {
		at := float64(i) / contract.OutputRateHz
		for _, h := range []struct{ hz, level float64 }{{150, 0.2}, {450, 0.15}, {750, 0.1}, {1500, 0.05}} {
			pcm[i] += float32(h.level * math.Sin(2*math.Pi*h.hz*at))
		}
	}
	return pcm
}

// level returns the root of the mean square.
func level(pcm []float32) float64 {
	sum := 0.0
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(pcm))))
}

// voiced returns the part of a sound from the first loud millisecond to the last.
func voiced(pcm []float32) []float32 {
	const n = engine.SpeechRateHz / 1000
	first, last := -1, 0
	for i := 0; i+n <= len(pcm); i += n {
		if level(pcm[i:i+n]) > 0.05 {
			if first < 0 {
				first = i
			}
			last = i + n
		}
	}
	if first < 0 {
		return nil
	}
	return pcm[first:last]
}

func say(t *testing.T, e *end, id string, d time.Duration) {
	t.Helper()
	if err := e.Play(contract.Sound{ID: id, PCM: vowel(d), Last: true}); err != nil {
		t.Fatal(err)
	}
}

func TestBothSidesHearEachOtherWithEveryCodec(t *testing.T) {
	t.Parallel()
	late := lateness(t)
	var ends []*end
	for _, c := range codecs() {
		a, b := newEnd(t, options()), newEnd(t, options())
		connect(t, a, b, only(c.name))
		say(t, a, "a", time.Second)
		say(t, b, "b", time.Second)
		ends = append(ends, a, b)
	}
	for i, e := range ends {
		name := codecs()[i/2].name
		e.until(t, "a second of voice", func() bool {
			return len(voiced(e.heard())) > engine.SpeechRateHz*98/100
		})
		got := voiced(e.heard())
		if len(got) > engine.SpeechRateHz*110/100 && late() < minPause/2 {
			t.Errorf("%s: a second is heard as %d ms", name, len(got)/16)
		}
		if s := e.Stats(); s.Codec != name || s.PacketsReceived < 30 || s.PacketsLost != 0 || s.Encrypted {
			t.Errorf("%s: the figures are %+v", name, s)
		}
	}
}

func TestKeysArePressedAtTheFarEnd(t *testing.T) {
	t.Parallel()
	const keys = "11*0#D"
	var pressing sync.WaitGroup
	var ends []*end
	for _, c := range codecs() {
		a, b := newEnd(t, options()), newEnd(t, options())
		connect(t, a, b, only(c.name))
		pressing.Go(func() {
			if err := a.Press(t.Context(), keys); err != nil {
				t.Error(err)
			}
			if err := a.Press(t.Context(), "1x"); err == nil {
				t.Error("a key is pressed that no telephone has")
			}
		})
		ends = append(ends, b)
	}
	pressing.Wait()
	for i, b := range ends {
		b.until(t, "all keys", func() bool { return len(b.pressed()) >= len(keys) })
		if got := b.pressed(); got != keys {
			t.Errorf("%s: of %s arrived %s", codecs()[i].name, keys, got)
		}
	}
}

// The answer names an address of the family that the offer names, whatever the signalling uses.
func TestTheAnswerHasTheFamilyOfTheOffer(t *testing.T) {
	o := options()
	o.Listen = netip.Addr{}
	e := endAt(t, o, netip.IPv6Loopback())
	answer, err := e.Answer([]byte(head + "m=audio 4000 RTP/AVP 0\r\n"))
	if err != nil || !strings.Contains(string(answer), "c=IN IP4 127.0.0.1\r\n") {
		t.Errorf("the answer is (%v)\n%s", err, answer)
	}
}

// A listener that blocks delays nothing but itself, and loses no sound.
func TestAListenerMayBlock(t *testing.T) {
	late := lateness(t)
	f, e := newFar(t), newEnd(t, options())
	f.offer(t, e, "m=audio PORT RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000")
	heard, keys := make(chan int, 1000), make(chan rune, 1)
	block := make(chan struct{})
	e.Listen(func(pcm []float32) {
		<-block
		if level(pcm) > 0.05 {
			heard <- len(pcm)
		}
	}, func(key rune) { keys <- key })
	for range 30 {
		f.send(t, 0, loud())
		time.Sleep(20 * time.Millisecond)
	}
	f.send(t, 101, eventOf(7, true, 10, 160))
	if key := <-keys; key != '7' {
		t.Errorf("the key is %c", key)
	}
	if ms := e.Stats().JitterMS; ms > 10 && late() < 20*time.Millisecond {
		t.Errorf("the jitter is %.1f ms", ms)
	}
	close(block)
	for n := 0; n < 29*320; {
		select {
		case more := <-heard:
			n += more
		case <-time.After(5 * time.Second):
			t.Fatalf("of 600 ms %d ms are heard", n/16)
		}
	}
}

// A far end with IPv6 is reached by IPv6, also from sockets at all addresses.
func TestCallsWorkOverIPv6(t *testing.T) {
	six := netip.IPv6Loopback()
	for _, listen := range []netip.Addr{six, {}} {
		o := options()
		o.Listen = listen
		a, b := endAt(t, o, six), endAt(t, o, six)
		connect(t, a, b, func(offer string) string {
			if !strings.Contains(offer, "c=IN IP6 ::1\r\n") {
				t.Errorf("the offer is\n%s", offer)
			}
			return offer
		})
		say(t, a, "a", 300*time.Millisecond)
		b.until(t, "the voice", func() bool { return len(voiced(b.heard())) > engine.SpeechRateHz*27/100 })
	}
}
