package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/clean"
	"parley/appliance/audio/clean/room"
	"parley/appliance/engine"
	"parley/appliance/engines"
)

const (
	// echoRooms is in how many rooms each voice is played.
	echoRooms = 4
	// echoPlayed is how long for, and echoJudged how much of it is judged at a time:
	// less is half made of pauses.
	echoPlayed, echoJudged = 16 * time.Second, 2 * time.Second
	// echoPPM is by how much the clocks of two devices differ.
	echoPPM = 300
	// echoFrame is a frame of clean, in samples.
	echoFrame = speechRate / 100
)

// Echo measures what cleans the microphone of a box that speaks from its own
// loudspeaker: in simulated rooms, with the box's voices and recordings of people.
func Echo(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	if o.Drift < time.Minute || o.Drift > 2*time.Hour {
		return Report{}, &ErrOption{fmt.Sprintf("drift is %v; allowed are 1m to 2h", o.Drift)}
	}
	said, err := recordings(o.Recordings)
	if err != nil {
		return Report{}, err
	}
	r := Report{Bench: "echo", Machine: describe(o.Config, "runtime-onnx", o.Config.Engines.Transcriber)}
	voices, err := spokenAtLength(ctx, o)
	if err != nil {
		return r, err
	}
	if err := r.cancelled(ctx, o, voices); err != nil {
		return r, err
	}
	if err := r.drifting(ctx, o, voices); err != nil {
		return r, err
	}
	return r, r.understood(ctx, o, voices, judged(said, o.Prompts))
}

// spokenAtLength is what each of the box's voices says, some 40 s of it.
func spokenAtLength(ctx context.Context, o Options) (spoken [][]float32, err error) {
	names := o.Voices
	if len(names) == 0 {
		if names, err = voicePacks(o.Config); err != nil {
			return nil, err
		}
	}
	opened, err := engines.Open(ctx, o.Config, engines.Speaking, o.Log)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, opened.Close()) }()
	for _, name := range names {
		o.say("speaking with %s", name)
		voice, err := opened.Voice(ctx, name)
		if err != nil {
			return nil, err
		}
		var pcm []float32
		for range 4 {
			speech, err := engine.SpeakWhole(ctx, voice, speechOver,
				engine.SpeakOptions{Urgency: engine.Batch.Urgency()})
			if err != nil {
				return nil, err
			}
			pcm = append(pcm, audio.Resample(speech.PCM, speech.RateHz, speechRate)...)
		}
		spoken = append(spoken, pcm)
	}
	return spoken, nil
}

// aRoom is one of several: 10 dB softer, the echo comes back with 60 ms of the
// devices' delay more in each.
func aRoom(i int) room.Room {
	return room.Room{
		RateHz:  speechRate,
		Echo:    -10,
		Latency: time.Duration(20+60*i) * time.Millisecond,
		Decay:   300 * time.Millisecond,
		Bend:    0.03,
		Noise:   -60,
		Seed:    uint64(i),
	}
}

const aRoomIs = "echo of -10 dB, 20 to 200 ms late, in simulated rooms that fade by 60 dB in 0.3 s, a loudspeaker " +
	"that bends by 3 %, noise of -60 dB"

// cleaned is what is left of what was heard, and how much of a core that took.
func cleaned(opt clean.Options, heard, played []float32) (out []float32, share float64, err error) {
	opt.RateHz = speechRate
	c, err := clean.Open(opt)
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	out = make([]float32, len(heard))
	before, err := cpuTime(self())
	if err != nil {
		return nil, 0, err
	}
	for i := 0; i+echoFrame <= len(heard); i += echoFrame {
		c.Frame(out[i:i+echoFrame], heard[i:i+echoFrame], played[i:i+echoFrame])
	}
	after, err := cpuTime(self())
	return out, (after - before).Seconds() / (float64(len(heard)) / speechRate), err
}

