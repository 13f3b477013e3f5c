// Package clean takes out of what a microphone hears what is not the person in
// front of it: the box's own voice coming back from the loudspeaker, and the
// noise of the place; and it makes those who stand far away as loud as those who
// stand near. Sound is mono, float32 samples in [-1, 1], in frames of 10 ms.
package clean

import (
	"fmt"
	"time"
)

const (
	// FrameTime is how long a frame is.
	FrameTime = 10 * time.Millisecond
	// minRateHz and maxRateHz bound the rate: below, no speech can be understood;
	// above, only bats are heard, and the filter would cost more for them.
	minRateHz, maxRateHz = 8000, 48000
	// tail is how long the echo of a sound is followed: rooms of homes and shops
	// fade by 30 dB in that time.
	tail = 200 * time.Millisecond
	// MildNoise is by how many dB noise can be made softer without a transcriber
	// that understands less: RATIONALE has the figures.
	MildNoise = 6
	// assumedFor is how long what is heard counts as echo where a single comparison
	// says that it comes at another time: until the next one. shaken is the same where
	// it is sure that it does: until it must have been found.
	doubted, shaken = 260 * time.Millisecond, 1500 * time.Millisecond
	// followed is how long it counts as echo behind that: until the room as it was can be
	// held against what is heard again.
	followed = 400 * time.Millisecond
	// movedAgo is how long an echo has come at another time when that is known, so
	// that the filter has learned what is not so.
	movedAgo = 400 * time.Millisecond
	// mostNoise is by how many dB noise can be made softer: beyond, it is silence.
	mostNoise = 40
)

// Options say what a Cleaner works on.
type Options struct {
	RateHz int // of the sound, 8000 to 48000, a multiple of 100
	// Noise is by how many dB the noise of the place is made softer, 0 to 40; the
	// more, the more a voice suffers too. With 0 most of it stays.
	Noise int
	// Gain makes those who speak softly, or from far away, up to 18 dB louder.
	Gain bool
}

// A Cleaner cleans one microphone's sound. One goroutine uses it.
type Cleaner struct {
	frame         int
	delay         *delay
	alignment     *alignment
	speex         *speex
	gain          *gain
	recall        *recall
	likeness      *likeness
	reference     reference
	heard, played []float32 // of this frame, made safe
	left          []float32 // without the echo
	closed        bool
}

// Check says what is missing on this machine to take out an echo, and how to
// install it; nil: nothing.
func Check() error {
	c, err := Open(Options{RateHz: 16000})
	if err == nil {
		c.Close()
	}
	return err
}

// Open returns a Cleaner, which the caller closes. It fails where the options
// are out of bounds, and where the machine lacks libspeexdsp.
func Open(o Options) (*Cleaner, error) {
	if o.RateHz < minRateHz || o.RateHz > maxRateHz || o.RateHz%100 != 0 {
		return nil, fmt.Errorf("clean: the rate is %d Hz; allowed are the multiples of 100 from %d to %d Hz", o.RateHz,
			minRateHz, maxRateHz)
	}
	if o.Noise < 0 || o.Noise > mostNoise {
		return nil, fmt.Errorf("clean: noise is made softer by %d dB; allowed are 0 to %d dB", o.Noise, mostNoise)
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
		frame:     n,
		delay:     d,
		alignment: newAlignment(o.RateHz),
		speex:     s,
		gain:      newGain(o.Gain),
		recall:    newRecall(o.RateHz),
		likeness:  newLikeness(o.RateHz),
		heard:     make([]float32, n),
		played:    make([]float32, n),
		left:      make([]float32, n),
	}, nil
}

// FrameSamples is how many samples a frame has.
func (c *Cleaner) FrameSamples() int { return c.frame }

