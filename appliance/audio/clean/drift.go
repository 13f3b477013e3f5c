package clean

import (
	"math"
	"sync"
	"time"
)

const (
	// minLag is the least lag of the reference behind the loudspeaker's requests,
	// for pieces that come late. lagMargin is how much less that is than what the loudspeaker
	// still holds when it requests more: late requests are then still known in time, and the
	// echo still comes after its reference. requestDivisor is the size of a loudspeaker's buffer in
	// requests.
	minLag, lagMargin = 5 * time.Millisecond, 40 * time.Millisecond
	requestDivisor    = 4
	// maxBuffered bounds playback that was not requested yet: an unplugged microphone requests
	// nothing.
	maxBuffered = time.Second
	// retainedTime is how much requested sound is retained, in case it was requested too
	// early.
	retainedTime = 100 * time.Millisecond
	// stoppedAfter is how long a device may be inactive before it counts as stopped rather than
	// late.
	stoppedAfter = 400 * time.Millisecond
	// newDeviceAfter is how long a microphone may deliver nothing before it counts as another one. A
	// busy machine delays a microphone, which then delivers everything that it held.
	newDeviceAfter = 2 * time.Second
	// misplaced is the tolerated misalignment of the reference while nothing is played. While
	// something is played, the reference may be ahead as long as there is sound, since a
	// loudspeaker that ran dry makes the echo late, and the search for the delay notices that
	// sooner; and it may be maxMisplaced behind, because beyond that the echo would come
	// first.
	misplaced, maxMisplaced = 8 * time.Millisecond, 20 * time.Millisecond
	// quietTime is how long nothing louder than quietLevel must have been played for its echo to
	// have faded.
	quietTime, quietLevel = 700 * time.Millisecond, 0.001
	// centred and maxCentring bound the correction of small misalignments: within a minute, by
	// at most 5 ppm, which no filter notices.
	centred, maxCentring = 60, 5
)

// Drift synchronises playback with a microphone when loudspeaker and microphone have different
// clocks. One side adds sound as it is given to the loudspeaker; the other requests as much as
// the microphone recorded, and gets it stretched by the difference of the clocks. Drift counts
// samples and not time, so that a late thread has no effect. It is safe for concurrent use.
type Drift struct {
	mu     sync.Mutex
	rateHz int
	now    func() time.Duration

	buffer     []float32     // playback that is still needed
	base       int64         // number of buffer[0] within all playback
	at         float64       // number of the next requested sample
	positioned bool          // at is known
	lag        float64       // of at behind the loudspeaker's requests, in samples
	held       float64       // what the loudspeaker still holds when it requests more
	taken      int64         // requested samples
	misaligned int           // comparisons in a row that found a misalignment
	dry        bool          // the loudspeaker ran dry, not reported yet
	lastSound  time.Duration // when something louder than quietLevel was played

	clocks clocks
	sinc   *sinc
}

// Continuity is how the reference relates to the piece before it.
type Continuity int

// The values of Continuity.
const (
	Continues    Continuity = iota // it continues the piece before
	Restored                       // it is aligned with its echo as at first
	Repositioned                   // it is aligned for the first time, or for other devices
	Unknown                        // something was played, but it is unknown what; the reference is silent
	Dry                            // the loudspeaker ran dry; the alignment with the echo is about as before
)

// NewDrift returns a Drift for both sides at a rate in Hz. now is a monotonic clock, such as
// the time since the program started.
func NewDrift(rateHz int, now func() time.Duration) *Drift {
	d := &Drift{
		rateHz:    rateHz,
		now:       now,
		lastSound: -quietTime,
		sinc:      newSinc(),
		clocks:    clocks{rateHz: rateHz},
	}
	d.hold(0)
	d.clocks.forget()
	d.clocks.out.top = math.Inf(-1)
	return d
}

func (d *Drift) samples(t time.Duration) int { return int(t * time.Duration(d.rateHz) / time.Second) }

// SetHeld sets how much sound the loudspeaker holds after a request was filled, 0 if unknown.
func (d *Drift) SetHeld(long time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hold(long)
	d.positioned = false
	d.clocks.out.top = math.Inf(-1)
}