// softer is by how many dB the one is softer than the other.
func softer(out, heard []float32) float64 {
	var a, b float64
	for i := range out {
		a, b = a+float64(out[i])*float64(out[i]), b+float64(heard[i])*float64(heard[i])
	}
	return 10 * math.Log10((b+1e-9)/(a+1e-9))
}

// cancelled adds how much of an echo is gone after some seconds.
func (r *Report) cancelled(ctx context.Context, o Options, voices [][]float32) error {
	o.say("playing %d voices in %d rooms each", len(voices), echoRooms)
	n := audio.Samples(echoPlayed, speechRate)
	after := []int{1, 3, 10}
	gone := make([][]float64, len(after))
	var heard, played []float32
	for _, v := range voices {
		for i := range echoRooms {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			v := v[:min(n, len(v))]
			h := aRoom(i).Hear(v)
			out, _, err := cleaned(clean.Options{Noise: clean.MildNoise}, h, v)
			if err != nil {
				return err
			}
			for k, s := range after {
				from := s * speechRate
				to := from + audio.Samples(echoJudged, speechRate)
				gone[k] = append(gone[k], softer(out[from:to], h[from:to]))
			}
			heard, played = append(heard, h...), append(played, v...)
		}
	}
	for k, s := range after {
		slices.Sort(gone[k])
		note := fmt.Sprintf("of %d voices in %d rooms; %s", len(voices), echoRooms, aRoomIs)
		r.figure(fmt.Sprintf("cancelled_%ds_median", s), gone[k][len(gone[k])/2], "dB", note)
		r.figure(fmt.Sprintf("cancelled_%ds_least", s), gone[k][0], "dB", "the worst of them")
	}
	_, share, err := cleaned(clean.Options{Noise: clean.MildNoise, Gain: true}, heard, played)
	if err != nil {
		return err
	}
	r.figure("core", 100*share, "%", "of one core, while it works; wished is 3 at most")
	return nil
}

// drifting adds how much of an echo is gone at least where two devices' clocks
// differ, in any ten seconds.
func (r *Report) drifting(ctx context.Context, o Options, voices [][]float32) error {
	n := audio.Samples(o.Drift, speechRate)
	played := make([]float32, 0, n)
	for i := 0; len(played) < n; i++ {
		v := voices[i%len(voices)]
		played = append(played, v[:min(len(v), n-len(played))]...)
	}
	for _, ppm := range []float64{-echoPPM, echoPPM} {
		o.say("playing for %v with clocks %v ppm apart", o.Drift, ppm)
		in := aRoom(1)
		in.PPM = ppm
		heard := in.Hear(played)
		devices := &room.Devices{
			RateHz:   speechRate,
			PPM:      ppm,
			OutChunk: 320,
			InChunk:  160,
			Late:     4 * time.Millisecond,
		}
		drift := clean.NewDrift(speechRate, devices.Now)
		c, err := clean.Open(clean.Options{RateHz: speechRate, Noise: clean.MildNoise})
		if err != nil {
			return err
		}
		out, reference := make([]float32, len(heard)), make([]float32, echoFrame)
		part := func(pcm []float32, from, n int) []float32 { return pcm[min(from, len(pcm)):min(from+n, len(pcm))] }
		devices.Run(o.Drift, func(from, n int) { drift.Played(part(played, from, n)) }, func(from, n int) {
			drift.Reference(reference)
			c.Frame(part(out, from, n), part(heard, from, n), reference)
		})
		c.Close()
		least := math.Inf(1)
		const step = 10 * speechRate
		for at := step; at+step <= len(out); at += step {
			least = min(least, softer(out[at:at+step], heard[at:at+step]))
		}
		side := "slower"
		if ppm > 0 {
			side = "faster"
		}
		r.figure("cancelled_drift_"+side, least, "dB", fmt.Sprintf("in the worst ten seconds of %v, the first left "+
			"out, with a loudspeaker %v ppm %s than the microphone", o.Drift, echoPPM, side))
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}
