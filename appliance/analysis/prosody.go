package analysis

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/expression"
)

// A judgement is how a voice sounds in a stretch of a sound.
type judgement struct {
	begin, end float64 // seconds
	words      Span    // of the transcript; empty without one
	utterance  int     // index in speechResult.utterances
	tone       expression.Tone
}

// minJudged is the shortest stretch that is judged, as far as the part of the utterance lasts that holds it. A word of
// 0.3 s has too few frames with a pitch, so its scores are those of the two seconds around its middle. The recordings
// on which the model was trained last two to three seconds.
const minJudged = 2.0

// judgePart judges a part of an utterance that has voice in these stretches.
func (h *hearing) judgePart(ctx context.Context, p part, voiced []stretch) ([]judgement, error) {
	o := h.o.prosody
	if o == nil || o.Window != nil || len(voiced) == 0 {
		return nil, nil
	}
	begin, end := seconds(voiced[0].from), seconds(voiced[len(voiced)-1].to)
	all := []judgement{{begin: begin, end: end, words: Span{0, len(p.words)}}}
	if short := o.Granularity == contract.ByWord || o.Granularity == contract.BySentence; short && len(p.words) > 0 {
		all = judgementsOf(p, units(Transcript{Text: p.text, Words: p.words}, o.Granularity))
	}
	core := h.core(ctx)
	defer core.Release()
	for i := range all {
		if err := core.Next(); err != nil {
			return nil, err
		}
		from, to := around(all[i].begin, all[i].end, begin, end)
		all[i].tone = h.voice.Tone(duration(from), duration(to))
	}
	return all, nil
}

// judgementsOf returns the stretches of the units of a part.
func judgementsOf(p part, us []unit) []judgement {
	var all []judgement
	for _, u := range us {
		if u.words.From < u.words.To {
			all = append(all, judgement{
				begin: p.words[u.words.From].Begin,
				end:   p.words[u.words.To-1].End,
				words: u.words,
			})
		}
	}
	return all
}

// around returns a stretch of at least minJudged seconds around a shorter one, within the bounds as far as they allow.
func around(begin, end, first, last float64) (from, to float64) {
	if missing := minJudged - (end - begin); missing > 0 {
		begin, end = begin-missing/2, end+missing/2
	}
	if begin < first {
		begin, end = first, end+first-begin
	}
	if end > last {
		begin, end = max(first, begin+last-end), last
	}
	return begin, end
}

const (
	// windowDelay is how long after its end a window is judged, when the pauses in it are known.
	windowDelay = 2 * naturalPause
	// minWindowVoice is how much voice a window must hold, in seconds, to be judged: that of a word, as
	// engine.SegmentOptions.MinVoiced.
	minWindowVoice = 0.25
)

// judgeWindows judges the windows that have ended and hold voice. At the end of the sound the last window ends with the
// sound.
func (h *hearing) judgeWindows(ctx context.Context, ended bool) error {
	if h.o.prosody == nil || h.o.prosody.Window == nil {
		return nil
	}
	now := seconds(h.samples)
	core := h.core(ctx)
	defer core.Release()
	for h.windowEnded(now, ended) {
		if err := core.Next(); err != nil {
			return err
		}
		h.judgeWindow(now)
	}
	return nil
}

// windowEnded reports whether the next window can be judged.
func (h *hearing) windowEnded(now float64, ended bool) bool {
	w := h.o.prosody.Window
	begin := float64(h.window) * w.Step
	if ended {
		before := begin - w.Step + w.Length // the end of the window before it
		return begin < now && (h.window == 0 || before < now)
	}
	return begin+w.Length+windowDelay.Seconds() <= now
}

// judgeWindow judges the next window, if it holds voice.
func (h *hearing) judgeWindow(now float64) {
	w := h.o.prosody.Window
	begin := float64(h.window) * w.Step
	end := min(begin+w.Length, now)
	h.window++
	var voice float64
	for _, v := range h.voiced {
		to := seconds(v.to)
		if v.to == 0 {
			to = now
		}
		voice += max(0, min(to, end)-max(seconds(v.from), begin))
	}
	if voice >= minWindowVoice {
		h.out.windows = append(h.out.windows, judgement{
			begin: begin,
			end:   end,
			tone:  h.voice.Tone(duration(begin), duration(end)),
		})
	}
}

