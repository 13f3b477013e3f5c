// Package clean removes from a microphone's sound what is not the person in front of it: the
// box's own voice from the loudspeaker, and background noise. It also makes distant speakers as
// loud as close ones. Sound is mono, float32 samples in [-1, 1], in frames of 10 ms.
package clean

import (
	"fmt"
	"time"
)

const (
	// FrameTime is the duration of a frame.
	FrameTime = 10 * time.Millisecond
	// minRateHz and maxRateHz bound the rate: below, speech is unintelligible; above, there is
	// nothing that people hear, and the filter would cost more.
	minRateHz, maxRateHz = 8000, 48000
	// tail is how long the echo of a sound is modelled: the reverberation of homes and shops
	// falls by 30 dB in that time.
	tail = 200 * time.Millisecond
	// MildNoise is by how many dB noise can be reduced without making transcription worse:
	// RATIONALE has the figures.
	MildNoise = 6
	// echoAfterDoubt is how long all sound counts as echo when a single comparison finds another
	// delay: until the next comparison. echoAfterChange is the same when the delay has certainly
	// changed: until it must have been found.
	echoAfterDoubt, echoAfterChange = 260 * time.Millisecond, 1500 * time.Millisecond
	// echoAfterMove is how long it counts as echo after that: until the recalled room can be
	// compared with the microphone again.
	echoAfterMove = 400 * time.Millisecond
	// movedAgo is how old a change of the delay is when it is detected; meanwhile the filter
	// has learned from misaligned sound.
	movedAgo = 400 * time.Millisecond
	// maxNoise is the largest noise reduction in dB: beyond it there is silence.
	maxNoise = 40
)

// Options configure a Cleaner.
type Options struct {
	RateHz int // of the sound, 8000 to 48000, a multiple of 100
	// Noise is by how many dB background noise is reduced, 0 to 40. Higher values also affect
	// voices. With 0, most of the noise stays.
	Noise int
	// Gain makes soft or distant speakers up to 18 dB louder.
	Gain bool
}

// Cleaner cleans the sound of one microphone. One goroutine uses it.
type Cleaner struct {
	frame         int
	delay         *delay
	alignment     *alignment
	speex         *speex
	gain          *gain
	roomEcho      *roomEcho
	waveformEcho  *waveformEcho
	reference     reference
	heard, played []float32 // of this frame, sanitised
	left          []float32 // without the echo
	closed        bool
}

// Check returns an error that says what this machine lacks for echo cancellation, and how to
// install it; nil if nothing is missing.
func Check() error {
	c, err := Open(Options{RateHz: 16000})
	if err == nil {
		c.Close()
	}
	return err
}

// Open returns a Cleaner, which the caller must close. It fails if the options are out of
// bounds, or the machine lacks libspeexdsp.
func Open(o Options) (*Cleaner, error) {
	if o.RateHz < minRateHz || o.RateHz > maxRateHz || o.RateHz%100 != 0 {
		return nil, fmt.Errorf("clean: the rate is %d Hz; allowed are the multiples of 100 from %d to %d Hz", o.RateHz,
			minRateHz, maxRateHz)
	}
	if o.Noise < 0 || o.Noise > maxNoise {
		return nil, fmt.Errorf("clean: the noise reduction is %d dB; allowed are 0 to %d dB", o.Noise, maxNoise)
	}
	n := o.RateHz / 100
	d, err := newDelay(o.RateHz)
	if err != nil {
		return nil, err
	}
	s, err := openSpeex(speexName, o.RateHz, n, int(tail/FrameTime)*n, o.Noise)
	if err != nil {
		return nil, err
	}
	return &Cleaner{
		frame:        n,
		delay:        d,
		alignment:    newAlignment(o.RateHz),
		speex:        s,
		gain:         newGain(o.Gain),
		roomEcho:     newRoomEcho(o.RateHz),
		waveformEcho: newWaveformEcho(o.RateHz),
		heard:        make([]float32, n),
		played:       make([]float32, n),
		left:         make([]float32, n),
	}, nil
}

// FrameSamples returns the number of samples in a frame.
func (c *Cleaner) FrameSamples() int { return c.frame }

