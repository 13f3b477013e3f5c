package stream

import (
	"slices"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

const (
	// maxLate is how far back a piece may be numbered and count as late or sent twice. One from further
	// back is the beginning of another count.
	maxLate = 500 * time.Millisecond
	// maxGap is the longest gap that is filled. After a longer one the stream starts anew.
	maxGap = 10 * time.Second
	// maxConcealed bounds the sound that is made up in place of lost sound. Silence follows.
	maxConcealed = 100 * time.Millisecond
	// maxDrift is how much a timestamp may differ from the end of the piece before it without a gap:
	// less than the shortest piece. Some clients take timestamps from a clock.
	maxDrift = 8 * time.Millisecond
	// steadyPieces is how many pieces in a row have to fit the timestamps before these are believed. Some
	// clients count other units than milliseconds, or nothing.
	steadyPieces = 3
	// maxDecoded is the longest piece that the decoder takes at once.
	maxDecoded = 200 * time.Millisecond
	// pieceRateHz is the rate of µ-law, a byte a sample.
	pieceRateHz = 8000
)

// piece is what a media message holds.
type piece struct {
	chunk     sequenceNumber
	timestamp sequenceNumber
	sound     []byte
	at        time.Time // when it came
}

func (p piece) length() time.Duration { return time.Duration(len(p.sound)) * time.Second / pieceRateHz }

// begins returns the time of the piece in the stream, by its timestamp.
func (p piece) begins() time.Duration { return time.Duration(p.timestamp.n) * time.Millisecond }

// receiver makes continuous sound of pieces: mono at engine.SpeechRateHz.
type receiver struct {
	decoder *audio.PhoneDecoder
	newest  piece         // without its sound
	length  time.Duration // of the newest piece
	counted bool          // chunks are numbered one after the other
	steady  int           // number of pieces in a row that fit their timestamps
	filled  time.Duration // silence since the newest piece

	received, lost int
	jitter         time.Duration // RFC 3550, section 6.4.1
}

// push adds a piece and returns its sound, after that of a gap before it. A piece that comes late or twice
// has none.
func (r *receiver) push(p piece) (out []float32) {
	if len(p.sound) == 0 {
		return nil
	}
	if r.received > 0 {
		missing, late := r.order(p)
		if late {
			return nil
		}
		out = r.fill(p, missing)
		r.note(p)
	}
	r.received++
	for sound := p.sound; len(sound) > 0; {
		n := min(len(sound), int(maxDecoded*pieceRateHz/time.Second))
		pcm, err := r.decoder.Decode(sound[:n])
		if err != nil {
			pcm = make([]float32, n*engine.SpeechRateHz/pieceRateHz)
		}
		out = append(out, pcm...)
		sound = sound[n:]
	}
	r.length, r.filled = p.length(), 0
	p.sound = nil
	r.newest = p
	return out
}

// order compares the number of a piece with that of the newest one: how many are missing between them, and
// whether the piece comes late or twice.
func (r *receiver) order(p piece) (missing int64, late bool) {
	if !p.chunk.given || !r.newest.chunk.given {
		back := r.newest.begins() + r.length - p.begins()
		return 0, r.isTimed(p) && back > maxDrift && back >= p.length() && back <= maxLate
	}
	step := p.chunk.n - r.newest.chunk.n
	if step == 1 {
		r.counted = true
	}
	if !r.counted {
		return 0, false
	}
	if step <= 0 {
		return 0, -step <= int64(maxLate/r.length)
	}
	return step - 1, false
}

// isTimed reports whether the timestamp of a piece can be believed.
func (r *receiver) isTimed(p piece) bool {
	return r.steady >= steadyPieces && p.timestamp.given && r.newest.timestamp.given
}

// fill returns sound for the gap before a piece.
func (r *receiver) fill(p piece, missing int64) (out []float32) {
	gap := time.Duration(missing) * r.length
	if missing > int64(maxGap/time.Millisecond) {
		gap = 2 * maxGap // without an overflow
	}
	if r.isTimed(p) {
		gap = p.begins() - r.newest.begins() - r.length
		if gap <= maxDrift {
			gap = 0
		}
	}
	if gap == 0 || gap > maxGap {
		return nil
	}
	if missing > 0 {
		r.lost += int(missing)
	}
	if gap -= r.filled; gap <= 0 {
		return nil
	}
	var concealed time.Duration
	if r.filled == 0 && (missing > 0 || !r.counted) {
		concealed = min(gap, maxConcealed)
		out = r.conceal(concealed)
	}
	return append(out, make([]float32, audio.Samples(gap-concealed, engine.SpeechRateHz))...)
}

// conceal returns sound in place of lost sound.
func (r *receiver) conceal(d time.Duration) []float32 {
	pcm, err := r.decoder.Recover(d, nil)
	if err != nil {
		return make([]float32, audio.Samples(d, engine.SpeechRateHz))
	}
	return slices.Clone(pcm)
}

// note updates what is known of the timestamps.
func (r *receiver) note(p piece) {
	drift := p.begins() - r.newest.begins() - r.length
	fits := p.timestamp.given && r.newest.timestamp.given && drift.Abs() <= maxDrift
	switch {
	case fits:
		r.steady++
		delay := p.at.Sub(r.newest.at) - (p.begins() - r.newest.begins())
		r.jitter += (delay.Abs() - r.jitter) / 16
	case !r.isTimed(p) || drift < 0 || drift > maxGap:
		r.steady = 0
	}
}

// silence returns silence for a time in which nothing came, which lets turns end.
func (r *receiver) silence(d time.Duration) []float32 {
	r.filled += d
	return make([]float32, audio.Samples(d, engine.SpeechRateHz))
}
