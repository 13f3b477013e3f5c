package ear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/internal/packtest"
)

// recorded returns a recording of a person.
func recorded(t *testing.T, name string, rateHz int) []float32 {
	t.Helper()
	file, err := os.ReadFile(packtest.Recording(t, name))
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(file, rateHz)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

func openSilero(t *testing.T) engine.VoiceDetector {
	t.Helper()
	rt, err := onnx.Open(packtest.File(t, "runtime-onnx", "libonnxruntime.so"))
	if err != nil {
		t.Fatal(err)
	}
	silero, err := onnx.LoadSilero(rt, packtest.File(t, "turn", "silero_vad.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := silero.Close(); err != nil {
			t.Error(err)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return silero
}

// duplex is a conversation in which the assistant plays a recording from 1 s on, and the user's line has an
// echo of it, and perhaps a person who speaks from 3 s on.
type duplex struct {
	delay   time.Duration
	gain    float64 // dB
	room    float64 // reverberation time: seconds to fade by 60 dB
	speaks  bool
	louder  float64 // of the person over the echo, in dB; over the recording if there is no echo
	echoes  bool
	unaware bool          // the ear is not told what is played
	begins  time.Duration // when the person speaks; 0 means 3 s
}

// hears returns the voice of the longest utterance, whether one was long enough for words, and how long after
// the person began there had been 250 ms and 800 ms of voice.
func (d duplex) hears(t *testing.T, v engine.VoiceDetector, assistant, user string) (longest time.Duration, words bool,
	first, interrupted time.Duration) {
	const rate = engine.SpeechRateHz
	if d.begins == 0 {
		d.begins = 3 * time.Second
	}
	said := recorded(t, assistant, contract.OutputRateHz)
	mic := make([]float32, 3*rate+len(said)/3+3*rate)
	gain := math.Pow(10, d.gain/20)
	if d.echoes {
		near := recorded(t, assistant, rate)
		r := rand.New(rand.NewPCG(3, 3))
		taps := map[int]float64{0: 1}
		for i := range int(d.room * 200) { // two hundred reflections a second
			at := i*80 + r.IntN(80)
			taps[at] += r.NormFloat64() * 0.5 * math.Pow(10, -3*float64(at)/rate/d.room)
		}
		for tap, g := range taps {
			from := rate + audio.Samples(d.delay, rate) + tap
			for i, x := range near {
				if from+i < len(mic) {
					mic[from+i] += x * float32(g*gain)
				}
			}
		}
	}
	if d.speaks {
		level := math.Pow(10, d.louder/20)
		if d.echoes {
			level *= gain
		}
		for i, x := range recorded(t, user, rate) {
			if at := audio.Samples(d.begins, rate) + i; at < len(mic) {
				mic[at] += x * float32(level)
			}
		}
	}
	r := rand.New(rand.NewPCG(4, 4))
	for i := range mic {
		mic[i] += float32(r.NormFloat64() * 0.0003)
	}

	now := time.Duration(0)
	first, interrupted = never, never
	e := New(Parts{
		Detector:    v,
		Transcriber: patientEar{},
		Clock:       func() time.Duration { return now },
		Post: func(e turn.Event) {
			switch e := e.(type) {
			case turn.VoiceHeard:
				longest = max(longest, e.Voice)
				if e.Voice >= 250*time.Millisecond {
					first = min(first, now-d.begins)
				}
				if e.Voice >= 800*time.Millisecond {
					interrupted = min(interrupted, now-d.begins)
				}
			case turn.VoicePaused:
				words = words || !e.Short
			}
		},
		PostAndWait:  func(context.Context, turn.Event) {},
		OnFirstSound: func() {},
		Record:       func(time.Duration, []float32) {},
		Go:           func(func()) {},
	}, turn.DefaultSettings())
	e.transcribing = true // nothing is transcribed
	if !d.unaware {
		for at := 0; at < len(said); at += contract.OutputRateHz / 2 { // as the mouth makes it
			e.Played(time.Second, said[at:min(len(said), at+contract.OutputRateHz/2)], 0)
		}
	}
	e.start()
	for i := 0; i+320 <= len(mic); i += 320 {
		now = time.Duration(i+320) * time.Second / rate
		e.hear(t.Context(), mic[i:i+320])
		if d.speaks && interrupted != never {
			break // the result is known
		}
	}
	return longest, words, first, interrupted
}

const never = time.Hour

var talks = [][2]string{{"demo-nogo", "vm-options"}, {"dir-intro", "screen-callee-options"},
	{"vm-msginstruct", "demo-abouttotry"},
	{"demo-moreinfo", "demo-echotest"}, {"conf-usermenu", "priv-callee-options"}}

// judged returns the recordings with which the nth setting of a test is tried: two normally, or all. The race
// detector takes ten times as long and finds little in a single goroutine, so it gets only some settings, and
// one pair.
func judged(n int) [][2]string {
	switch {
	case os.Getenv("PARLEY_FULL_TESTS") != "":
		return talks
	case raced && n%4 != 0:
		return nil
	case raced:
		return talks[:1]
	}
	return talks[:2]
}

// The assistant's own voice neither interrupts it nor is answered, however late and loud it comes back, with
// reverberation and without.
func TestTheAssistantsEchoIsIgnored(t *testing.T) {
	v := openSilero(t)
	ms := time.Millisecond
	for n, d := range []duplex{
		{delay: 80 * ms, gain: -20}, {delay: 20 * ms, gain: -20}, {delay: 150 * ms, gain: -20},
		{delay: 250 * ms, gain: -20},
		{delay: 80 * ms, gain: -10}, {delay: 80 * ms, gain: -30},
		{delay: 80 * ms, gain: -20, room: 0.3}, {delay: 150 * ms, gain: -10, room: 0.5},
	} {
		d.echoes = true
		for _, talk := range judged(n) {
			longest, words, _, _ := d.hears(t, v, talk[0], "")
			what := fmt.Sprintf("%s %v late, %v dB, room %v s", talk[0], d.delay, d.gain, d.room)
			t.Log(what, longest)
			// An echo that is hardly louder than the microphone's noise is not always recognised, but it must
			// not interrupt.
			faint := d.gain <= -30
			if (words || longest >= 250*ms) && !faint || longest >= 800*ms {
				t.Errorf("%s: %v of voice, words: %v", what, longest, words)
			}
		}
	}
	d := duplex{
		delay:   80 * ms,
		gain:    -20,
		echoes:  true,
		unaware: true,
	}
	if longest, words, _, _ := d.hears(t, v, talks[0][0], ""); !words || longest < 800*ms {
		t.Error("without what was played, the echo would not be heard either: the test shows nothing")
	}
}

// A person who speaks over the echo is heard, even at the same level; with a headset, as soon as if the
// assistant were silent.
func TestAPersonIsHeardOverTheEcho(t *testing.T) {
	v := openSilero(t)
	ms := time.Millisecond
	for n, d := range []duplex{
		{
			delay:  80 * ms,
			gain:   -20,
			echoes: true,
			louder: 0,
		}, {
			delay:  80 * ms,
			gain:   -20,
			echoes: true,
			louder: 6,
		}, {
			delay:  80 * ms,
			gain:   -20,
			echoes: true,
			louder: 20,
		},
		{
			delay:  80 * ms,
			gain:   -20,
			room:   0.3,
			echoes: true,
			louder: 0,
		}, {
			delay:  150 * ms,
			gain:   -20,
			room:   0.3,
			echoes: true,
			louder: 10,
		},
		{louder: 0}, {louder: -20}, {louder: -10, begins: time.Second}, {louder: -10, begins: 1300 * ms},
		{louder: -10, begins: 800 * ms},
	} {
		d.speaks = true
		for _, talk := range judged(n) {
			alone := d
			alone.unaware, alone.echoes = true, false
			if d.echoes {
				alone.louder = d.gain + d.louder
			}
			_, _, _, quiet := alone.hears(t, v, talk[0], talk[1])
			_, _, _, over := d.hears(t, v, talk[0], talk[1])
			what := fmt.Sprintf("%s over %s, echo %v, room %v s, %v dB louder, from %v on", talk[1], talk[0], d.echoes,
				d.room, d.louder, d.begins)
			t.Logf("%s: interrupts after %v, %v in silence", what, over, quiet)
			if over == never || !d.echoes && over > quiet+200*ms || over > quiet+800*ms {
				t.Errorf("%s: interrupts after %v, %v in silence", what, over, quiet)
			}
		}
	}
}

// An echo is recognised up to a second late: a busy box lets its client run dry, and everything it plays
// after that is late.
func TestALateEchoIsRecognised(t *testing.T) {
	for _, delay := range []time.Duration{20 * time.Millisecond, 400 * time.Millisecond, time.Second} {
		e := &echo{}
		e.playback.take(0, recorded(t, talks[0][0], contract.OutputRateHz), 0)
		mic := append(make([]float32, audio.Samples(delay, engine.SpeechRateHz)),
			recorded(t, talks[0][0], engine.SpeechRateHz)...)
		known, frames := 0, 0
		for i := engine.FrameSamples; i <= len(mic); i += engine.FrameSamples {
			e.hear(time.Duration(i)*time.Second/engine.SpeechRateHz, mic[i-engine.FrameSamples:i])
			if time.Duration(i)*time.Second/engine.SpeechRateHz < delay+echoWindow*echoHopTime {
				continue // too little to judge
			}
			frames++
			if e.isEcho() {
				known++
			}
		}
		if known < frames*9/10 {
			t.Errorf("%v late: %d of %d frames are known", delay, known, frames)
		}
	}
}

// An echo is recognised although the client runs dry again and again, and although the network holds back the
// user's sound, which makes the echo seem later for a while.
func TestAnEchoIsRecognisedThroughGapsAndStalls(t *testing.T) {
	const rate = engine.SpeechRateHz
	said, came := recorded(t, talks[0][0], contract.OutputRateHz), recorded(t, talks[0][0], rate)[:5*rate]
	for name, stalls := range map[string]bool{"the client runs dry": false, "the user's sound stalls": true} {
		if raced && stalls {
			continue // it takes ten times as long, and there is nothing to find
		}
		e := &echo{}
		var mic []float32
		at := time.Duration(0)
		for i, n := 0, 0; i < len(came); i += n { // a second of sound, and 0.4 s of nothing
			n = min(rate, len(came)-i)
			piece := said[3*i : min(len(said), 3*(i+n))]
			kept := min(len(piece)/3, contract.OutputRateHz/10)
			e.playback.take(at, piece[:len(piece)/2], kept) // part of it is held back
			e.playback.take(at, piece[len(piece)/2:], 0)
			mic = append(append(mic, came[i:i+n]...), make([]float32, rate*2/5)...)
			at = time.Duration(len(mic)) * time.Second / rate
		}
		mic = append(make([]float32, rate/10), mic...) // 100 ms late
		known, frames := 0, 0
		for i := engine.FrameSamples; i <= len(mic); i += engine.FrameSamples {
			frame := mic[i-engine.FrameSamples : i]
			now := time.Duration(i) * time.Second / rate
			if since := now % (3 * time.Second); stalls && now > 3*time.Second && since < 600*ms {
				now += 600*ms - since // that late at first, then less
			}
			e.hear(now, frame)
			if i < rate || energy(frame) < 0.01 {
				continue // too little to judge, or silence without voice
			}
			frames++
			if e.isEcho() {
				known++
			}
		}
		t.Logf("%s: %d of %d frames are known", name, known, frames)
		if known < frames*9/10 {
			t.Errorf("%s: %d of %d frames are known", name, known, frames)
		}
	}
}

func energy(pcm []float32) (sum float32) {
	for _, x := range pcm {
		sum += x * x
	}
	return sum
}
