package speech

import (
	"context"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
)

const (
	// phrasePause is the silence between two phrases at least, one that was meant:
	// within words the closures of plosives have up to 150 ms.
	phrasePause = 180 * time.Millisecond
	// surePause is what the detector has to find of it, which lets go of a voice
	// late and knows the next one early.
	surePause = 96 * time.Millisecond
	// phraseVoice is the least voice of a phrase. Said by itself, "no" has twice as
	// much; coughs and clicks have less.
	phraseVoice = 160 * time.Millisecond
	// Phrases that are spanPause or less apart are heard as one, up to
	// longestSpan, for what is said around it tells what a word is; beyond that
	// transcribers lose words.
	spanPause   = 800 * time.Millisecond
	longestSpan = 12 * time.Second
	// mostLost is how many of the words that its phrases have by themselves a span
	// has at least: with fewer the transcriber has broken off in the midst of it,
	// as it does once in a hundred times.
	mostLost = 0.7
	// spanEdge is the sound around a span that is heard with it.
	spanEdge = 200 * time.Millisecond
)

// phrase is what somebody says between two pauses.
type phrase struct {
	begin, end int // of the voice, in samples at engine.SpeechRateHz
	voiced     time.Duration
	text       string
}

// recognizer hears recordings.
type recognizer struct {
	detector    engine.VoiceDetector
	transcriber engine.Transcriber
	urgency     *engine.Urgency
}

// phrases returns what is said in a recording (mono, engine.SpeechRateHz), and
// when; the phrases follow one another. It is none when nobody speaks.
func (l recognizer) phrases(ctx context.Context, pcm []float32) ([]phrase, error) {
	voices, err := l.voiceSegments(ctx, pcm)
	if err != nil {
		return nil, err
	}
	found := joinPhrases(voices)
	for rest := found; len(rest) > 0; {
		n := spanLength(rest)
		if err := l.transcribeSpan(ctx, pcm, rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	said := found[:0]
	for _, p := range found {
		if p.text != "" {
			said = append(said, p)
		}
	}
	return said, nil
}

// voiceSegments finds the stretches of voice that the detector tells apart.
func (l recognizer) voiceSegments(ctx context.Context, pcm []float32) ([]phrase, error) {
	o := engine.DefaultSegmentOptions()
	o.ShortPause, o.EndSilence, o.MinVoiced = surePause, surePause, 0
	s := engine.NewSegmenter(l.detector.NewStream(), o)
	var all []phrase
	var last engine.Segment // the newest pause
	take := func(segments []engine.Segment) {
		for _, g := range segments {
			switch g.Kind {
			case engine.Paused:
				last = g
			case engine.PartEnded:
				all = append(all, phrase{begin: int(g.Begin), end: int(g.End), voiced: g.Voiced})
			case engine.Ended:
				all = append(all, phrase{begin: int(last.Begin), end: int(last.End), voiced: g.Voiced})
			}
		}
	}
	var segments []engine.Segment
	frame := make([]float32, engine.FrameSamples)
	for i := 0; i < len(pcm); i += len(frame) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		clear(frame[copy(frame, pcm[i:]):])
		var err error
		if segments, err = s.Push(segments[:0], frame); err != nil {
			return nil, err
		}
		take(segments)
	}
	take(s.Finish(nil))
	for i := range all {
		all[i].end = min(all[i].end, len(pcm)) // the last frame may reach beyond the sound
		from := 0
		if i > 0 {
			from = all[i-1].end
		}
		all[i].begin = from + onset(pcm[from:all[i].end], all[i].begin-from)
	}
	return all, nil
}

// joinPhrases are the phrases that stretches of voice make: what is apart by less than a
// pause is one, and what has too little voice for a word is none.
func joinPhrases(voices []phrase) []phrase {
	var all []phrase
	for _, v := range voices {
		n := len(all)
		if n > 0 && between(all[n-1].end, v.begin) < phrasePause && between(all[n-1].begin, v.end) <= longestSpan {
			all[n-1].end = v.end
			all[n-1].voiced += v.voiced
			continue
		}
		all = append(all, v)
	}
	return slices.DeleteFunc(all, func(p phrase) bool { return p.voiced < phraseVoice })
}

// spanLength is how many of the first phrases are heard together.
func spanLength(all []phrase) int {
	n := 1
	for n < len(all) && between(all[n-1].end, all[n].begin) <= spanPause &&
		between(all[0].begin, all[n].end) <= longestSpan {
		n++
	}
	return n
}

func between(from, to int) time.Duration {
	return time.Duration(to-from) * time.Second / engine.SpeechRateHz
}

// transcribeSpan sets the texts of a span of phrases: the words are those of the whole, and
// what is heard in each phrase by itself tells which of them are its own.
func (l recognizer) transcribeSpan(ctx context.Context, pcm []float32, span []phrase) error {
	whole, err := l.transcript(ctx, pcm, span[0].begin, span[len(span)-1].end)
	if err != nil {
		return err
	}
	if len(span) == 1 {
		span[0].text = whole
		return nil
	}
	heard := make([][]string, len(span))
	lengths := make([]int, len(span))
	for i, p := range span {
		part, err := l.transcript(ctx, pcm, p.begin, p.end)
		if err != nil {
			return err
		}
		heard[i], lengths[i] = strings.Fields(part), p.end-p.begin
	}
	words := strings.Fields(whole)
	if parts := slices.Concat(heard...); float64(len(words)) < mostLost*float64(len(parts)) {
		for i := range span {
			span[i].text = strings.Join(heard[i], " ")
		}
		return nil
	}
	for i, words := range distribute(words, heard, lengths) {
		span[i].text = strings.Join(words, " ")
	}
	return nil
}

func (l recognizer) transcript(ctx context.Context, pcm []float32, from, to int) (string, error) {
	const edge = int(spanEdge * engine.SpeechRateHz / time.Second)
	t, err := l.transcriber.Transcribe(ctx, pcm[max(0, from-edge):min(len(pcm), to+edge)],
		engine.TranscribeOptions{Urgency: l.urgency})
	return t.Text, err
}