// hold sets how far the reference stays behind for a loudspeaker that holds so much.
func (d *Drift) hold(long time.Duration) {
	held := long - long/requestDivisor
	d.held = float64(d.samples(held))
	d.lag = float64(d.samples(max(minLag, held-lagMargin)))
}

// Played adds the next samples given to the loudspeaker, including silence. It does not retain
// pcm. It must be called when the device requests the samples.
func (d *Drift) Played(pcm []float32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	// Sound after the loudspeaker ran dry is played later. Knowing that at once avoids a gap in
	// the reference, through which an echo would pass.
	if dry := d.clocks.played(now, len(pcm), d.held); dry > 0 && d.held > 0 {
		d.at, d.dry = d.at-dry, true
	}
	if peakOf(pcm) > quietLevel {
		d.lastSound = now
	}
	d.buffer = append(d.buffer, pcm...)
	if extra := len(d.buffer) - 2*d.samples(maxBuffered); extra > 0 {
		d.drop(d.samples(maxBuffered) + extra)
	}
}

// Heard records that the microphone had delivered n samples at a time of the Drift's clock. It
// must be called before their reference is requested.
func (d *Drift) Heard(at time.Duration, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clocks.heard(at, n) > newDeviceAfter {
		d.positioned = false
	}
}

// Reference fills out with the playback while the microphone recorded as many samples, or
// with silence. It returns how that relates to the piece before.
func (d *Drift) Reference(out []float32) Continuity {
	d.mu.Lock()
	defer d.mu.Unlock()
	continuity := d.position()
	d.taken += int64(len(out))
	unavailable := Continues
	if d.now()-d.lastSound < quietTime {
		unavailable = Unknown
	}
	if !d.positioned {
		clear(out)
		return unavailable
	}
	step := 1 + d.clocks.ppm()/1e6
	for i := range out {
		whole := math.Floor(d.at)
		first := int(int64(whole)-d.base) - sincSide + 1
		if first < 0 || first+2*sincSide > len(d.buffer) {
			out[i] = 0 // a piece is late, or too old
			if continuity == Continues {
				continuity = unavailable
			}
		} else {
			out[i] = d.sinc.at(d.buffer[first:first+2*sincSide], d.at-whole)
		}
		d.at += step
	}
	d.drop(int(int64(d.at)-d.base) - sincSide - d.samples(retainedTime))
	return continuity
}

// position corrects the position of the next requested sample.
func (d *Drift) position() Continuity {
	lead, fresh := d.clocks.compared()
	if d.dry && d.positioned {
		d.dry = false
		return Dry
	}
	if !fresh && (d.positioned || math.IsInf(lead, 0)) {
		return Continues
	}
	misalignment := float64(d.taken) + lead - d.lag - d.at
	if !d.positioned {
		d.at, d.positioned, d.misaligned = d.at+math.Round(misalignment), true, 0
		return Repositioned
	}
	seconds := math.Abs(misalignment) / float64(d.rateHz)
	quiet := d.now()-d.lastSound > quietTime
	late := misalignment < -d.lag || misalignment > maxMisplaced.Seconds()*float64(d.rateHz)
	if seconds < misplaced.Seconds() || !quiet && !late {
		d.misaligned = 0
		d.clocks.centring = min(max(misalignment/float64(d.rateHz)*1e6/centred, -maxCentring), maxCentring)
		return Continues
	}
	if d.misaligned++; d.misaligned < 2 {
		return Continues
	}
	d.misaligned, d.clocks.centring = 0, 0
	d.at += math.Round(misalignment)
	return Restored
}

// PPM returns by how many parts per million the loudspeaker's clock is estimated to be faster
// than the microphone's.
func (d *Drift) PPM() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clocks.difference
}

// drop discards the oldest samples.
func (d *Drift) drop(n int) {
	if n = min(n, len(d.buffer)); n > 0 {
		d.buffer = d.buffer[:copy(d.buffer, d.buffer[n:])]
		d.base += int64(n)
	}
}
