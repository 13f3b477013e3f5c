package ear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/clean"
	"parley/appliance/audio/clean/acoustics"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// ownVoice returns a recording of one of the box's voices, at a rate.
func ownVoice(t *testing.T, name string, rateHz int) []float32 {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "audio", "clean", "testdata", name+".ogg"))
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(file, rateHz)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// kiosk is a box with its own loudspeaker and microphone in a room, and perhaps a person in front of it.
type kiosk struct {
	room   acoustics.Room
	plain  bool // its microphone is not cleaned
	alone  bool // the ear is not told what is played
	gain   bool
	played []float32 // 16 kHz
	near   []float32 // the person, as the microphone hears them
	begins time.Duration

	devices *acoustics.Devices // that play and record; nil: both by one clock, and never late
	softer  []softer
}

// softer is when the loudspeaker is turned down, and by how many dB.
type softer struct {
	from, to time.Duration
	db       float64
}

// given is what a loudspeaker was given, and when.
type given struct {
	at  time.Duration
	pcm []float32 // 16 kHz
}

// microphone returns the cleaned microphone signal, and what the loudspeaker was given when.
func (k kiosk) microphone(t *testing.T) (mic []float32, told []given) {
	t.Helper()
	const rate = engine.SpeechRateHz
	none, long := func(int, int) {}, time.Duration(len(k.played))*time.Second/rate
	part := func(pcm []float32, from, n int) []float32 { return pcm[min(from, len(pcm)):min(from+n, len(pcm))] }
	v, r := k.devices, k.room
	v.Run(long, none, none) // to know when it runs dry
	r.PPM = v.PPM
	out := v.Plays(k.played)
	mic = r.Hear(out)
	turned := map[float64][]float32{}
	for _, s := range k.softer {
		down := r
		down.Echo -= s.db
		if turned[s.db] == nil {
			turned[s.db] = down.Hear(out)
		}
		from, to := audio.Samples(s.from, rate), audio.Samples(s.to, rate)
		copy(part(mic, from, to-from), part(turned[s.db], from, to-from))
	}
	c, err := clean.Open(clean.Options{RateHz: rate, Noise: clean.MildNoise, Gain: k.gain})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d := clean.NewDrift(rate, v.Now)
	d.SetHeld(time.Duration(v.Holds) * time.Second / rate)
	reference := make([]float32, c.FrameSamples())
	v.Run(long, func(from, n int) {
		d.Played(part(k.played, from, n))
		told = append(told, given{v.Now(), part(k.played, from, n)})
	}, func(from, n int) {
		d.Heard(v.Now(), n)
		switch d.Reference(reference) {
		case clean.Unknown:
			c.PlaybackUnknown()
		case clean.Repositioned, clean.Dry:
			c.DelayChanged()
		case clean.Restored:
			c.ReferenceMoved()
		}
		c.Frame(part(mic, from, n), part(mic, from, n), reference)
	})
	return mic, told
}

// hears returns the longest voice in an utterance, how many pauses had words before them, and how long after
// the person began there had been 800 ms of voice.
func (k kiosk) hears(t *testing.T, v engine.VoiceDetector) (longest time.Duration, words int,
	interrupted time.Duration) {
	const rate = engine.SpeechRateHz
	var mic []float32
	var told []given
	if k.devices != nil {
		mic, told = k.microphone(t)
	} else {
		mic = k.room.Hear(k.played)
	}
	for i, x := range k.near {
		if at := audio.Samples(k.begins, rate) + i; at < len(mic) {
			mic[at] += x
		}
	}
	if !k.plain && k.devices == nil {
		c, err := clean.Open(clean.Options{RateHz: rate, Noise: 6, Gain: k.gain})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i, n := 0, c.FrameSamples(); i+n <= len(mic); i += n {
			c.Frame(mic[i:i+n], mic[i:i+n], k.played[i:i+n])
		}
	}
	now := time.Duration(0)
	interrupted = never
	e := New(Parts{
		Detector:    v,
		Transcriber: patientEar{},
		Clock:       func() time.Duration { return now },
		Post: func(e turn.Event) {
			switch e := e.(type) {
			case turn.VoiceHeard:
				longest = max(longest, e.Voice)
				if e.Voice >= 800*time.Millisecond && now > k.begins {
					interrupted = min(interrupted, now-k.begins)
				}
			case turn.VoicePaused:
				if !e.Short {
					words++
				}
			}
		},
		PostAndWait:  func(context.Context, turn.Event) {},
		OnFirstSound: func() {},
		Record:       func(time.Duration, []float32) {},
		Go:           func(func()) {},
	}, turn.DefaultSettings())
	e.transcribing = true // nothing is transcribed
	e.start()
	loud := audio.Resample(k.played, rate, contract.OutputRateHz)
	for i := 0; i+320 <= len(mic); i += 320 {
		for ; len(told) > 0 && told[0].at <= now; told = told[1:] {
			e.Played(told[0].at, audio.Resample(told[0].pcm, rate, contract.OutputRateHz), 0)
		}
		if i%(rate/2) == 0 && !k.alone && k.devices == nil { // as the line takes it
			e.Played(now, loud[3*i:min(len(loud), 3*i+contract.OutputRateHz/2)], 0)
		}
		now = time.Duration(i+320) * time.Second / rate
		e.hear(t.Context(), mic[i:i+320])
		if len(k.near) > 0 && interrupted != never {
			break // the result is known
		}
	}
	return longest, words, interrupted
}

