package clean

import (
	"math"
	"sync"
	"time"
)

const (
	// leastBehind is how far behind what the loudspeaker asks for the reference stays
	// delay least, for a piece that comes late; spareBehind is how much less that is than
	// what the loudspeaker still holds when it asks: what is asked for late is known in
	// time then, and the echo comes so much later than its reference all the same.
	// asksFor is which part of what it holds a loudspeaker asks for at a time.
	leastBehind, spareBehind = 5 * time.Millisecond, 40 * time.Millisecond
	asksFor                  = 4
	// maxBuffered bounds what was played and not asked for: a microphone that was
	// unplugged asks for nothing.
	maxBuffered = time.Second
	// retainedBehind is how much of what was asked for is kept, for it may be found that
	// it was asked for too early.
	retainedBehind = 100 * time.Millisecond
	// stopped is how long a device may do nothing before it counts as stopped, rather
	// than late.
	stopped = 400 * time.Millisecond
	// another is how long a microphone may bring nothing before it counts as another
	// one: one that a busy machine kept waiting brings all that it held.
	another = 2 * time.Second
	// misplaced is by how much the reference may stand elsewhere than it should while
	// nothing is played. While something is, it may be ahead as long as there is
	// something to give, for a loudspeaker that ran dry makes the echo late, and what
	// finds that is sooner; and mostMisplaced behind, for beyond the echo comes first.
	misplaced, mostMisplaced = 8 * time.Millisecond, 20 * time.Millisecond
	// still is how long nothing has been played, softer than a thousandth, for the
	// echo of it to have faded.
	still, stillLevel = 700 * time.Millisecond, 0.001
	// centred and mostCentring say how the reference is brought to where it should be
	// otherwise: within a minute, by 5 ppm at most, which no filter minds.
	centred, mostCentring = 60, 5
)

// A Drift keeps what a loudspeaker plays in step with what a microphone hears,
// where each goes by a clock of its own: the one puts sound in as it is handed to
// the loudspeaker, the other asks for as much as the microphone took, and gets it
// stretched by as much as the clocks differ. It goes by how many samples have passed,
// and not by when: a thread that is late for a piece moves nothing. Any goroutines
// may call it.
type Drift struct {
	mu     sync.Mutex
	rateHz int
	now    func() time.Duration

	buffer     []float32 // what was played and is still needed
	base       int64     // number of kept[0] of all that was played
	at         float64   // number of the next sample that is asked for
	positioned bool      // it is known
	behind     float64   // how far it stays behind what the loudspeaker asks for
	held       float64   // what the loudspeaker still holds when it asks for more
	taken      int64     // samples that were asked for
	wrong      int       // how many comparisons in a row found it elsewhere
	dry        bool      // the loudspeaker was, since that was told
	sound      time.Duration

	clocks clocks
	sinc   *sinc
}

// Continuity is how what a Drift gives fits to what it gave before.
type Continuity int

// The places.
const (
	Continues    Continuity = iota // it is what comes behind that
	Restored                       // as much before its echo as at first
	Repositioned                   // for the first time, or for other devices
	Unknown                        // something was played, and what is not known: it is silent
	Dry                            // the loudspeaker had nothing to play: about as much before its echo as before
)

// NewDrift returns a Drift for sound of that rate on both sides, in Hz; now is a
// clock that never goes back, such as the time since the program began.
func NewDrift(rateHz int, now func() time.Duration) *Drift {
	d := &Drift{
		rateHz: rateHz,
		now:    now,
		sound:  -still,
		sinc:   newSinc(),
		clocks: clocks{rateHz: rateHz},
	}
	d.hold(0)
	d.clocks.forget()
	d.clocks.out.top = math.Inf(-1)
	return d
}

func (d *Drift) samples(t time.Duration) int { return int(t * time.Duration(d.rateHz) / time.Second) }

// SetHeld says how much sound the loudspeaker's device holds when it asks for more,
// 0 where that is not known.
func (d *Drift) SetHeld(long time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hold(long)
	d.positioned = false
	d.clocks.out.top = math.Inf(-1)
}

