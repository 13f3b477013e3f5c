package media

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	pionrtp "github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/line/rtp"
)

const (
	// minPause is how long no packet has to come for the far end to count as silent. Most
	// telephones send all the time, and packets that a wireless network holds up for a fifth of
	// a second must not become a hole in a word. pauseStep is the interval of further silence.
	minPause  = 250 * time.Millisecond
	pauseStep = 100 * time.Millisecond
	// pollInterval is the shortest read timeout: with a deadline in the past, reading returns
	// no waiting packets.
	pollInterval = 10 * time.Millisecond
	// moveTime is how long packets may go on to come from an earlier address after a new
	// description, before the box goes on to send there.
	moveTime = 500 * time.Millisecond
	// maxUnheard bounds the sound that waits while the listener blocks, in packets: ten
	// seconds, which is more than any pause that a chat waits for.
	maxUnheard = 500
	// maxReceived bounds a received packet. Longer ones are dropped: no network carries them
	// whole, and no codec of the box needs a fifth of it.
	maxReceived = 2048
)

// receiver receives the packets of the far end.
type receiver struct {
	s     *Session
	lossy atomic.Bool // the far end reports lost packets
	sound chan []float32

	gate   gate // this and the next fields are used by the goroutine that receives RTP
	buffer *rtp.JitterBuffer
	codec  codec // of buffer
	keys   presses
	since  time.Time // time of the newest sound or silence
	silent bool      // the newest was silence
	packet pionrtp.Packet
	clear  []byte

	mu        sync.Mutex // guards reception
	reception reception

	reporting sync.Mutex // one packet of reports at a time
}

func newReceiver(s *Session) *receiver {
	return &receiver{s: s, sound: make(chan []float32, maxUnheard)}
}

// run receives RTP packets until the session ends.
func (r *receiver) run() {
	packet := make([]byte, maxReceived)
	r.since = time.Now()
	for {
		now := time.Now()
		deadline := r.since.Add(r.patience())
		if soon := now.Add(pollInterval); deadline.Before(soon) {
			deadline = soon
		}
		_ = r.s.sockets.rtp.SetReadDeadline(deadline) // a closed socket is noticed below
		n, from, err := r.s.sockets.rtp.ReadFromUDPAddrPort(packet)
		now = time.Now()
		switch {
		case err == nil && n < maxReceived:
			r.s.protect(func() { r.receive(packet[:n], unmapped(from), now) })
		case errors.Is(err, net.ErrClosed):
			return
		}
		if now.Sub(r.since) >= r.patience() { // also while packets come that are not the far end's
			r.s.protect(func() { r.pause(now) })
		}
	}
}

// patience returns how long no packet has to come for silence to be inserted.
func (r *receiver) patience() time.Duration {
	if r.silent {
		return pauseStep
	}
	return minPause
}

// protect runs do. A panic, which only a packet of a kind that nobody thought of can cause,
// costs that packet and not the program.
func (s *Session) protect(do func()) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a packet of a call caused a panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	do()
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// receive takes a packet from the RTP port. Its first byte tells what it is (RFC 7983).
func (r *receiver) receive(packet []byte, from netip.AddrPort, now time.Time) {
	a := r.s.agreed.Load()
	if a == nil || len(packet) < 2 {
		return
	}
	switch first := packet[0]; {
	case first >= 20 && first <= 63:
		if n := a.association; n != nil {
			if n.follow(from, a.remote.rtp) {
				r.s.latch(a, from)
			}
			n.receive(packet)
		}
	case first>>6 != 2:
	case packet[1] >= 192 && packet[1] <= 223: // RTCP (RFC 5761, section 4)
		if a.mux {
			r.receiveReports(packet, from, now)
		}
	default:
		r.receiveRTP(a, packet, from, now)
	}
}

