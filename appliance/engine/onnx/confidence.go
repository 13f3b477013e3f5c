package onnx

import (
	"math"
	"slices"

	"parley/appliance/engine"
)

// transcription is the result of one pass over a sound, with the model's confidence.
type transcription struct {
	ids       []int64
	certainty float64   // sum of the log-probabilities of all steps, including the end
	logs      []float64 // the log-probability of each step; those of ids come first
	steps     int
}

// add records the probability of the chosen token.
func (t *transcription) add(logits []float32, chosen int64) {
	log := logProbability(logits, chosen)
	t.certainty += log
	t.logs = append(t.logs, log)
	t.steps++
}

// mean returns the mean log-probability of a token.
func (t transcription) mean() float64 { return t.certainty / float64(max(t.steps, 1)) }

// concat returns r followed by o, the result for the sound after it.
func (t transcription) concat(o transcription) transcription {
	return transcription{
		ids:       slices.Concat(t.ids, o.ids),
		certainty: t.certainty + o.certainty,
		logs:      slices.Concat(t.logs[:min(len(t.ids), len(t.logs))], o.logs),
		steps:     t.steps + o.steps,
	}
}

const (
	// minDoubtSamples is the length from which a transcription may be doubted. In 150 prompts none
	// under 6 s broke off, and in a short one a single rare word makes the mean low.
	minDoubtSamples = 6 * engine.SpeechRateHz
	// doubtfulBelow is the mean log-probability below which a transcription is doubted. Of 405
	// sections of long prompts the median was -0.12 and 2 in 100 were below -0.29; those that had
	// lost words had -0.32, -0.32 and -0.55.
	doubtfulBelow = -0.3
	// minTokensPerSecond is the least number of tokens per second of voice. Complete transcripts of
	// people had 2.5 to 6.
	minTokensPerSecond = 2.0
	// lostTokensRatio is the ratio to another transcription's tokens below which some were probably
	// lost, rather than numbers written differently. confidenceMargin is how much better the mean
	// of the shorter one must be to be preferred anyway.
	lostTokensRatio  = 0.9
	confidenceMargin = 0.15
)

// doubtful reports whether the model has probably lost part of the speech.
func (t transcription) doubtful(pcm []float32) bool {
	return len(pcm) >= minDoubtSamples && (t.mean() < doubtfulBelow || t.tooShort(pcm))
}

// tooShort reports whether the text is far too short for the voice.
func (t transcription) tooShort(pcm []float32) bool {
	return float64(len(t.ids)) < minTokensPerSecond*voicedSeconds(pcm)
}

// better reports whether r is more probably right than o, another transcription of the same sound.
func (t transcription) better(o transcription) bool {
	more := t.mean() - o.mean()
	switch mine, others := float64(len(t.ids)), float64(len(o.ids)); {
	case mine < lostTokensRatio*others:
		return more > confidenceMargin
	case others < lostTokensRatio*mine:
		return more > -confidenceMargin
	}
	return more > 0
}

// loudnessFrame is 32 ms.
const loudnessFrame = engine.FrameSamples

// energies returns the mean square of each whole frame of a sound.
func energies(pcm []float32) []float64 {
	all := make([]float64, len(pcm)/loudnessFrame)
	for i := range all {
		for _, x := range pcm[i*loudnessFrame : (i+1)*loudnessFrame] {
			all[i] += float64(x) * float64(x)
		}
	}
	return all
}

// voicedSeconds returns how much of a sound is about as loud as its voice.
func voicedSeconds(pcm []float32) float64 {
	all := energies(pcm)
	if len(all) == 0 {
		return 0
	}
	loud := slices.Sorted(slices.Values(all))[len(all)*9/10]
	n := 0
	for _, e := range all {
		if e > loud/100 {
			n++
		}
	}
	return float64(n*loudnessFrame) / engine.SpeechRateHz
}

// quietest returns the position in the middle third of a sound where it is quietest over three
// frames, about 100 ms.
func quietest(pcm []float32) int {
	all := energies(pcm)
	best, least := len(all)/2, math.Inf(1)
	for i := len(all) / 3; i+2 < len(all)*2/3; i++ {
		if e := all[i] + all[i+1] + all[i+2]; e < least {
			best, least = i+1, e
		}
	}
	return min(best*loudnessFrame+loudnessFrame/2, len(pcm))
}

// logProbability returns the log-probability of a token.
func logProbability(logits []float32, chosen int64) float64 {
	best := logits[chosen]
	var sum float32
	for _, x := range logits {
		sum += fastExp(x - best)
	}
	return -math.Log(float64(sum))
}

// fastExp returns e to the power of x, for x at most 0, to within a thousandth. That is enough for
// the confidence of a text, which needs 32,768 of them for each token.
func fastExp(x float32) float32 {
	if x < -20 {
		return 0
	}
	y := x * math.Log2E
	whole := math.Floor(float64(y))
	f := y - float32(whole)
	// 2^f for f in [0, 1): a polynomial that is exact at both ends.
	p := 1 + f*(0.6951786+f*(0.2261697+f*0.0786517))
	return math.Float32frombits(uint32(int32(math.Float32bits(p)) + int32(whole)<<23))
}
