package webrtc

import (
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// wifi is a bad network between one client and the box: it loses five of a hundred packets
// in both directions, and delays the others by up to 50 ms, out of order.
type wifi struct {
	inner, outer net.PacketConn
	box          net.Addr
	loss         float64
	drops        func(packet []byte) bool // packets to drop; nil: only random loss
	jitter       time.Duration

	mu      sync.Mutex
	client  net.Addr
	closed  bool
	random  *rand.Rand
	dropped int
	workers sync.WaitGroup
}

func newWifi(t *testing.T, port string) *wifi {
	t.Helper()
	socket := func() net.PacketConn {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	at, err := net.ResolveUDPAddr("udp4", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	w := &wifi{
		inner:  socket(),
		outer:  socket(),
		box:    at,
		random: rand.New(rand.NewPCG(1, 2)),
	}
	w.workers.Go(func() { w.carry(w.outer, true) })
	w.workers.Go(func() { w.carry(w.inner, false) })
	t.Cleanup(func() {
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		_ = w.outer.Close()
		_ = w.inner.Close()
		w.workers.Wait()
	})
	return w
}

// worsen sets the loss and the jitter.
func (w *wifi) worsen(loss float64, jitter time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loss, w.jitter = loss, jitter
}

// move gives the client another address, as a change of networks does.
func (w *wifi) move(t *testing.T) {
	t.Helper()
	other, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.inner.Close()
	w.inner = other
	w.workers.Go(func() { w.carry(other, false) })
}

// refuse drops the packets for which drops is true.
func (w *wifi) refuse(drops func(packet []byte) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drops = drops
}

func (w *wifi) carry(from net.PacketConn, fromClient bool) {
	buf := make([]byte, 4096)
	for {
		n, addr, err := from.ReadFrom(buf)
		if err != nil {
			return
		}
		packet := append([]byte(nil), buf[:n]...)
		w.mu.Lock()
		if fromClient {
			w.client = addr
		}
		to, out := w.box, w.inner
		if !fromClient {
			to, out = w.client, w.outer
		}
		if w.drops != nil && w.drops(packet) {
			w.mu.Unlock()
			continue
		}
		media := n > 0 && packet[0] >= 128 && packet[0] < 192 // RTP (RFC 7983)
		if media && w.random.Float64() < w.loss {
			w.dropped++
			w.mu.Unlock()
			continue
		}
		late := time.Duration(0)
		if media && w.jitter > 0 {
			late = time.Duration(w.random.Int64N(int64(w.jitter)))
		}
		if !w.closed && to != nil {
			w.workers.Add(1)
			time.AfterFunc(late, func() {
				defer w.workers.Done()
				_, _ = out.WriteTo(packet, to)
			})
		}
		w.mu.Unlock()
	}
}

// through changes the addresses of an answer to those of the network.
func (w *wifi) through(answer, port string) string {
	own := strconv.Itoa(w.outer.LocalAddr().(*net.UDPAddr).Port)
	return strings.ReplaceAll(answer, " "+port+" typ host", " "+own+" typ host")
}

// whole fails the test if speech has holes: 40 ms of near silence.
func whole(t *testing.T, what string, pcm []float32, want float64) {
	t.Helper()
	if got := level(pcm); got < want*0.75 || got > want*1.25 {
		t.Errorf("%s is heard with a level of %.3f, want %.3f", what, got, want)
	}
	const hole = engine.SpeechRateHz * 40 / 1000
	for i := 0; i+hole <= len(pcm); i += hole {
		if l := level(pcm[i : i+hole]); l < want/10 {
			t.Errorf("%s has a hole at %d ms: %.4f", what, i*1000/engine.SpeechRateHz, l)
		}
	}
}

func TestACallSurvivesABadNetwork(t *testing.T) {
	l := start(t, Timing{})
	w := newWifi(t, l.server.Port())
	l.between = w
	c := l.dial(t, "")
	s := got(t, l.opened)
	w.worsen(0.05, 50*time.Millisecond)

	const length = 5 * time.Second
	said := vowel(length)
	if err := s.Line.Play(t.Context(), contract.Sound{ID: "a", PCM: said, Last: true}); err != nil {
		t.Fatal(err)
	}
	h, err := newJitterBuffer()
	if err != nil {
		t.Fatal(err)
	}
	var heard []float32
	for last := time.Duration(0); last < length-300*time.Millisecond; {
		p := got(t, c.packets)
		heard = append(heard, h.Push(p)...)
		last = time.Duration(len(heard)) * time.Second / engine.SpeechRateHz
	}
	whole(t, "the assistant", heard[1600:], level(said))

	late, newest := time.Duration(0), time.Now()
	c.speak(t, said, 100, func(int) bool {
		time.Sleep(audio.CallFrame - time.Millisecond)
		late, newest = max(late, time.Since(newest)), time.Now()
		return false
	})
	var ear []float32
	for len(ear) < audio.Samples(length-300*time.Millisecond, engine.SpeechRateHz) {
		ear = append(ear, got(t, s.heard)...)
	}
	if late > minPause/2 { // a busy machine speaks with pauses, which arrive as silence
		ear = slices.DeleteFunc(ear, func(v float32) bool { return v == 0 })
	}
	whole(t, "the user", ear[1600:], level(said))
	w.worsen(0, 0)
	if w.dropped < 10 {
		t.Errorf("only %d packets were lost", w.dropped)
	}
	s.end(contract.CloseNormal, "")
}
