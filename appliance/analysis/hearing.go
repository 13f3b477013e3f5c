package analysis

import (
	"context"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
	"parley/appliance/expression"
)

const (
	// pieceSamples is how much sound passes the gate at once, a second: some 20 ms of one core.
	pieceSamples = engine.SpeechRateHz
	// naturalPause ends an utterance. A pause within a sentence is rarely longer than half a second.
	naturalPause = 500 * time.Millisecond
	// detectFrom is the shortest part whose language is detected if one was detected before. In less, a name or a
	// greeting of another language decides.
	detectFrom = 3 * engine.SpeechRateHz
)

// hearing hears one sound from its beginning to its end. It stores the sound of the part of an utterance that is being
// spoken, at most 20 s, and the measurements of the newest 90 s. What grows with the sound is the result.
type hearing struct {
	*Analyser
	o         hearingOptions
	segmenter *engine.Segmenter
	voice     *expression.Recording
	speakers  *speakers // nil if they are not told apart
	rest      []float32 // samples that do not fill a frame yet
	samples   int64     // heard so far
	segments  []engine.Segment

	number    int            // of the utterance in progress; 0 if there is none
	paused    engine.Segment // the newest pause, whose part is not transcribed yet
	voiced    []stretch      // of the newest minutes
	parts     []part
	detected  map[string]int // samples in each language
	language  string         // detected last
	window    int            // number of the next window
	out       speechResult
	text      strings.Builder
	certainty float64 // sum of confidence × seconds of the utterances
	seconds   float64
}

// stretch is a range of samples with voice; to is 0 while the voice lasts.
type stretch struct {
	from, to  int64
	utterance int // number
}

// part is a transcribed part of the utterance in progress.
type part struct {
	text       string
	words      []Word // From and To are bytes of text
	judged     []judgement
	confidence float64
	samples    int
}

func (h *hearing) urgency() *engine.Urgency {
	if h.o.urgency == nil {
		return nil
	}
	return h.o.urgency()
}

// work passes the gate with work in Go that takes some milliseconds.
func (h *hearing) work(ctx context.Context, f func() error) error {
	return h.Gate.Do(ctx, h.urgency(), 1, f)
}

// core returns the gate for work in Go that takes many steps.
func (h *hearing) core(ctx context.Context) *engine.Steps { return h.Gate.Steps(ctx, h.o.urgency) }

// hear takes the next piece of the sound, at most pieceSamples.
func (h *hearing) hear(ctx context.Context, pcm []float32) error {
	err := h.work(ctx, func() (err error) {
		if h.o.prosody != nil || h.speakers != nil {
			h.voice.Hear(pcm)
		}
		h.samples += int64(len(pcm))
		h.rest = append(h.rest, pcm...)
		h.segments = h.segments[:0]
		for len(h.rest) >= engine.FrameSamples && err == nil {
			h.segments, err = h.segmenter.Push(h.segments, h.rest[:engine.FrameSamples])
			h.rest = h.rest[engine.FrameSamples:]
		}
		h.rest = append(make([]float32, 0, engine.FrameSamples), h.rest...)
		return err
	})
	if err != nil {
		return err
	}
	if err := h.follow(ctx, h.segments); err != nil {
		return err
	}
	h.forget()
	return h.judgeWindows(ctx, false)
}

// finish ends the sound.
func (h *hearing) finish(ctx context.Context) (speechResult, error) {
	var last []engine.Segment
	err := h.work(ctx, func() (err error) {
		if len(h.rest) > 0 {
			frame := append(h.rest, make([]float32, engine.FrameSamples-len(h.rest))...)
			if last, err = h.segmenter.Push(nil, frame); err != nil {
				return err
			}
		}
		last = h.segmenter.Finish(last)
		h.voice.Finish()
		return nil
	})
	if err != nil {
		return speechResult{}, err
	}
	if err := h.follow(ctx, last); err != nil {
		return speechResult{}, err
	}
	if err := h.judgeWindows(ctx, true); err != nil {
		return speechResult{}, err
	}
	h.out.Text = h.text.String()
	if h.seconds > 0 {
		h.out.Confidence = h.certainty / h.seconds
	}
	h.setLanguage()
	err = h.assignSpeakers(ctx)
	return h.out, err
}