// A box that talks for half an hour next to its own microphone takes none of it for a person. Without
// cleaning the microphone and recognising its own voice, it would.
func TestAKioskDoesNotHearItself(t *testing.T) {
	v := openSilero(t)
	var played []float32
	long := 80 * time.Second
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		long = 30 * time.Minute
	} else if raced {
		return // a single goroutine computes, ten times as long
	}
	for i := 0; audio.Samples(long, engine.SpeechRateHz) > len(played); i++ {
		played = append(played, ownVoice(t, []string{"joe", "jenny", "alan"}[i%3], engine.SpeechRateHz)...)
	}
	played = played[:audio.Samples(long, engine.SpeechRateHz)]
	ms := time.Millisecond
	hears := func(k kiosk) (time.Duration, int) {
		longest, words, _ := k.hears(t, v)
		t.Logf("echo %v dB, %v late, cleaned %v, told what is played %v: of %v of talk the longest voice is %v, %d "+
			"pauses after words",
			k.room.Echo, k.room.Latency, !k.plain, !k.alone,
			time.Duration(len(k.played)/engine.SpeechRateHz)*time.Second, longest, words)
		return longest, words
	}
	for _, r := range []acoustics.Room{
		{
			Echo:    -10,
			Latency: 80 * ms,
			Decay:   300 * ms,
			Bend:    0.03,
			Noise:   -60,
		},
		{
			Echo:    -3,
			Latency: 250 * ms,
			Decay:   500 * ms,
			Bend:    0.06,
			Noise:   -50,
			Seed:    5,
		},
	} {
		r.RateHz = engine.SpeechRateHz
		k := kiosk{room: r, gain: true, played: played}
		if longest, words := hears(k); longest >= 400*ms || words > 0 {
			t.Error("the ear takes the echo for a voice")
		}
		k.alone, k.plain, k.played = true, true, played[:20*engine.SpeechRateHz]
		if longest, words := hears(k); longest < 800*ms || words == 0 {
			t.Error("with neither it would not hear itself: the test shows nothing")
		}
	}
}

// Even its first words in a new room are not taken for a person's.
func TestTheFirstWordsInANewRoomAreIgnored(t *testing.T) {
	if raced {
		return
	}
	v := openSilero(t)
	ms := time.Millisecond
	for _, c := range []struct {
		voice       string
		late, fades time.Duration
		seed        uint64
	}{{"jenny", 150 * ms, 300 * ms, 1}, {"alan", 150 * ms, 200 * ms, 3}, {"jenny", 150 * ms, 300 * ms, 4},
		{"jenny", 80 * ms, 200 * ms, 0}, {"alan", 150 * ms, 200 * ms, 0}} {
		r := acoustics.Room{
			RateHz:  engine.SpeechRateHz,
			Echo:    -10,
			Latency: c.late,
			Decay:   c.fades,
			Bend:    0.03,
			Noise:   -60,
			Seed:    c.seed,
		}
		played := append(make([]float32, engine.SpeechRateHz/2),
			ownVoice(t, c.voice, engine.SpeechRateHz)[:7*engine.SpeechRateHz]...)
		if longest, words, _ := (kiosk{room: r, gain: true, played: played}).hears(t, v); words > 0 ||
			longest >= 200*ms {
			t.Errorf("%s, %v late in room %d: a voice of %v, %d pauses after words", c.voice, c.late, c.seed, longest,
				words)
		}
	}
}

