package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/clean"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/text"
)

const (
	// near and far are how loud a person is in the microphone while speaking, in dB
	// of full scale: about as loud as the echo, and from two metres.
	near, far = -30, -42
	// street is the noise of a place that is not quiet, 12 dB below who is near.
	street = -42
	// echoPause is the silence between two recordings.
	echoPause = 600 * time.Millisecond
)

// scene is somebody who speaks in front of a box.
type scene struct {
	name   string
	loud   float64 // of who speaks
	noise  float64
	speaks bool // the box speaks meanwhile
	ways   []way
}

// way is how the microphone is cleaned; nil: it is not.
type way struct {
	name string
	opt  *clean.Options
}

// scenes are those in which words are counted.
func scenes() []scene {
	plain := way{"as_it_is", nil}
	off, mild, strong := way{"noise_0", &clean.Options{}}, way{"noise_6", &clean.Options{Noise: 6}},
		way{"noise_15", &clean.Options{Noise: 15}}
	lifted := way{"lifted", &clean.Options{Noise: clean.MildNoise, Gain: true}}
	return []scene{
		{"alone", near, -60, false, []way{plain, mild, lifted}},
		{"in_noise", near, street, false, []way{plain, off, mild, strong}},
		{"far", far, -60, false, []way{plain, mild, lifted}},
		{"over_the_box", near, -60, true, []way{plain, mild, strong, lifted}},
	}
}

// understood adds the words that the transcriber gets wrong of people who speak to
// the box, as the microphone hears them and as they are cleaned; and the delay.
func (r *Report) understood(ctx context.Context, o Options, voices [][]float32, prompts []recording) (err error) {
	if len(prompts) == 0 {
		return fmt.Errorf("no recording has its words beside it: put the words of NAME.wav in NAME.txt")
	}
	opened, err := engines.Open(ctx, o.Config, engines.Hearing, o.Log)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, opened.Close()) }()
	late := math.Inf(-1)
	for _, s := range scenes() {
		heard, played, person, places := s.play(voices, prompts)
		for _, w := range s.ways {
			o.say("transcribing %d recordings: %s, %s", len(prompts), s.name, w.name)
			out := heard
			if w.opt != nil {
				if out, _, err = cleaned(*w.opt, heard, played); err != nil {
					return err
				}
				if s.name == "alone" {
					late = max(late, lateness(person, out))
				}
			}
			wrong, words := 0, 0
			for i, p := range prompts {
				margin := audio.Samples(echoPause/2, speechRate)
				pcm := out[places[i]-margin : places[i]+len(p.PCM)+margin]
				got, err := opened.Transcriber.Transcribe(ctx, pcm, engine.TranscribeOptions{Language: "en"})
				if err != nil {
					return fmt.Errorf("%s: %w", p.Name, err)
				}
				want := text.Words(p.Text)
				wrong, words = wrong+text.WordErrors(want, text.Words(got.Text)), words+len(want)
			}
			r.figure("word_error_"+s.name+"_"+w.name, 100*float64(wrong)/float64(words), "%",
				fmt.Sprintf("of %d words in %d recordings", words, len(prompts)))
		}
	}
	r.figure("delay", late, "ms", "added to what somebody says; wished are 20 at most")
	return nil
}

// play is what the microphone hears of the recordings, one after the other, what
// the box plays meanwhile, who speaks alone, and where each recording begins. The
// box has been speaking for ten seconds before.
func (s scene) play(voices [][]float32, prompts []recording) (heard, played, person []float32, places []int) {
	in := aRoom(1)
	in.Noise = s.noise
	person = make([]float32, 10*speechRate)
	for _, p := range prompts {
		places = append(places, len(person))
		person = append(person, in.Say(p.PCM, s.loud)...)
		person = append(person, make([]float32, audio.Samples(echoPause, speechRate))...)
	}
	played = make([]float32, len(person))
	for at, i := 0, 0; s.speaks && at < len(played); i++ {
		at += copy(played[at:], voices[i%len(voices)])
	}
	heard = in.Hear(played)
	for i, v := range person {
		heard[i] += v
	}
	return heard, played, person, places
}

// lateness is how many milliseconds later than the one the other is, up to 40, by
// what they are most alike at.
func lateness(first, second []float32) float64 {
	best, most := 0, math.Inf(-1)
	n := min(len(first), 20*speechRate)
	for late := range 40 * speechRate / 1000 {
		var sum float64
		for i := 0; i+late < n; i++ {
			sum += float64(first[i]) * float64(second[i+late])
		}
		if sum > most {
			best, most = late, sum
		}
	}
	return 1000 * float64(best) / speechRate
}
