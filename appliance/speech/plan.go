package speech

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"parley/appliance/contract"
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
}

// line is an utterance with what it is said by.
type line struct {
	contract.PostedUtterance
	manner string // how it is said
	voice  Voice
	parts  []text.Stretch // of its text, a snippet each; at least one
}

// chance is how much is left to chance where the request does not say and the
// first generation, at 0, is not what is wanted.
const chance = 0.75

// plan decides who says what.
func (j *Job) plan(ctx context.Context) error {
	cut, err := j.cut()
	if err != nil {
		return err
	}
	var reading text.Options
	if j.service.Reading != nil {
		reading = j.service.Reading(ctx, j.asked.Account)
	}
	for n := range j.asked.NumGenerations {
		t := &take{id: contract.NewID(), seed: rand.Int64(), reading: reading, before: j.before(), lines: make([]line, len(cut))} //nolint:gosec // no secret
		if n > 0 {
			t.temperature = chance
		}
		if j.asked.Temperature != nil {
			t.temperature = *j.asked.Temperature
		}
		for i, u := range j.asked.Utterances {
			t.lines[i] = line{PostedUtterance: u, manner: u.Description, parts: cut[i]}
		}
		if err := j.cast(ctx, t, n); err != nil {
			return err
		}
		j.takes = append(j.takes, t)
	}
	return nil
}

// cut cuts the utterances into snippets.
func (j *Job) cut() ([][]text.Stretch, error) {
	all := make([][]text.Stretch, len(j.asked.Utterances))
	for i, u := range j.asked.Utterances {
		parts := text.Stretches(u.Text)
		if len(parts) == 0 {
			return nil, contract.ErrInvalid{Field: fmt.Sprintf("utterances[%d].text", i), Why: fmt.Sprintf("%q has nothing that can be said; expected words or numbers", contract.Clip(u.Text))}
		}
		if split := j.asked.SplitUtterances; split != nil && !*split {
			parts = []text.Stretch{{From: parts[0].From, To: parts[len(parts)-1].To}}
		}
		all[i] = parts
	}
	return all, nil
}

// cast gives each line its voice: that which it names, or the one before it had;
// where there is none, one that is made from its description.
func (j *Job) cast(ctx context.Context, t *take, candidate int) error {
	voices := j.service.Voices
	var named *contract.VoiceRef
	var made Voice // from a description
	if c := j.asked.Context; c != nil {
		for _, u := range c.Utterances {
			named = cmp.Or(u.Voice, named)
			t.lines[0].manner = cmp.Or(j.asked.Utterances[0].Description, u.Description, t.lines[0].manner)
		}
	}
	for i := range t.lines {
		l := &t.lines[i]
		named = cmp.Or(l.Voice, named)
		var err error
		switch {
		case named != nil:
			if l.voice, err = voices.Find(ctx, j.asked.Account, *named, l.manner); err != nil {
				return err
			}
		case made.Speaks == nil:
			if made, err = voices.Design(ctx, l.manner, candidate, t.seed); err != nil {
				return err
			}
			l.voice = made
		default:
			if l.voice, err = voices.Again(ctx, made.Recipe, l.manner); err != nil {
				return err
			}
		}
	}
	return nil
}

// before is the end of what the context says was said.
func (j *Job) before() string {
	if j.asked.Context == nil || len(j.asked.Context.Utterances) == 0 {
		return ""
	}
	all := j.asked.Context.Utterances
	return lastStretch(all[len(all)-1].Text)
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
