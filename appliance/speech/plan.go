package speech

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// generation is one rendering of all utterances of a request.
type generation struct {
	id            string
	seed          int64
	temperature   float64
	pronunciation text.Options
	previousText  string // the text before the first utterance
	utterances    []utterance
	attempts      []int   // which attempt at each snippet was used
	script        *script // the phrases and times of a recording; nil: ordinary text

	made  int // samples emitted so far, at the output rate
	begun int // samples of the snippets that are complete
}

// utterance is a posted utterance with its voice.
type utterance struct {
	contract.PostedUtterance
	manner   string // a description of how it is spoken
	designed bool   // the voice was designed from the manner
	voice    Voice
	unsplit  bool
	parts    []text.Segment // of its text, one for each snippet; at least one
	ends     *ending        // not nil: it is one snippet whose end is known
}

// ending is how a streamed snippet ends.
type ending struct {
	GoesOn bool          `json:"goes_on,omitempty"`
	Pause  time.Duration `json:"pause,omitempty"`
}

// variedTemperature is the temperature of second attempts, and of further generations where the
// request sets none.
const variedTemperature = 0.75

// voiceSource is where the voice of an utterance comes from: a name or a recipe.
type voiceSource struct {
	ref    *contract.VoiceRef
	recipe json.RawMessage
	field  string // of the request, that holds ref
}

func (s voiceSource) empty() bool { return s.ref == nil && s.recipe == nil }

// withField adds the field of the request to an ErrNotFound.
func withField(err error, field string) error {
	if missing, ok := errors.AsType[contract.ErrNotFound](err); ok {
		missing.Field = field
		if missing.What == "voice" && missing.Hint == "" {
			missing.Hint = "GET /v0/tts/voices lists those that there are"
		}
		return missing
	}
	return err
}

// priorContext is what was spoken before the request.
type priorContext struct {
	text   string // the last sentence
	manner string
	voice  voiceSource
}

// plan makes the generations of the request, with the voice of each utterance.
func (j *Job) plan(ctx context.Context) error {
	before, err := j.priorContext(ctx)
	if err != nil {
		return err
	}
	var reading text.Options
	if j.service.Pronunciation != nil {
		reading = j.service.Pronunciation(ctx, j.request.Account)
	}
	for n := range j.request.NumGenerations {
		gen := &generation{
			id:            contract.NewID(),
			seed:          rand.Int64(),
			pronunciation: reading,
			previousText:  before.text,
		} //nolint:gosec // no secret
		if n > 0 {
			gen.temperature = variedTemperature
		}
		if j.request.Temperature != nil {
			gen.temperature = *j.request.Temperature
		}
		split := j.request.SplitUtterances
		for i, u := range j.request.Utterances {
			l := utterance{PostedUtterance: u, manner: u.Description, unsplit: split != nil && !*split}
			if l.parts = partsOf(u.Text, l.unsplit); len(l.parts) == 0 || !text.Speakable(u.Text, reading) {
				return contract.ErrInvalid{Field: textField(i),
					Why: fmt.Sprintf("%q has nothing that can be said; expected words or numbers",
						contract.Clip(u.Text))}
			}
			gen.utterances = append(gen.utterances, l)
		}
		gen.utterances[0].manner = cmp.Or(gen.utterances[0].manner, before.manner)
		if err := j.assignVoices(ctx, gen, n, before.voice); err != nil {
			return err
		}
		j.generations = append(j.generations, gen)
	}
	return nil
}

func textField(utterance int) string { return fmt.Sprintf("utterances[%d].text", utterance) }

// assignVoices gives each utterance its voice: the one it names, or else the voice of the
// utterance before; if there is none, a voice designed from its description.
func (j *Job) assignVoices(ctx context.Context, gen *generation, candidate int, from voiceSource) error {
	voices := j.service.Voices
	for i := range gen.utterances {
		l := &gen.utterances[i]
		if l.Voice != nil {
			from = voiceSource{ref: l.Voice, field: fmt.Sprintf("utterances[%d].voice", i)}
		}
		var err error
		switch {
		case from.ref != nil:
			l.voice, err = voices.Find(ctx, j.request.Account, *from.ref, l.manner)
		case from.recipe != nil:
			l.voice, err = voices.FromRecipe(ctx, from.recipe, l.manner)
		default:
			l.voice, err = voices.Design(ctx, l.manner, candidate, gen.seed)
			l.designed, from.recipe = true, l.voice.Recipe
		}
		if err != nil {
			return withField(err, from.field)
		}
		// Refuse texts that the voice cannot say before any sound is sent.
		reading := engine.SpeakOptions{Locale: gen.pronunciation.Locale, Lexicon: gen.pronunciation.Lexicon}
		if err := engine.CanSay(l.voice.Synthesizer, l.Text, reading); err != nil {
			return contract.ErrInvalid{Field: textField(i), Why: err.Error()}
		}
	}
	return nil
}

// priorContext returns what the request's context says was spoken before.
func (j *Job) priorContext(ctx context.Context) (priorContext, error) {
	var e priorContext
	switch c := j.request.Context; {
	case c == nil:
	case c.GenerationID != "":
		k, err := j.service.find(ctx, j.request.Account, c.GenerationID)
		if err != nil {
			return e, withField(err, "context.generation_id")
		}
		if len(k.Voices) > 0 {
			e.voice.recipe = k.Voices[len(k.Voices)-1]
		}
		if n := len(k.Utterances); n > 0 {
			last := k.Utterances[n-1]
			e.text, e.voice.recipe = lastStretch(last.Text), k.Voices[last.Voice]
			if !last.Designed {
				e.manner = last.Manner
			}
		}
	default:
		for i, u := range c.Utterances {
			e.text, e.manner = lastStretch(u.Text), cmp.Or(u.Description, e.manner)
			if u.Voice != nil {
				e.voice = voiceSource{ref: u.Voice, field: fmt.Sprintf("context.utterances[%d].voice", i)}
			}
		}
	}
	return e, nil
}

func lastStretch(s string) string {
	parts := text.Segments(s)
	if len(parts) == 0 {
		return ""
	}
	last := parts[len(parts)-1]
	return s[last.From:last.To]
}

func (u utterance) silence() time.Duration {
	return time.Duration(u.TrailingSilence * float64(time.Second))
}