// receiveRTP takes an RTP packet.
func (r *receiver) receiveRTP(a *agreement, packet []byte, from netip.AddrPort, now time.Time) {
	c, isCodec := a.codecs[packet[1]&0x7f]
	if !isCodec && !a.isOther(packet[1]&0x7f) {
		return
	}
	k, ready := a.crypto()
	if !ready {
		return
	}
	if k != nil {
		var err error
		if r.clear, err = k.in.DecryptRTP(r.clear[:0], packet, nil); err != nil {
			return
		}
		packet = r.clear
	}
	r.packet = pionrtp.Packet{}
	p := &r.packet
	if p.Unmarshal(packet) != nil {
		return
	}
	ok, changed := r.gate.admit(source{from, p.SSRC}, p.SequenceNumber, a.remote.rtp, k != nil, now)
	if !ok {
		return
	}
	if changed {
		r.deliver(a, r.flush())
		r.buffer, r.keys = nil, presses{}
	}
	if changed || r.s.target.Load().rtp != from && now.Sub(a.since) > moveTime {
		r.s.latch(a, from)
	}
	r.s.note(now)
	r.note(p, c.clockHz, changed, now)
	if !isCodec {
		if key, ok := r.pressed(a, p); ok {
			r.press(key)
		}
		p.Payload = nil // silence, to the ear
		c = a.codec
		if r.buffer != nil {
			c = r.codec
		}
	}
	if err := r.prepare(a, c); err != nil {
		r.s.log.Error("cannot decode the sound of a call", "err", err)
		return
	}
	r.since, r.silent = now, false
	r.deliver(a, r.buffer.Push(p))
}

// isOther reports whether a payload type is a key press or comfort noise.
func (a *agreement) isOther(payloadType uint8) bool {
	if a.events[payloadType] != 0 {
		return true
	}
	for _, n := range a.noise {
		if n == payloadType {
			return true
		}
	}
	return false
}

// pressed returns the key that a packet presses.
func (r *receiver) pressed(a *agreement, p *pionrtp.Packet) (rune, bool) {
	if a.events[p.PayloadType] == 0 {
		return 0, false
	}
	return r.keys.press(p)
}

func (r *receiver) press(key rune) {
	if l := r.s.listens.Load(); l != nil {
		l.press(key)
	}
}

// prepare makes the buffer one for a codec.
func (r *receiver) prepare(a *agreement, c codec) error {
	if r.buffer != nil && r.codec == c {
		return nil
	}
	d, err := c.decoder()
	if err != nil {
		return err
	}
	r.deliver(a, r.flush())
	r.buffer, r.codec = rtp.NewJitterBuffer(d, rtp.Format{ClockHz: c.clockHz, Frame: usualFrame}), c
	return nil
}

// flush returns the sound of the packets that wait for others.
func (r *receiver) flush() []float32 {
	if r.buffer == nil {
		return nil
	}
	return r.buffer.Flush()
}

// pause inserts silence when no packets come.
func (r *receiver) pause(now time.Time) {
	a := r.s.agreed.Load()
	passed := now.Sub(r.since)
	r.since, r.silent = now, true
	if a == nil {
		return
	}
	r.s.checkSilence(a, now)
	if r.buffer == nil {
		r.deliver(a, make([]float32, audio.Samples(passed, engine.SpeechRateHz)))
		return
	}
	r.deliver(a, append(r.buffer.Flush(), r.buffer.Silence(passed)...))
}

// deliver queues sound for the listener. While the far end holds the box, what comes is music
// for waiting, which nobody hears.
func (r *receiver) deliver(a *agreement, pcm []float32) {
	if len(pcm) == 0 || r.s.listens.Load() == nil || !a.sends {
		return
	}
	select {
	case r.sound <- pcm:
	default: // the listener has blocked for too long
	}
}

// runListener passes sound to the listener until the session ends. The listener may block, and
// the packets still have to be taken when they come.
func (r *receiver) runListener() {
	for {
		select {
		case pcm := <-r.sound:
			r.s.listens.Load().hear(pcm)
		case <-r.s.done.Done():
			return
		}
	}
}

// latch sends to the address from which packets come (symmetric RTP, RFC 4961): behind a
// router it is another one than in the description.
func (s *Session) latch(a *agreement, from netip.AddrPort) {
	s.retarget(func(t *targets) {
		switch {
		case a.mux:
			t.rtcp = from
		case from.Addr() != t.rtcp.Addr():
			t.rtcp = netip.AddrPortFrom(from.Addr(), from.Port()+1) // until its reports come
		}
		t.rtp = from
	})
}

// retarget changes the addresses to which packets are sent.
func (s *Session) retarget(change func(t *targets)) {
	for {
		before := s.target.Load()
		after := *before
		change(&after)
		if after == *before || s.target.CompareAndSwap(before, &after) {
			return
		}
	}
}
