package acoustics

import (
	"math/rand/v2"
	"time"
)

// Devices simulate a loudspeaker and a microphone with separate clocks, which request and
// deliver sound in chunks, sometimes late.
type Devices struct {
	RateHz            int           // of both, by the microphone's clock
	PPM               float64       // by which the loudspeaker's clock is faster
	OutChunk, InChunk int           // samples; InChunk a multiple of 10 ms
	Late              time.Duration // at most a chunk
	Seed              uint64
	// Holds is how many samples the loudspeaker has when its request was filled; 0: it has a
	// chunk, and never runs dry.
	Holds int
	// Stalls are times in which the machine is too busy for the loudspeaker's requests.
	Stalls []Stall
	// Dry is how long the loudspeaker ran dry, by the number of the next sample; Run sets it.
	Dry map[int]time.Duration
	now time.Duration
}

// Stall is when the machine stalls, and for how long.
type Stall struct{ At, Long time.Duration }

// Plays returns what the loudspeaker played of what it was given. It must follow Run: where the
// loudspeaker ran dry there is silence, and all later sound is delayed.
func (d *Devices) Plays(given []float32) []float32 {
	var out []float32
	for i, v := range given {
		if gap := d.Dry[i]; gap > 0 {
			out = append(out, make([]float32, int(gap*time.Duration(d.RateHz)/time.Second))...)
		}
		out = append(out, v)
	}
	return out[:len(given)]
}

// Now returns the time of the simulation.
func (d *Devices) Now() time.Duration { return d.now }

// Run simulates both devices for so long. It calls play for each chunk that the loudspeaker
// requests, and hear for every 10 ms that the microphone delivers, each with the position of
// the first sample.
func (d *Devices) Run(long time.Duration, play, hear func(from, n int)) {
	chance := rand.New(rand.NewPCG(d.Seed, 5))
	late := func() float64 { return min(1, chance.ExpFloat64()/8) * d.Late.Seconds() }
	inHz := float64(d.RateHz)
	outHz := inHz * (1 + d.PPM/1e6)
	frame := d.RateHz / 100
	var played, heard int
	var dry float64 // samples
	d.Dry = map[int]time.Duration{}
	asks := func() float64 {
		at := max(0, (float64(played+d.OutChunk-max(d.Holds, d.OutChunk))+dry)/outHz) + late()
		for _, s := range d.Stalls {
			if at > s.At.Seconds() && at < (s.At+s.Long).Seconds() {
				at = (s.At + s.Long).Seconds()
			}
		}
		if without := at*outHz - float64(played) - dry; d.Holds > 0 && played > 0 && without > 0 {
			d.Dry[played] = time.Duration(without / outHz * 1e9)
			dry += without
		}
		return at
	}
	next, take := asks(), float64(d.InChunk)/inHz+late()
	for max(next, take) < long.Seconds() {
		if next <= take {
			d.now = time.Duration(next * 1e9)
			play(played, d.OutChunk)
			played += d.OutChunk
			next = max(next, asks())
			continue
		}
		d.now = time.Duration(take * 1e9)
		for range d.InChunk / frame {
			hear(heard, frame)
			heard += frame
		}
		take = max(take, float64(heard+d.InChunk)/inHz+late())
	}
}