// Frame cleans 10 ms of microphone sound into out. played is what was given to the loudspeaker
// in the same 10 ms of the microphone's clock (see Drift). Short frames are padded with
// silence, long ones cut, and NaN samples become silence. A closed Cleaner copies heard to out.
func (c *Cleaner) Frame(out, heard, played []float32) {
	sanitize(c.heard, heard)
	sanitize(c.played, played)
	if c.closed {
		clear(out[copy(out, c.heard):])
		return
	}
	played = c.alignment.add(c.heard, c.played)
	c.follow(c.delay.frame(c.heard, c.played))
	c.speex.filter(c.heard, played)
	if c.roomEcho.frame(c.heard, played, c.speex.left, c.speex.roomResponse) {
		c.gain.echoReturned()
	}
	if c.delay.known && c.waveformEcho.frame(c.speex.left, c.heard, played, c.alignment.offset(c.delay.at)) {
		c.gain.echoes = echoFrames
	}
	c.gain.known = c.roomEcho.known()
	c.speex.finish(c.left)
	c.gain.frame(c.left, c.heard, played)
	clear(out[copy(out, c.left):])
}

// follow adapts to a finding about the delay.
func (c *Cleaner) follow(f finding) {
	switch f {
	case confirmed:
		if !c.roomEcho.known() || c.roomEcho.proven() { // otherwise the filter may have forgotten the room
			c.gain.assumeEcho(0)
		}
		c.setReference()
	case doubtful:
		c.gain.assumeEcho(max(echoAfterDoubt, c.gain.assumedFor()))
	case crept:
		c.gain.assumeEcho(0)
		c.alignment.move(durationOf(c.delay.by))
	case moved:
		if c.roomEcho.proven() { // the filter has followed it, by a sample or two
			c.gain.assumeEcho(0)
			c.setReference()
			return
		}
		c.gain.assumeEcho(echoAfterMove)
		if c.alignment.move(durationOf(c.delay.by)) {
			c.alignment.lately(movedAgo, c.speex.learn)
			c.setReference()
			return
		}
		fallthrough
	case located:
		c.gain.assumeEcho(echoAfterDoubt)
		if c.alignment.set(c.delay.at) {
			c.speex.restart()
			c.gain.restart()
			c.roomEcho.forget()
			c.alignment.lately(relearned, c.speex.learn)
		}
		c.setReference()
	}
}

// setReference records the delay of the echo while the playback is aligned as it should be: the
// first delay that is found, also after each repositioning. A later change may come from a
// loudspeaker that ran dry.
func (c *Cleaner) setReference() {
	if !c.reference.known || c.reference.stale {
		c.reference = reference{known: true, delay: c.delay.at, heldBack: c.alignment.delay}
	}
}

// reference is the delay of the echo, and by how many samples playback was held back for it.
type reference struct {
	known    bool
	stale    bool // playback was repositioned since
	delay    time.Duration
	heldBack int
}

// DelayChanged reports that the delay of the echo has changed by an unknown amount: the
// loudspeaker ran dry, or is another one. While something is played, all sound counts as echo
// until the new delay is found, for a second and a half of sound at most.
func (c *Cleaner) DelayChanged() {
	c.delay.forget()
	c.gain.assumeEcho(echoAfterChange)
}

// PlaybackUnknown reports that the playback of the next frame is unknown. For that frame, and
// until its echo has arrived, all sound counts as echo.
func (c *Cleaner) PlaybackUnknown() { c.gain.unknown = unknownFrames }

// ReferenceMoved reports that playback is aligned again as it was at first (Drift.Reference
// returned Restored), so that its echo has the delay that it had then.
func (c *Cleaner) ReferenceMoved() {
	c.delay.forget()
	if h := c.reference; h.known {
		c.delay.known, c.delay.at, c.alignment.delay = true, h.delay, h.heldBack
	}
	c.reference.stale = true
	c.gain.assumeEcho(max(echoAfterDoubt, c.gain.assumedFor()))
}

// sanitize copies samples, limited to [-1, 1], with NaN as silence.
func sanitize(to, from []float32) {
	n := copy(to, from)
	clear(to[n:])
	for i, v := range to[:n] {
		switch {
		case v != v:
			to[i] = 0
		case v > 1:
			to[i] = 1
		case v < -1:
			to[i] = -1
		}
	}
}

// Close frees the memory.
func (c *Cleaner) Close() {
	c.closed = true
	c.speex.free()
}