// Frame takes 10 ms of what the microphone heard, and what was given to the
// loudspeaker in the same 10 ms of the microphone's clock (a Drift knows), and
// writes what is left of the first to out. What is missing in a frame counts as
// silence, what is too long is left out, and samples that are no numbers are
// silent. A Cleaner that was closed leaves what was heard as it is.
func (c *Cleaner) Frame(out, heard, played []float32) {
	safe(c.heard, heard)
	safe(c.played, played)
	if c.closed {
		clear(out[copy(out, c.heard):])
		return
	}
	played = c.alignment.add(c.heard, c.played)
	c.follow(c.delay.frame(c.heard, c.played))
	c.speex.filter(c.heard, played)
	if c.recall.frame(c.heard, played, c.speex.left, c.speex.roomResponse) {
		c.gain.returns()
	}
	if c.delay.known && c.likeness.frame(c.speex.left, c.heard, played, c.alignment.offset(c.delay.at)) {
		c.gain.echoes = echoing
	}
	c.gain.known = c.recall.known()
	c.speex.finish(c.left)
	c.gain.frame(c.left, c.heard, played)
	clear(out[copy(out, c.left):])
}

// follow takes what is known of the delay.
func (c *Cleaner) follow(f finding) {
	switch f {
	case confirmed:
		if !c.recall.known() || c.recall.proven() { // else the filter may have forgotten the room
			c.gain.assumeEcho(0)
		}
		c.setReference()
	case doubtful:
		c.gain.assumeEcho(max(doubted, c.gain.assumedFor()))
	case crept:
		c.gain.assumeEcho(0)
		c.alignment.move(samplesAs(c.delay.by))
	case moved:
		if c.recall.proven() { // the filter has followed it, by a sample or two
			c.gain.assumeEcho(0)
			c.setReference()
			return
		}
		c.gain.assumeEcho(followed)
		if c.alignment.move(samplesAs(c.delay.by)) {
			c.alignment.lately(movedAgo, c.speex.learn)
			c.setReference()
			return
		}
		fallthrough
	case located:
		c.gain.assumeEcho(doubted)
		if c.alignment.set(c.delay.at) {
			c.speex.begin()
			c.gain.begin()
			c.recall.forget()
			c.alignment.lately(relearned, c.speex.learn)
		}
		c.setReference()
	}
}

// setReference takes down when the echo comes while what was played is given as it should
// be: that is what is found first, and what is found first after it was placed anew. What
// is found later may be a loudspeaker that ran dry.
func (c *Cleaner) setReference() {
	if !c.reference.known || c.reference.stale {
		c.reference = reference{known: true, delay: c.delay.at, heldBack: c.alignment.delay}
	}
}

// reference is when the echo comes, and by how many samples what was played is kept back
// for it.
type reference struct {
	known    bool
	stale    bool // what was played was placed anew since
	delay    time.Duration
	heldBack int
}

// DelayChanged says that the echo comes at another time from now on, by how much is not
// known: the loudspeaker ran dry, or is another one. What is heard while something is
// played counts as its echo until that is known again, for a second and a half of it at most.
func (c *Cleaner) DelayChanged() {
	c.delay.forget()
	c.gain.assumeEcho(shaken)
}

// PlaybackUnknown says that what is played in the next frame is not known: for that long, and
// until its echo has come, what is heard counts as that.
func (c *Cleaner) PlaybackUnknown() { c.gain.unknown = unknownFrames }

// ReferenceMoved says that what was played is given anew as it was at first, as
// Drift.Reference tells: so much later than now comes the echo that it did then.
func (c *Cleaner) ReferenceMoved() {
	c.delay.forget()
	if h := c.reference; h.known {
		c.delay.known, c.delay.at, c.alignment.delay = true, h.delay, h.heldBack
	}
	c.reference.stale = true
	c.gain.assumeEcho(max(doubted, c.gain.assumedFor()))
}

// safe copies what are samples, in [-1, 1].
func safe(to, from []float32) {
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

// Close gives the memory back.
func (c *Cleaner) Close() {
	c.closed = true
	c.speex.free()
}
