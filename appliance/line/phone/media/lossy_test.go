package media

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/appliance/engine"
)

// network is a bad network between two ends: it loses and delays RTP packets both ways.
type network struct {
	sides  [2]side // facing the one who offers, and the one who answers
	loss   float64
	jitter time.Duration

	mu      sync.Mutex
	random  *rand.Rand
	dropped int
	closed  bool
	workers sync.WaitGroup
}

// side is a socket of a network and the end that it faces.
type side struct {
	socket *net.UDPConn
	faces  netip.AddrPort
}

func newNetwork(t *testing.T, loss float64, jitter time.Duration) *network {
	t.Helper()
	w := &network{
		loss:   loss,
		jitter: jitter,
		random: rand.New(rand.NewPCG(3, 4)),
	}
	for i := range w.sides {
		socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback.AsSlice()})
		if err != nil {
			t.Fatal(err)
		}
		w.sides[i].socket = socket
	}
	t.Cleanup(func() {
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		for _, s := range w.sides {
			_ = s.socket.Close()
		}
		w.workers.Wait()
	})
	return w
}

// between puts the network between an end, which a description is of, and the other one.
func (w *network) between(t *testing.T, side int, description string) string {
	t.Helper()
	d, err := parse([]byte(description))
	if err != nil {
		t.Fatal(err)
	}
	w.sides[side].faces, _, _ = d.addresses(d.sections[0], loopback)
	entry := w.sides[1-side].socket.LocalAddr().(*net.UDPAddr).Port
	return strings.Replace(description, "m=audio "+strconv.Itoa(int(d.sections[0].port))+" ",
		"m=audio "+strconv.Itoa(entry)+" ", 1)
}

// carry carries packets that come to one side out of the other one.
func (w *network) carry(from int) {
	out := w.sides[1-from]
	buffer := make([]byte, 4096)
	for {
		n, _, err := w.sides[from].socket.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		packet := append([]byte(nil), buffer[:n]...)
		w.mu.Lock()
		if w.random.Float64() < w.loss {
			w.dropped++
			w.mu.Unlock()
			continue
		}
		late := time.Duration(0)
		if w.jitter > 0 {
			late = time.Duration(w.random.Int64N(int64(w.jitter)))
		}
		if !w.closed {
			w.workers.Add(1)
			time.AfterFunc(late, func() {
				defer w.workers.Done()
				_, _ = out.socket.WriteToUDPAddrPort(packet, out.faces)
			})
		}
		w.mu.Unlock()
	}
}

// through lets a offer a call to b through a network.
func through(t *testing.T, w *network, a, b *end, change func(string) string) {
	t.Helper()
	offer, err := a.Offer()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := b.Answer([]byte(w.between(t, 0, change(string(offer)))))
	if err != nil {
		t.Fatal(err)
	}
	answer = []byte(w.between(t, 1, string(answer)))
	w.workers.Go(func() { w.carry(0) })
	w.workers.Go(func() { w.carry(1) })
	if err := a.Accept(answer); err != nil {
		t.Fatal(err)
	}
}

// lateness begins to watch the machine. The function that it returns tells by how much a timer
// was late at most.
func lateness(t *testing.T) (most func() time.Duration) {
	t.Helper()
	var worst atomic.Int64
	go func() {
		for t.Context().Err() == nil {
			begun := time.Now()
			time.Sleep(5 * time.Millisecond)
			worst.Store(max(worst.Load(), int64(time.Since(begun)-5*time.Millisecond)))
		}
	}()
	return func() time.Duration { return time.Duration(worst.Load()) }
}

func TestAVoiceHasNoHolesAtALossOfThreeInAHundred(t *testing.T) {
	t.Parallel()
	const length = 4 * time.Second
	late, want := lateness(t), level(vowel(time.Second))
	var ears []*end
	var networks []*network
	for _, c := range codecs() {
		a, b := newEnd(t, options()), newEnd(t, options())
		w := newNetwork(t, 0.03, 50*time.Millisecond) // up to two packets later than the next ones
		through(t, w, a, b, only(c.name))
		say(t, b, "b", length)
		ears, networks = append(ears, a), append(networks, w)
	}
	for i, c := range codecs() {
		t.Run(c.name, func(t *testing.T) {
			ears[i].until(t, "the voice", func() bool {
				return len(voiced(ears[i].heard())) > int(length.Seconds()*engine.SpeechRateHz)*95/100
			})
			got := voiced(ears[i].heard())
			if late() > minPause/2 { // a busy machine speaks with pauses, which arrive as silence
				got = slices.DeleteFunc(got, func(v float32) bool { return v == 0 })
			}
			const hole = engine.SpeechRateHz * 40 / 1000
			for i := 0; i+hole <= len(got); i += hole / 4 {
				if l := level(got[i : i+hole]); l < want/10 {
					t.Errorf("there is a hole at %d ms: %.4f", i*1000/engine.SpeechRateHz, l)
				}
			}
			if networks[i].dropped < 3 {
				t.Errorf("only %d packets were lost", networks[i].dropped)
			}
			if s := ears[i].Stats(); s.PacketsLost == 0 || s.JitterMS < 2 {
				t.Errorf("the figures tell of no loss or jitter: %+v", s)
			}
		})
	}
}

// Each key arrives once, whichever of its packets are lost.
func TestKeysArriveOnceAtALossOfAThird(t *testing.T) {
	t.Parallel()
	a, b := newEnd(t, options()), newEnd(t, options())
	through(t, newNetwork(t, 0.33, 30*time.Millisecond), a, b, only("PCMU"))
	const keys = "12*#1100"
	if err := b.Press(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	a.until(t, "all keys", func() bool { return len(a.pressed()) >= len(keys) })
	time.Sleep(100 * time.Millisecond)
	if got := a.pressed(); got != keys {
		t.Errorf("of %s arrived %s", keys, got)
	}
}
