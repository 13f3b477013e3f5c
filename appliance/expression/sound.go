package expression

import (
	"math"

	"parley/appliance/contract"
)

const (
	// maxFrames is how much of an utterance counts, its newest twenty seconds: 0.9 MB. No one's tone stays
	// the same for longer.
	maxFrames = 2000
	// behind is how many samples after its window the pitch of a frame needs.
	behind = (pitchSamples - window) / 2
	// loudestSample is the largest valid sample: decoders may exceed full scale a little.
	loudestSample = 2
)

// A Sound measures the sound of an utterance as it comes. One goroutine uses it.
type Sound struct {
	m       *Meter
	scratch *scratch
	samples []float64 // still needed by later frames
	next    int       // index in samples of the next frame
	frames  []frame   // the newest
	limit   int       // frames that are stored
	dropped int       // frames before the first of frames
}

// Hear takes the next samples, mono at 16 kHz. It takes about 0.1 ms for each 10 ms of sound.
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

// Tone judges what was heard so far; more may follow.
func (s *Sound) Tone() Tone {
	if len(s.frames)+len(s.samples) == 0 {
		return Tone{m: s.m, of: voicePrior}
	}
	return s.m.toneOf(s.all())
}

// toneOf judges at least one frame.
func (m *Meter) toneOf(frames []frame) Tone {
	f := describe(frames)
	of, voiced := m.voice.tone(f)
	if !voiced {
		return Tone{m: m, of: of}
	}
	return Tone{m: m, of: of, voiced: f["voiced"]}
}

// A Tone is how a voice sounded up to some moment. It is read-only.
type Tone struct {
	m      *Meter
	of     [len(voiceClasses)]float64
	voiced float64 // frames with a voice; 0 if there is none
}

// Scores returns the scores of the voice alone, all above 0. A feeling that a voice does not show has the lowest score.
func (t Tone) Scores() contract.EmotionScores { return rounded(voiceOnly(t.m.mapping.ofVoice(t.of))) }

// MeanTone returns the mean of at least one tone, each weighted by how much voice it was measured on. Without any voice
// it is the first.
func MeanTone(tones ...Tone) Tone {
	mean := Tone{m: tones[0].m}
	for _, t := range tones {
		mean.voiced += t.voiced
	}
	if mean.voiced == 0 {
		return tones[0]
	}
	for _, t := range tones {
		for i, p := range t.of {
			mean.of[i] += p * (t.voiced / mean.voiced)
		}
	}
	return mean
}

// Express scores a text that was said in the tone, in a language (BCP 47; empty if unknown), and names the
// feelings that stand out ("tired, sad").
func (t Tone) Express(text, language string) (scores contract.EmotionScores, strong string) {
	m := t.m
	voice := m.mapping.ofVoice(t.of)
	if Understands(language) {
		scores = blend(m.mapping.ofWords(text, m.text.probabilities(text)), voice)
	} else {
		scores = voiceOnly(voice)
	}
	scores = rounded(scores)
	return scores, standOut(scores)
}

// measure measures the next frame, and drops samples that are no longer needed.
func (s *Sound) measure() {
	if len(s.frames) == s.limit { // drop a tenth at once, rather than one frame each time
		s.frames = append(s.frames[:0], s.frames[s.limit/10:]...)
		s.dropped += s.limit / 10
	}
	s.frames = append(s.frames, s.scratch.measure(s.m.analyser, s.samples, s.next))
	s.next += hop
	if past := s.next - behind; past >= rateHz/10 {
		s.samples = append(s.samples[:0], s.samples[past:]...)
		s.next -= past
	}
}

// all returns the frames so far as if the sound ended here.
func (s *Sound) all() []frame {
	end := *s // a copy, because these frames will be measured again
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

// trimmed returns the frames from the first to the last that is within 40 dB of the loudest, and five more on
// either side.
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