// Half an hour of talk is never taken for a person's words: in three rooms that send back a tenth of its
// power, from devices whose clocks differ, on a machine that is sometimes too busy for its loudspeaker, with
// a loudspeaker that is turned down, off and up again.
func TestAKioskNeverHearsItself(t *testing.T) {
	if raced {
		return // a single goroutine computes, ten times as long
	}
	v := openSilero(t)
	ms := time.Millisecond
	long, rooms, most := 80*time.Second, 1, 0
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		// a tenth of a second is not a word, when the loudspeaker goes from off to full
		long, rooms, most = 10*time.Minute, 3, 1
	}
	for n, r := range []acoustics.Room{
		{
			Echo:    -10,
			Latency: 20 * ms,
			Decay:   300 * ms,
			Bend:    0.03,
			Noise:   -60,
			Seed:    1,
		},
		{
			Echo:    -10,
			Latency: 60 * ms,
			Decay:   500 * ms,
			Bend:    0.03,
			Noise:   -50,
			Seed:    2,
		},
		{
			Echo:    -10,
			Latency: 120 * ms,
			Decay:   200 * ms,
			Bend:    0.06,
			Noise:   -65,
			Seed:    3,
		},
	}[:rooms] {
		r.RateHz = engine.SpeechRateHz
		k := kiosk{room: r, gain: true}
		for i := n; audio.Samples(long, engine.SpeechRateHz) > len(k.played); i++ { // answers, and silence between them
			k.played = append(k.played, ownVoice(t, []string{"joe", "jenny", "alan"}[i%3], engine.SpeechRateHz)...)
			k.played = append(k.played, make([]float32, 3*engine.SpeechRateHz)...)
		}
		k.played = k.played[:audio.Samples(long, engine.SpeechRateHz)]
		holds := 80 * ms
		k.devices = &acoustics.Devices{
			RateHz:   r.RateHz,
			PPM:      []float64{80, -150, 20}[n],
			OutChunk: r.RateHz / 50,
			InChunk:  r.RateHz / 100,
			Late:     6 * ms,
			Seed:     uint64(n),
			Holds:    int(holds) * r.RateHz / int(time.Second),
		}
		chance := rand.New(rand.NewPCG(uint64(n), 9))
		for at := 14 * time.Second; at < long; at += 20 * time.Second {
			k.devices.Stalls = append(k.devices.Stalls,
				acoustics.Stall{At: at, Long: holds + time.Duration(chance.ExpFloat64()*float64(40*ms))})
		}
		for i, at := 0, 25*time.Second; at+22*time.Second < long; i, at = i+1, at+45*time.Second {
			k.softer = append(k.softer, softer{at, at + 15*time.Second, []float64{60, 12, 25}[i%3]})
		}
		longest, words, _ := k.hears(t, v)
		t.Logf("room %d: of %v of talk the longest voice is %v, %d pauses after words", n, long, longest, words)
		if words > most || longest >= 400*ms {
			t.Errorf("room %d: the ear takes the echo for a voice of %v, %d pauses after words", n, longest, words)
		}
	}
}

// A person who speaks over it is heard about as soon as in silence, even one softer than the echo.
func TestAPersonInFrontOfAKioskIsHeard(t *testing.T) {
	if raced {
		return
	}
	v := openSilero(t)
	ms := time.Millisecond
	for n, loud := range []float64{-24, -30, -36} {
		for _, talk := range judged(n) {
			r := acoustics.Room{
				RateHz:  engine.SpeechRateHz,
				Echo:    -10,
				Latency: 80 * ms,
				Decay:   300 * ms,
				Bend:    0.03,
				Noise:   -60,
			}
			near := r.Say(recorded(t, talk[1], engine.SpeechRateHz), loud)
			k := kiosk{
				room:   r,
				gain:   true,
				played: ownVoice(t, "joe", engine.SpeechRateHz)[:20*engine.SpeechRateHz],
				near:   near,
				begins: 6 * time.Second,
			}
			_, _, over := k.hears(t, v)
			k.plain, k.room.Echo = true, -200
			_, _, quiet := k.hears(t, v)
			what := fmt.Sprintf("%s at %v dB over an echo of about -30: interrupts after %v, %v in silence", talk[1],
				loud, over, quiet)
			t.Log(what)
			if over > quiet+300*ms {
				t.Error(what)
			}
		}
	}
}
