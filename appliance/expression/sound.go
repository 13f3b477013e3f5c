package expression

import (
	"math"

	"parley/appliance/contract"
)

const (
	// maxFrames is how much of an utterance is listened to, its newest
	// twenty seconds: 0.9 MB. Nobody's tone is one and the same for longer.
	maxFrames = 2000
	// behind is how many samples after its window a frame's pitch hears.
	behind = (pitchSamples - window) / 2
	// loudestSample is what a sample may be: a little more than full scale, as
	// decoders make it.
	loudestSample = 2
)

// A Sound takes what is said while it is said, and measures it as it comes. One
// goroutine uses it.
type Sound struct {
	m       *Meter
	scratch *scratch
	samples []float64 // those that frames to come still hear
	next    int       // where in samples the next frame begins
	frames  []frame
}

// Hear takes the next samples, mono at 16 kHz. It takes about 0.1 ms for each 10
// ms of them.
func (s *Sound) Hear(pcm []float32) {
	for _, v := range pcm {
		x := float64(v)
		if math.IsNaN(x) {
			x = 0
		}
		s.samples = append(s.samples, min(max(x, -loudestSample), loudestSample))
	}
	for s.next+window+behind <= len(s.samples) {
		s.measure()
	}
}

// Tone judges what was heard so far, of which more may follow.
func (s *Sound) Tone() Tone {
	if len(s.frames)+len(s.samples) == 0 {
		return Tone{s.m, voicePrior}
	}
	return Tone{s.m, s.m.voice.tone(describe(s.all()))}
}

// A Tone is how a voice sounded up to some moment. It is read-only.
type Tone struct {
	m  *Meter
	of [len(voiceClasses)]float64
}

// Express scores what was said in the tone, with these words, in a language (BCP
// 47, empty where it is not known), and names the feelings in it that stand out
// ("tired, sad").
func (t Tone) Express(text, language string) (scores contract.EmotionScores, strong string) {
	m := t.m
	voice := m.mapping.ofVoice(t.of)
	if understands(language) {
		scores = blend(m.mapping.ofWords(text, m.text.probabilities(text)), voice)
	} else {
		scores = voiceOnly(voice)
	}
	scores = rounded(scores)
	return scores, standOut(scores)
}

// measure measures the next frame, and forgets what no other hears.
func (s *Sound) measure() {
	if len(s.frames) == maxFrames { // a tenth at once, and not one at a time
		s.frames = append(s.frames[:0], s.frames[maxFrames/10:]...)
	}
	s.frames = append(s.frames, s.scratch.measure(s.m.analyser, s.samples, s.next))
	s.next += hop
	if past := s.next - behind; past >= rateHz/10 {
		s.samples = append(s.samples[:0], s.samples[past:]...)
		s.next -= past
	}
}

// all are the frames so far, as if nothing more came.
func (s *Sound) all() []frame {
	end := *s // what is measured now would be measured again
	scratch := *s.scratch
	end.scratch = &scratch
	end.samples = append([]float64(nil), s.samples...)
	if missing := end.next + window - len(end.samples); len(s.frames) == 0 && missing > 0 {
		end.samples = append(end.samples, make([]float64, missing)...)
	}
	end.frames = s.frames[:len(s.frames):len(s.frames)]
	for end.next+window <= len(end.samples) {
		end.frames = append(end.frames, scratch.measure(s.m.analyser, end.samples, end.next))
		end.next += hop
	}
	return end.frames
}

// trimmed are the frames from the first to the last that is within 40 dB of the
// loudest, and five more on either side.
func trimmed(frames []frame) []frame {
	loudest := math.Inf(-1)
	for _, f := range frames {
		loudest = max(loudest, f.db)
	}
	first, last := len(frames), 0
	for i, f := range frames {
		if f.db > loudest-40 {
			first, last = min(first, i), i
		}
	}
	return frames[max(0, first-5):min(len(frames), last+6)]
}
