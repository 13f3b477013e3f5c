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

// take is one generation: all utterances as they are to be said.
type take struct {
	id          string
	seed        int64
	temperature float64
	reading     text.Options
	before      string // what was said before the first of them
	lines       []line
	tries       []int    // which try at each snippet was taken
	recital     *recital // in whose time it is said; nil: in its own

	made  int // samples that were given, at the rate of the wire
	begun int // how many of them are of snippets that are over
}

// line is an utterance with what it is said by.
type line struct {
	contract.PostedUtterance
	manner  string // how it is said
	made    bool   // by a voice that was made of the manner
	voice   Voice
	unsplit bool
	parts   []text.Stretch // of its text, a snippet each; at least one
	ends    *ending        // not nil: it is one snippet, of which is known how it ends
}

// ending says how a snippet ends that came bit by bit.
type ending struct {
	GoesOn bool          `json:"goes_on,omitempty"`
	Pause  time.Duration `json:"pause,omitempty"`
}

// chance is how much is left to chance where the request does not say and what
// is said with nothing left to it is not what is wanted.
const chance = 0.75

// source is where the voice of a line comes from: a name or a recipe.
type source struct {
	ref    *contract.VoiceRef
	recipe json.RawMessage
	field  string // of the request that has ref
}

func (s source) none() bool { return s.ref == nil && s.recipe == nil }

// named is an error with the field of the request that names what there is not.
func named(err error, field string) error {
	if missing, is := errors.AsType[contract.ErrNotFound](err); is {
		missing.Field = field
		if missing.What == "voice" && missing.There == "" {
			missing.There = "GET /v0/tts/voices lists those that there are"
		}
		return missing
	}
	return err
}

// context is what was said before the request.
type earlier struct {
	said   string // last
	manner string
	voice  source
}

// plan decides who says what.
func (j *Job) plan(ctx context.Context) error {
	before, err := j.earlier(ctx)
	if err != nil {
		return err
	}
	var reading text.Options
	if j.service.Reading != nil {
		reading = j.service.Reading(ctx, j.asked.Account)
	}
	for n := range j.asked.NumGenerations {
		t := &take{
			id:      contract.NewID(),
			seed:    rand.Int64(),
			reading: reading,
			before:  before.said,
		} //nolint:gosec // no secret
		if n > 0 {
			t.temperature = chance
		}
		if j.asked.Temperature != nil {
			t.temperature = *j.asked.Temperature
		}
		split := j.asked.SplitUtterances
		for i, u := range j.asked.Utterances {
			l := line{PostedUtterance: u, manner: u.Description, unsplit: split != nil && !*split}
			if l.parts = partsOf(u.Text, l.unsplit); len(l.parts) == 0 || !text.CanBeSaid(u.Text, reading) {
				return contract.ErrInvalid{Field: textField(i),
					Why: fmt.Sprintf("%q has nothing that can be said; expected words or numbers",
						contract.Clip(u.Text))}
			}
			t.lines = append(t.lines, l)
		}
		t.lines[0].manner = cmp.Or(t.lines[0].manner, before.manner)
		if err := j.cast(ctx, t, n, before.voice); err != nil {
			return err
		}
		j.takes = append(j.takes, t)
	}
	return nil
}

func textField(utterance int) string { return fmt.Sprintf("utterances[%d].text", utterance) }

// cast gives each line its voice: that which it names, or the one before it had;
// where there is none, one that is made from its description.
func (j *Job) cast(ctx context.Context, t *take, candidate int, from source) error {
	voices := j.service.Voices
	for i := range t.lines {
		l := &t.lines[i]
		if l.Voice != nil {
			from = source{ref: l.Voice, field: fmt.Sprintf("utterances[%d].voice", i)}
		}
		var err error
		switch {
		case from.ref != nil:
			l.voice, err = voices.Find(ctx, j.asked.Account, *from.ref, l.manner)
		case from.recipe != nil:
			l.voice, err = voices.Again(ctx, from.recipe, l.manner)
		default:
			l.voice, err = voices.Design(ctx, l.manner, candidate, t.seed)
			l.made, from.recipe = true, l.voice.Recipe
		}
		if err != nil {
			return named(err, from.field)
		}
		// What cannot be read is refused before the first of the sound leaves.
		reading := engine.SpeakOptions{Locale: t.reading.Locale, Lexicon: t.reading.Lexicon}
		if err := engine.CanSay(l.voice.Speaks, l.Text, reading); err != nil {
			return contract.ErrInvalid{Field: textField(i), Why: err.Error()}
		}
	}
	return nil
}

// earlier is what the context of the request says was said.
func (j *Job) earlier(ctx context.Context) (earlier, error) {
	var e earlier
	switch c := j.asked.Context; {
	case c == nil:
	case c.GenerationID != "":
		k, err := j.service.find(ctx, j.asked.Account, c.GenerationID)
		if err != nil {
			return e, named(err, "context.generation_id")
		}
		if len(k.Voices) > 0 {
			e.voice.recipe = k.Voices[len(k.Voices)-1]
		}
		if n := len(k.Lines); n > 0 {
			last := k.Lines[n-1]
			e.said, e.voice.recipe = lastStretch(last.Text), k.Voices[last.Voice]
			if !last.Made {
				e.manner = last.Manner
			}
		}
	default:
		for i, u := range c.Utterances {
			e.said, e.manner = lastStretch(u.Text), cmp.Or(u.Description, e.manner)
			if u.Voice != nil {
				e.voice = source{ref: u.Voice, field: fmt.Sprintf("context.utterances[%d].voice", i)}
			}
		}
	}
	return e, nil
}

func lastStretch(s string) string {
	parts := text.Stretches(s)
	if len(parts) == 0 {
		return ""
	}
	last := parts[len(parts)-1]
	return s[last.From:last.To]
}

func (l line) silence() time.Duration {
	return time.Duration(l.TrailingSilence * float64(time.Second))
}
