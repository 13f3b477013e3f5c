package rtp

import (
	"slices"
	"time"

	"github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

const (
	// maxWait bounds the sound that waits for a missing packet. A packet that comes later
	// is nearly always lost.
	maxWait = 60 * time.Millisecond
	// maxWaiting bounds the waiting packets, whatever their timestamps: 60 ms at 5 ms each.
	maxWaiting = 12
	// maxConcealed bounds the concealment of consecutive lost packets. Beyond it the codec
	// has nothing to extrapolate, and silence is inserted.
	maxConcealed = 100 * time.Millisecond
	// maxGap is the longest pause between packets that is filled with silence. After a longer
	// one the stream starts anew.
	maxGap = 10 * time.Second
)

// JitterBuffer orders the packets of a client's voice and decodes them without gaps: it
// conceals lost packets, and inserts silence where the client sent none. One goroutine uses
// it.
type JitterBuffer struct {
	decoder Decoder
	format  Format
	waiting []*rtp.Packet // in order, without the next one
	begun   bool
	next    uint16        // expected sequence number
	clock   uint32        // end of the sound so far
	frame   time.Duration // length of the newest packet, 10 to 60 ms at the client's choice
	lost    int           // number of concealed packets
}

// NewJitterBuffer returns an empty buffer for one stream.
func NewJitterBuffer(d Decoder, f Format) *JitterBuffer {
	return &JitterBuffer{decoder: d, format: f, frame: f.Frame}
}

// Push adds a packet and returns the sound that is complete, mono at engine.SpeechRateHz,
// which the caller owns. The caller also keeps p: a packet that waits is copied.
func (h *JitterBuffer) Push(p *rtp.Packet) []float32 {
	if !h.begun {
		h.begun, h.next, h.clock = true, p.SequenceNumber, p.Timestamp
	}
	ahead := int16(p.SequenceNumber - h.next)
	switch {
	case ahead < 0 && ahead > -1000:
		return nil // too late, or a duplicate
	case ahead <= -1000 || ahead > 1000: // another stream, or a restarted one
		out := h.Flush()
		h.next, h.clock = p.SequenceNumber, p.Timestamp
		return append(out, h.sound(p)...)
	}
	at, twice := slices.BinarySearchFunc(h.waiting, p, func(a, b *rtp.Packet) int {
		return int(int16(a.SequenceNumber - b.SequenceNumber))
	})
	if !twice {
		h.waiting = slices.Insert(h.waiting, at, p)
	}
	out := h.release(false)
	if at := slices.Index(h.waiting, p); at >= 0 {
		h.waiting[at] = p.Clone()
	}
	return out
}

// release decodes the packets that are next, and those that need not wait any longer for a
// missing one.
func (h *JitterBuffer) release(all bool) (out []float32) {
	for len(h.waiting) > 0 {
		p := h.waiting[0]
		if p.SequenceNumber != h.next && !all && !h.waitedLong() {
			return out
		}
		h.waiting = h.waiting[1:]
		if gap := int(p.SequenceNumber - h.next); gap > 0 {
			out = append(out, h.conceal(gap, p)...)
		}
		out = append(out, h.sound(p)...)
	}
	return out
}

// waitedLong reports whether the waiting packets have waited long enough.
func (h *JitterBuffer) waitedLong() bool {
	oldest, newest := h.waiting[0], h.waiting[len(h.waiting)-1]
	span := h.format.duration(newest.Timestamp-oldest.Timestamp) + h.frame
	return span >= maxWait || len(h.waiting) >= maxWaiting
}

// Flush decodes all waiting packets.
func (h *JitterBuffer) Flush() []float32 { return h.release(true) }

// conceal returns sound in place of n lost packets before p: from the error correction in p
// for the last one, and from the codec's extrapolation for the others.
func (h *JitterBuffer) conceal(n int, p *rtp.Packet) (out []float32) {
	h.lost += n
	for i := range n {
		if int32(p.Timestamp-h.clock) < int32(h.format.Ticks(h.frame)) {
			break // the client paused: there is less time than packets
		}
		switch {
		case i == n-1:
			out = append(out, h.recover(p.Payload)...)
		case time.Duration(i)*h.frame < maxConcealed:
			out = append(out, h.recover(nil)...)
		default:
			out = append(out, h.Silence(h.frame)...)
		}
	}
	return out
}

// recover returns one frame of sound in place of a lost packet.
func (h *JitterBuffer) recover(behind []byte) []float32 {
	pcm, err := h.decoder.Recover(h.frame, behind)
	if err != nil {
		return h.Silence(h.frame)
	}
	h.clock += h.format.Ticks(h.frame)
	return slices.Clone(pcm)
}

// sound decodes a packet, and inserts silence for the gap before it.
func (h *JitterBuffer) sound(p *rtp.Packet) (out []float32) {
	h.next = p.SequenceNumber + 1
	if gap := p.Timestamp - h.clock; gap < h.format.Ticks(maxGap) {
		out = make([]float32, h.format.samples(gap))
		h.clock = p.Timestamp
	}
	if len(p.Payload) == 0 {
		return out // a packet without sound: a key press, or comfort noise
	}
	length, err := h.decoder.Length(p.Payload)
	if err != nil {
		return out // not a packet of the codec
	}
	h.frame = length
	h.clock = p.Timestamp + h.format.Ticks(length)
	pcm, err := h.decoder.Decode(p.Payload)
	if err != nil {
		pcm = make([]float32, audio.Samples(length, engine.SpeechRateHz))
	}
	return append(out, pcm...)
}

// Silence returns silence for a time without packets, which lets turns end. Later packets
// continue after it.
func (h *JitterBuffer) Silence(d time.Duration) []float32 {
	h.clock += h.format.Ticks(d)
	return make([]float32, audio.Samples(d, engine.SpeechRateHz))
}
