package webrtc

import (
	"slices"
	"time"

	"github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

const (
	// maxWait is how much sound waits for an earlier packet: what comes later
	// than that is nearly always lost.
	maxWait = 60 * time.Millisecond
	// maxWaiting is how many packets do, whatever they say of their time: those of
	// 60 ms, at 5 ms each.
	maxWaiting = 12
	// maxConcealed is how much that was lost in a row is made up for. Beyond it the
	// codec has nothing to go on, and there is silence.
	maxConcealed = 100 * time.Millisecond
	// maxGap is the longest silence that is put where the client sent
	// nothing, in the clock of the stream. What comes after a longer one is the
	// beginning of something else.
	maxGap = 10 * audio.CallRateHz
)

// jitterBuffer puts the packets of a client's voice into order and makes sound of
// them, without holes: what is lost is made up for, and what was not sent was
// silence. One goroutine uses it.
type jitterBuffer struct {
	decoder *audio.CallDecoder
	waiting []*rtp.Packet // in order, and none of them next
	begun   bool
	next    uint16        // sequence number
	clock   uint32        // where the sound so far ends
	frame   time.Duration // what the newest packet holds: clients choose it, of 10 to 60 ms
	lost    int           // packets so far, that were made up for
}

func newJitterBuffer() (*jitterBuffer, error) {
	d, err := audio.NewCallDecoder(engine.SpeechRateHz)
	if err != nil {
		return nil, err
	}
	return &jitterBuffer{decoder: d, frame: audio.CallFrame}, nil
}

// push returns the sound that there is now, mono at engine.SpeechRateHz, which
// the caller owns, as it does p: of a packet that has to wait there is a copy.
func (h *jitterBuffer) push(p *rtp.Packet) []float32 {
	if !h.begun {
		h.begun, h.next, h.clock = true, p.SequenceNumber, p.Timestamp
	}
	ahead := int16(p.SequenceNumber - h.next)
	switch {
	case ahead < 0 && ahead > -1000:
		return nil // too late, or twice
	case ahead <= -1000 || ahead > 1000: // somebody else speaks, or the same began anew
		out := h.flush()
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

// release returns the sound of what is next, and of what does not wait any
// longer because so many packets do.
func (h *jitterBuffer) release(all bool) (out []float32) {
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

// waitedLong tells whether what waits has done so for long enough.
func (h *jitterBuffer) waitedLong() bool {
	oldest, newest := h.waiting[0], h.waiting[len(h.waiting)-1]
	span := time.Duration(newest.Timestamp-oldest.Timestamp)*time.Second/audio.CallRateHz + h.frame
	return span >= maxWait || len(h.waiting) >= maxWaiting
}

// flush returns the sound of all that waits.
func (h *jitterBuffer) flush() []float32 { return h.release(true) }

// conceal returns sound for so many lost packets before p: what p says again of
// the last of them, and for the others what the codec makes of the sound before.
func (h *jitterBuffer) conceal(n int, p *rtp.Packet) (out []float32) {
	h.lost += n
	for i := range n {
		if int32(p.Timestamp-h.clock) < int32(ticksOf(h.frame)) {
			break // the client had less to say than there are packets
		}
		switch {
		case i == n-1:
			out = append(out, h.recover(p.Payload)...)
		case time.Duration(i)*h.frame < maxConcealed:
			out = append(out, h.recover(nil)...)
		default:
			out = append(out, h.silence(h.frame)...)
		}
	}
	return out
}

// recover returns a frame's worth of sound for one that was lost.
func (h *jitterBuffer) recover(behind []byte) []float32 {
	pcm, err := h.decoder.Recover(h.frame, behind)
	if err != nil {
		return h.silence(h.frame)
	}
	h.clock += ticksOf(h.frame)
	return slices.Clone(pcm)
}

// sound returns the sound of a packet, behind the silence since the one before.
func (h *jitterBuffer) sound(p *rtp.Packet) (out []float32) {
	h.next = p.SequenceNumber + 1
	if gap := p.Timestamp - h.clock; gap < maxGap {
		out = make([]float32, ticks(gap))
	}
	length, err := h.decoder.Length(p.Payload)
	if err != nil {
		return out // no packet of Opus
	}
	h.frame = length
	h.clock = p.Timestamp + ticksOf(length)
	pcm, err := h.decoder.Decode(p.Payload)
	if err != nil {
		pcm = make([]float32, audio.Samples(length, engine.SpeechRateHz))
	}
	return append(out, pcm...)
}

// silence returns so much silence, for the time in which nothing has come: the
// end of a turn is told by it. When more comes it begins behind that.
func (h *jitterBuffer) silence(d time.Duration) []float32 {
	h.clock += ticksOf(d)
	return make([]float32, audio.Samples(d, engine.SpeechRateHz))
}

// ticks is how many samples of the ear's are so many of the stream's clock.
func ticks(n uint32) int { return int(uint64(n) * engine.SpeechRateHz / audio.CallRateHz) }

// ticksOf is how far the clock of the stream goes in that time.
func ticksOf(d time.Duration) uint32 { return uint32(d * audio.CallRateHz / time.Second) }