// forget drops the stretches of voice that no window and no part of an utterance reaches back to.
func (h *hearing) forget() {
	before := h.samples - int64(expression.RecordingLength/time.Second)*engine.SpeechRateHz
	n := 0
	for n < len(h.voiced) && h.voiced[n].to != 0 && h.voiced[n].to < before {
		n++
	}
	h.voiced = append(h.voiced[:0], h.voiced[n:]...)
}

// prosody returns the scores of the voices by the units that a request asks for. The problem is not empty if those
// are units of a transcript, and there is none.
func (h speechResult) prosody(o contract.BatchProsody) (*contract.ModelPredictions[contract.ProsodyPrediction],
	string) {
	groups := groupsOf[contract.ProsodyPrediction]{apart: o.IdentifySpeakers}
	switch {
	case o.Window != nil:
		for _, w := range h.windows {
			groups.add(h.predictionAt(w, h.utteranceAt((w.begin+w.end)/2), groups.apart))
		}
	case h.transcribed:
		h.transcribedUnits(o.Granularity, &groups)
	case o.Granularity == contract.ByWord || o.Granularity == contract.BySentence:
		return nil, fmt.Sprintf("prosody.granularity %q needs a transcription, and there is none; without one, "+
			"utterance, conversational_turn and window are measured", o.Granularity)
	default:
		h.utterancesOrTurns(o.Granularity, &groups)
	}
	return &contract.ModelPredictions[contract.ProsodyPrediction]{
		Metadata:           h.metadata(),
		GroupedPredictions: groups.list(),
	}, ""
}

// transcribedUnits adds the units of the transcript. A unit that was judged in parts has their mean tone.
func (h speechResult) transcribedUnits(by contract.Granularity, groups *groupsOf[contract.ProsodyPrediction]) {
	next := 0 // in h.judged
	for _, u := range units(h.Transcript, by) {
		if u.words.From == u.words.To {
			continue
		}
		for next < len(h.judged)-1 && h.judged[next].words.To <= u.words.From {
			next++
		}
		var tones []expression.Tone
		for k := next; k < len(h.judged) && h.judged[k].words.From < u.words.To; k++ {
			tones = append(tones, h.judged[k].tone)
		}
		if len(tones) == 0 {
			continue
		}
		p := contract.ProsodyPrediction{
			Text:     new(h.Text[u.from:u.to]),
			Emotions: expression.MeanTone(tones...).Scores().List(),
		}
		var when *contract.TimeInterval
		when, p.Confidence, p.SpeakerConfidence = h.spokenAt(u, groups.apart)
		if when != nil {
			p.Time = *when
		}
		groups.add(h.speaker(u), p)
	}
}

// utterancesOrTurns adds the utterances of a sound without a transcript. A turn is all utterances of one speaker
// without another one in between.
func (h speechResult) utterancesOrTurns(by contract.Granularity, groups *groupsOf[contract.ProsodyPrediction]) {
	for k := 0; k < len(h.judged); {
		j := h.judged[k]
		speaker := h.utterances[j.utterance].speaker
		var tones []expression.Tone
		for k < len(h.judged) && (h.judged[k].utterance == j.utterance ||
			by == contract.ByTurn && h.utterances[h.judged[k].utterance].speaker == speaker) {
			tones = append(tones, h.judged[k].tone)
			j.end = h.judged[k].end
			k++
		}
		j.tone = expression.MeanTone(tones...)
		groups.add(h.predictionAt(j, j.utterance, groups.apart))
	}
}

// utteranceAt returns the index of the utterance at a time, or of the last before it, or of the first.
func (h speechResult) utteranceAt(at float64) int {
	last := 0
	for i, u := range h.utterances {
		if u.begin <= at {
			last = i
		}
	}
	return last
}

// predictionAt returns the prediction without text for a judgement, and the speaker of its utterance.
func (h speechResult) predictionAt(j judgement, utterance int, apart bool) (int, contract.ProsodyPrediction) {
	p := contract.ProsodyPrediction{
		Time:     contract.TimeInterval{Begin: rounded(j.begin, 3), End: rounded(j.end, 3)},
		Emotions: j.tone.Scores().List(),
	}
	if !apart || utterance >= len(h.utterances) {
		return 0, p
	}
	u := h.utterances[utterance]
	p.SpeakerConfidence = new(rounded(u.certainty, 4))
	return u.speaker, p
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}
