package speech

import (
	"context"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
)

const (
	// phrasePause is the least silence between two phrases, an intended one: within words, the
	// closures of plosives take up to 150 ms.
	phrasePause = 180 * time.Millisecond
	// surePause is how much of it the detector has to find: it lets go of a voice late and
	// finds the next one early.
	surePause = 96 * time.Millisecond
	// phraseVoice is the least voice of a phrase. A single "no" has twice as much; coughs and
	// clicks have less.
	phraseVoice = 160 * time.Millisecond
	// Phrases that are spanPause or less apart are transcribed together, up to longestSpan,
	// since context helps to recognise a word; with longer spans, transcribers lose words.
	spanPause   = 800 * time.Millisecond
	longestSpan = 12 * time.Second
	// minSpanWords is the least share of words that the transcript of a span has, relative to the
	// transcripts of its phrases. With fewer, the transcriber has broken off within the span,
	// as it does once in a hundred times.
	minSpanWords = 0.7
	// spanEdge is the sound around a span that is transcribed with it.
	spanEdge = 200 * time.Millisecond
)

// phrase is speech between two pauses.
type phrase struct {
	begin, end int // of the voice, in samples at engine.SpeechRateHz
	voiced     time.Duration
	text       string
}

// recognizer finds and transcribes the phrases of recordings.
type recognizer struct {
	detector    engine.VoiceDetector
	transcriber engine.Transcriber
	urgency     *engine.Urgency
}

// phrases returns what is said in a recording (mono, engine.SpeechRateHz) and when, in order.
// It returns none if there is no speech.
func (r recognizer) phrases(ctx context.Context, pcm []float32) ([]phrase, error) {
	voices, err := r.voiceSegments(ctx, pcm)
	if err != nil {
		return nil, err
	}
	found := joinPhrases(voices)
	for rest := found; len(rest) > 0; {
		n := spanLength(rest)
		if err := r.transcribeSpan(ctx, pcm, rest[:n]); err != nil {
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

// voiceSegments returns the stretches of voice that the detector separates.
func (r recognizer) voiceSegments(ctx context.Context, pcm []float32) ([]phrase, error) {
	o := engine.DefaultSegmentOptions()
	o.ShortPause, o.EndSilence, o.MinVoiced = surePause, surePause, 0
	s := engine.NewSegmenter(r.detector.NewStream(), o)
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
		all[i].end = min(all[i].end, len(pcm)) // the last frame may extend past the sound
		from := 0
		if i > 0 {
			from = all[i-1].end
		}
		all[i].begin = from + onset(pcm[from:all[i].end], all[i].begin-from)
	}
	return all, nil
}

// joinPhrases joins stretches of voice that are less than a pause apart, and drops those too
// short for a word.
func joinPhrases(voices []phrase) []phrase {
	var all []phrase
	for _, v := range voices {
		n := len(all)
		if n > 0 && speechDuration(all[n-1].end, v.begin) < phrasePause &&
			speechDuration(all[n-1].begin, v.end) <= longestSpan {
			all[n-1].end = v.end
			all[n-1].voiced += v.voiced
			continue
		}
		all = append(all, v)
	}
	return slices.DeleteFunc(all, func(p phrase) bool { return p.voiced < phraseVoice })
}

// spanLength returns how many of the first phrases are transcribed together.
func spanLength(all []phrase) int {
	n := 1
	for n < len(all) && speechDuration(all[n-1].end, all[n].begin) <= spanPause &&
		speechDuration(all[0].begin, all[n].end) <= longestSpan {
		n++
	}
	return n
}

func speechDuration(from, to int) time.Duration {
	return time.Duration(to-from) * time.Second / engine.SpeechRateHz
}

// transcribeSpan sets the texts of a span of phrases. The words come from the transcript of the
// whole span; the transcripts of the single phrases show which words belong to which phrase.
func (r recognizer) transcribeSpan(ctx context.Context, pcm []float32, span []phrase) error {
	whole, err := r.transcript(ctx, pcm, span[0].begin, span[len(span)-1].end)
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
		part, err := r.transcript(ctx, pcm, p.begin, p.end)
		if err != nil {
			return err
		}
		heard[i], lengths[i] = strings.Fields(part), p.end-p.begin
	}
	words := strings.Fields(whole)
	if parts := slices.Concat(heard...); float64(len(words)) < minSpanWords*float64(len(parts)) {
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

func (r recognizer) transcript(ctx context.Context, pcm []float32, from, to int) (string, error) {
	const edge = int(spanEdge * engine.SpeechRateHz / time.Second)
	t, err := r.transcriber.Transcribe(ctx, pcm[max(0, from-edge):min(len(pcm), to+edge)],
		engine.TranscribeOptions{Urgency: r.urgency})
	return t.Text, err
}
