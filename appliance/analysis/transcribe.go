package analysis

import (
	"context"
	"slices"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// A Transcription says how a recording is transcribed.
type Transcription struct {
	Language string // BCP 47; empty: detected
	// Words asks for measured times of words and for confidences, which take about a tenth longer. Without, words have
	// estimated times.
	Words   bool
	Urgency *engine.Urgency // nil: engine.Batch
	// Found gets the text of each stretch of speech when it is known; nil: nobody.
	Found func(text string) error
}

// A Stretch is what was said between two pauses.
type Stretch struct {
	Text       string
	From, To   int     // bytes of the Transcript's Text
	Begin, End float64 // seconds
	Confidence float64 // 0 to 1; 0 if it was not measured
	Words      Span    // of the Transcript
}

// Transcribe transcribes a recording whose samples, mono at engine.SpeechRateHz, sound passes to emit in pieces. The
// error is an Error for a language that the transcriber does not know.
func (a *Analyser) Transcribe(ctx context.Context, sound func(ctx context.Context, emit func([]float32) error) error,
	t Transcription) (Transcript, []Stretch, error) {
	h, err := a.hear(ctx, sound, hearingOptions{
		transcription: &contract.BatchTranscription{Language: t.Language},
		textOnly:      !t.Words,
		urgency:       func() *engine.Urgency { return t.Urgency },
		found:         t.Found,
	})
	if err != nil {
		return Transcript{}, nil, err
	}
	if !h.transcribed {
		return Transcript{}, nil, &Error{h.problem}
	}
	all := make([]Stretch, len(h.utterances))
	for i, u := range h.utterances {
		all[i] = Stretch{
			Text:       h.Text[u.from:u.to],
			From:       u.from,
			To:         u.to,
			Begin:      u.begin,
			End:        u.end,
			Confidence: u.confidence,
			Words:      h.Utterances[i],
		}
	}
	return h.Transcript, slices.DeleteFunc(all, func(s Stretch) bool { return s.Text == "" }), nil
}