// hold sets how far the reference stays behind for a loudspeaker that holds so much.
func (d *Drift) hold(long time.Duration) {
	held := long - long/asksFor
	d.held = float64(d.samples(held))
	d.behind = float64(d.samples(max(leastBehind, held-spareBehind)))
}

// Played takes the next samples that the loudspeaker's device was given, silence
// too, which it does not keep. It is called when the device asks for them.
func (d *Drift) Played(pcm []float32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	// What comes after the loudspeaker ran dry is played so much later: to know that at
	// once leaves no hole in the reference, through which an echo would be heard.
	if dry := d.clocks.played(now, len(pcm), d.held); dry > 0 && d.held > 0 {
		d.at, d.dry = d.at-dry, true
	}
	if peakOf(pcm) > stillLevel {
		d.sound = now
	}
	d.buffer = append(d.buffer, pcm...)
	if extra := len(d.buffer) - 2*d.samples(maxBuffered); extra > 0 {
		d.drop(d.samples(maxBuffered) + extra)
	}
}

// Heard takes down that the microphone had brought n samples at a time of the
// Drift's clock. It is called before they are asked for.
func (d *Drift) Heard(at time.Duration, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clocks.heard(at, n) > another {
		d.positioned = false
	}
}

// Reference fills out with what was played while the microphone took as many
// samples; where nothing was, with silence. It says where what it gives is other
// than what comes behind what it gave before.
func (d *Drift) Reference(out []float32) Continuity {
	d.mu.Lock()
	defer d.mu.Unlock()
	place := d.position()
	d.taken += int64(len(out))
	missing := Continues
	if d.now()-d.sound < still {
		missing = Unknown
	}
	if !d.positioned {
		clear(out)
		return missing
	}
	step := 1 + d.clocks.ppm()/1e6
	for i := range out {
		whole := math.Floor(d.at)
		first := int(int64(whole)-d.base) - sincSide + 1
		if first < 0 || first+2*sincSide > len(d.buffer) {
			out[i] = 0 // a piece is late, or was long ago
			if place == Continues {
				place = missing
			}
		} else {
			out[i] = d.sinc.at(d.buffer[first:first+2*sincSide], d.at-whole)
		}
		d.at += step
	}
	d.drop(int(int64(d.at)-d.base) - sincSide - d.samples(retainedBehind))
	return place
}

// offset sees whether the next sample that is asked for is the right one.
func (d *Drift) position() Continuity {
	apart, fresh := d.clocks.compared()
	if d.dry && d.positioned {
		d.dry = false
		return Dry
	}
	if !fresh && (d.positioned || math.IsInf(apart, 0)) {
		return Continues
	}
	wrong := float64(d.taken) + apart - d.behind - d.at
	if !d.positioned {
		d.at, d.positioned, d.wrong = d.at+math.Round(wrong), true, 0
		return Repositioned
	}
	much := math.Abs(wrong) / float64(d.rateHz)
	quiet := d.now()-d.sound > still
	late := wrong < -d.behind || wrong > mostMisplaced.Seconds()*float64(d.rateHz)
	if much < misplaced.Seconds() || !quiet && !late {
		d.wrong = 0
		d.clocks.centring = min(max(wrong/float64(d.rateHz)*1e6/centred, -mostCentring), mostCentring)
		return Continues
	}
	if d.wrong++; d.wrong < 2 {
		return Continues
	}
	d.wrong, d.clocks.centring = 0, 0
	d.at += math.Round(wrong)
	return Restored
}

// PPM is by how many parts per million the loudspeaker's clock is faster than the
// microphone's, as far as is known.
func (d *Drift) PPM() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clocks.differ
}

// drop lets go of the oldest samples.
func (d *Drift) drop(n int) {
	if n = min(n, len(d.buffer)); n > 0 {
		d.buffer = d.buffer[:copy(d.buffer, d.buffer[n:])]
		d.base += int64(n)
	}
}