// follow follows the segments of the sound.
func (h *hearing) follow(ctx context.Context, segments []engine.Segment) error {
	for _, s := range segments {
		switch s.Kind {
		case engine.Voice:
			if s.Utterance != h.number {
				h.number = s.Utterance
				h.voiced = append(h.voiced, stretch{from: s.Begin, utterance: s.Utterance})
			}
		case engine.Paused:
			h.voiced[len(h.voiced)-1].to = s.End
			h.paused = s
		case engine.Resumed:
			h.voiced = append(h.voiced, stretch{from: s.Begin, utterance: s.Utterance})
			h.paused = engine.Segment{}
		case engine.PartEnded:
			if err := h.endPart(ctx, s); err != nil {
				return err
			}
		case engine.Dropped:
			h.voiced = slices.DeleteFunc(h.voiced, func(v stretch) bool { return v.utterance == s.Utterance })
			h.paused, h.parts = engine.Segment{}, nil
		case engine.Ended:
			if h.paused.PCM != nil {
				if err := h.endPart(ctx, h.paused); err != nil {
					return err
				}
			}
			if err := h.endUtterance(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// endPart transcribes and judges a part of the utterance in progress.
func (h *hearing) endPart(ctx context.Context, s engine.Segment) error {
	h.paused = engine.Segment{}
	p := part{samples: len(s.PCM)}
	voiced := h.voicedIn(s)
	if h.o.transcription != nil {
		t, err := h.transcribe(ctx, s.PCM)
		if err != nil || t.Text == "" {
			return err
		}
		p.text, p.confidence = t.Text, t.Confidence
		p.words = timedWords(t, s.PCMBegin, voiced)
	}
	var err error
	p.judged, err = h.judgePart(ctx, p, voiced)
	h.parts = append(h.parts, p)
	return err
}

// voicedIn returns where the voice is in a part.
func (h *hearing) voicedIn(s engine.Segment) []stretch {
	end := min(s.PCMBegin+int64(len(s.PCM)), h.samples) // the last frame is filled up with silence
	var all []stretch
	for _, v := range h.voiced {
		if v.to == 0 || v.to > end {
			v.to = end
		}
		if v.from = max(v.from, s.Begin); v.utterance == s.Utterance && v.from < v.to {
			all = append(all, v)
		}
	}
	return all
}

// transcribe transcribes a part of an utterance.
func (h *hearing) transcribe(ctx context.Context, pcm []float32) (engine.Transcript, error) {
	o := engine.TranscribeOptions{Urgency: h.urgency(), Language: h.o.transcription.Language,
		Words: !h.o.textOnly}
	detect := o.Language == "" && engine.LanguagesOf(h.Transcriber) == nil
	if detect && h.language != "" && len(pcm) < detectFrom {
		o.Language, detect = h.language, false
	}
	t, err := h.Transcriber.Transcribe(ctx, pcm, o)
	if err != nil {
		return t, err
	}
	if t.Text != "" && detect {
		h.language = t.Language
		h.detected[t.Language] += len(pcm)
	}
	h.out.Language = t.Language
	return t, nil
}

// endUtterance adds the utterance that has ended to the result, unless it is less certain than the request wants.
func (h *hearing) endUtterance(ctx context.Context, s engine.Segment) error {
	parts := h.parts
	h.parts = nil
	if len(parts) == 0 {
		return nil
	}
	u := utterance{begin: seconds(s.Begin), end: seconds(min(s.End, h.samples))}
	samples := 0
	for _, p := range parts {
		u.confidence += p.confidence * float64(p.samples)
		samples += p.samples
	}
	u.confidence /= float64(samples)
	if t := h.o.transcription; t != nil {
		if u.confidence < t.ConfidenceThreshold {
			return nil
		}
		h.certainty += u.confidence * (u.end - u.begin)
		h.seconds += u.end - u.begin
	}
	first := len(h.out.Words)
	u.from = h.text.Len()
	for _, p := range parts {
		h.add(p)
	}
	u.to = h.text.Len()
	if u.from > 0 && u.from < u.to {
		u.from++ // the space
	}
	h.out.Utterances = append(h.out.Utterances, Span{first, len(h.out.Words)})
	h.out.utterances = append(h.out.utterances, u)
	if h.o.found != nil && u.from < u.to {
		if err := h.o.found(h.text.String()[u.from:]); err != nil {
			return err
		}
	}
	if h.speakers == nil {
		return nil
	}
	return h.work(ctx, func() error {
		t, enough := h.voice.Timbre(duration(u.begin), duration(u.end))
		h.speakers.add(t, enough, u.end-u.begin)
		return nil
	})
}

// assignSpeakers sets the speakers of the utterances and their words.
func (h *hearing) assignSpeakers(ctx context.Context) error {
	if h.speakers == nil {
		return nil
	}
	return h.work(ctx, func() error {
		speaker, certainty := h.speakers.assign()
		for i := range h.out.utterances {
			h.out.utterances[i].speaker, h.out.utterances[i].certainty = speaker[i], certainty[i]
			span := h.out.Utterances[i]
			for k := range h.out.Words[span.From:span.To] {
				w := &h.out.Words[span.From+k]
				w.Speaker, w.SpeakerConfidence = speaker[i], certainty[i]
			}
		}
		return nil
	})
}

// add adds a part to the result.
func (h *hearing) add(p part) {
	if h.text.Len() > 0 && p.text != "" {
		h.text.WriteByte(' ')
	}
	at, word := h.text.Len(), len(h.out.Words)
	h.text.WriteString(p.text)
	for _, w := range p.words {
		w.From, w.To = w.From+at, w.To+at
		h.out.Words = append(h.out.Words, w)
	}
	for _, j := range p.judged {
		j.words = Span{j.words.From + word, j.words.To + word}
		j.utterance = len(h.out.utterances)
		h.out.judged = append(h.out.judged, j)
	}
}

// setLanguage sets the language in which most of the sound was detected to be.
func (h *hearing) setLanguage() {
	most := 0
	for language, n := range h.detected {
		if n > most || n == most && language < h.out.Detected {
			most, h.out.Detected = n, language
		}
	}
	if h.out.Detected != "" {
		h.out.Language = h.out.Detected
	}
}

func seconds(samples int64) float64 { return float64(samples) / engine.SpeechRateHz }
