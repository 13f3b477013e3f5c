package analysis

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// A sound passes its samples, mono at engine.SpeechRateHz, to emit in pieces, in order.
type sound func(ctx context.Context, emit func(pcm []float32) error) error

// hearingOptions say what to find in a sound.
type hearingOptions struct {
	transcription *contract.BatchTranscription // nil: no words
	prosody       *contract.BatchProsody       // nil: the voice is not judged
	speakers      bool                         // tell the speakers apart
	textOnly      bool                         // no confidences and measured times of words
	found         func(text string) error      // gets the text of each utterance; nil: nobody
	urgency       func() *engine.Urgency       // nil: engine.Batch
}

// speechResult is what was found in a sound.
type speechResult struct {
	Transcript
	transcribed bool        // a transcript was asked for and is possible
	problem     string      // why none is possible; otherwise empty
	utterances  []utterance // those with speech; with a transcript, one for each of Transcript.Utterances
	judged      []judgement // in order of time
	windows     []judgement // of contract.BatchProsody.Window
}

// An utterance is a stretch of speech between two pauses.
type utterance struct {
	begin, end float64 // seconds
	from, to   int     // bytes of the text
	confidence float64 // of its words, 0 to 1
	speaker    int     // counts from 0, in the order of appearance
	certainty  float64 // of the speaker, 0 to 1; 0 if speakers are not told apart
}

// speech measures the voices of a sound, and the words that they say.
func (a *Analyser) speech(ctx context.Context, s sound, r Request, to *Report) error {
	if r.Models.Burst != nil {
		to.Models.Burst = bursts()
	}
	if r.Models.Prosody == nil && !r.wantsWords() {
		return nil
	}
	r.shareSpeakers()
	h, err := a.hear(ctx, s, hearingOptions{
		transcription: r.Transcription,
		prosody:       r.Models.Prosody,
		speakers:      r.Speakers,
		urgency:       r.Urgency,
	})
	if err != nil {
		return err
	}
	to.addProblem(h.problem)
	if o := r.Models.Prosody; o != nil {
		p, problem := h.prosody(*o)
		to.Models.Prosody = p
		to.addProblem(problem)
	}
	if !h.transcribed {
		return nil
	}
	return a.words(ctx, h.Transcript, r, to)
}

// shareSpeakers has every model tell the speakers apart if the transcription does.
func (r *Request) shareSpeakers() {
	if r.Transcription == nil || !r.Transcription.IdentifySpeakers {
		return
	}
	m := &r.Models
	if m.Prosody != nil {
		m.Prosody = new(*m.Prosody)
		m.Prosody.IdentifySpeakers = true
	}
	if m.Language != nil {
		m.Language = new(*m.Language)
		m.Language.IdentifySpeakers = true
	}
	if m.NER != nil {
		m.NER = new(*m.NER)
		m.NER.IdentifySpeakers = true
	}
}

// addProblem adds a problem, unless it is empty.
func (r *Report) addProblem(problem string) {
	if problem != "" {
		r.Problems = append(r.Problems, problem)
	}
}

// hear hears a whole sound. An error is that of the sound, of ctx, or of an engine.
func (a *Analyser) hear(ctx context.Context, s sound, o hearingOptions) (speechResult, error) {
	options := engine.DefaultSegmentOptions()
	options.EndSilence = naturalPause
	h := &hearing{
		Analyser:  a,
		o:         o,
		segmenter: engine.NewSegmenter(a.Detector.NewStream(), options),
		voice:     a.Meter.NewRecording(),
		detected:  map[string]int{},
	}
	if o.speakers {
		var err error
		if h.speakers, err = newSpeakers(); err != nil {
			return speechResult{}, err
		}
	}
	h.checkLanguage()
	if h.out.transcribed = h.o.transcription != nil; !h.out.transcribed && o.prosody == nil && !o.speakers {
		return h.out, nil
	}
	err := s(ctx, func(pcm []float32) error {
		for piece := range slices.Chunk(pcm, pieceSamples) {
			if err := h.hear(ctx, piece); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return speechResult{}, err
	}
	return h.finish(ctx)
}

// checkLanguage turns transcription off if the transcriber does not know the language.
func (h *hearing) checkLanguage() {
	t := h.o.transcription
	known := engine.LanguagesOf(h.Transcriber)
	if t == nil || t.Language == "" || known == nil {
		return
	}
	primary, _, _ := strings.Cut(strings.ToLower(t.Language), "-")
	if slices.Contains(known, primary) {
		return
	}
	h.o.transcription = nil
	h.out.problem = fmt.Sprintf("transcription.language %q: the box transcribes %s only; "+
		"`parley packs pull whisper` adds other languages", t.Language, strings.Join(known, ", "))
}
