package speech

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/appliance/contract"
	"parley/appliance/text"
	"parley/store"
)

// Records keep what it takes to speak again.
type Records interface {
	AddGenerations(ctx context.Context, accountID string, newest int, made ...store.Generation) error
	ChangeGeneration(ctx context.Context, accountID string, g store.Generation) error
	Generation(ctx context.Context, accountID, id string) (store.Generation, error)
}

// Keep says what is kept of generations.
type Keep struct {
	Newest int  // of each account
	Texts  bool // and not only the voices and seeds
}

// kept is a generation as it is kept: the same program makes the same sound of it
// with the same packs.
type kept struct {
	Seed        int64             `json:"seed"`
	Temperature float64           `json:"temperature,omitempty"`
	Before      string            `json:"before,omitempty"`
	Voices      []json.RawMessage `json:"voices"` // recipes, in the order in which they speak first
	Lines       []keptLine        `json:"lines,omitempty"`
	Locale      string            `json:"locale,omitempty"` // as it was read
	// of the account then, as far as the texts have a use for it
	Lexicon   []text.Entry `json:"lexicon,omitempty"`
	Converted bool         `json:"converted,omitempty"`
	// which try at each snippet was taken, where that was not the first of all
	Tries []int `json:"tries,omitempty"`
}

type keptLine struct {
	Text    string  `json:"text"`
	Manner  string  `json:"manner,omitempty"`
	Made    bool    `json:"made,omitempty"` // the manner is what the voice was made of
	Speed   float64 `json:"speed"`
	Silence float64 `json:"silence,omitempty"` // seconds
	Voice   int     `json:"voice"`             // of Voices
	Unsplit bool    `json:"unsplit,omitempty"`
	Ends    *ending `json:"ends,omitempty"`
}

// record is a take as it is kept.
func (j *Job) record(t *take) (store.Generation, error) {
	k := kept{
		Seed:        t.seed,
		Temperature: t.temperature,
		Locale:      t.reading.Locale,
		Converted:   t.recital != nil,
	}
	texts := []string{t.before}
	for _, l := range t.lines {
		at := slices.IndexFunc(k.Voices, func(r json.RawMessage) bool { return string(r) == string(l.voice.Recipe) })
		if at < 0 {
			at = len(k.Voices)
			k.Voices = append(k.Voices, l.voice.Recipe)
		}
		texts = append(texts, l.Text)
		k.Lines = append(k.Lines, keptLine{l.Text, l.manner, l.made, l.Speed, l.TrailingSilence, at, l.unsplit, l.ends})
	}
	if k.Before = t.before; slices.ContainsFunc(t.tries, func(n int) bool { return n > 0 }) {
		k.Tries = t.tries
	}
	if !j.service.Keep.Texts || t.recital != nil { // a recording is not kept, only who said it
		k.Before, k.Lines, texts = "", nil, nil
	}
	k.Lexicon = t.reading.Lexicon.Entries(texts...)
	body, err := json.Marshal(k)
	return store.Generation{ID: t.id, Body: string(body)}, err
}

// keep has the takes written; kept waits until they are.
func (j *Job) keep(ctx context.Context) {
	if j.service.Records == nil {
		return
	}
	j.keeping = make(chan error, 1)
	go func() {
		var all []store.Generation
		for _, t := range j.takes {
			g, err := j.record(t)
			if err != nil {
				j.keeping <- err
				return
			}
			all = append(all, g)
		}
		j.keeping <- j.service.Records.AddGenerations(ctx, j.asked.Account, j.service.Keep.Newest, all...)
	}()
}

// took notes that another try at a snippet was taken than the first.
func (j *Job) took(ctx context.Context, t *take, s *snippet, try int) error {
	for len(t.tries) <= s.index {
		t.tries = append(t.tries, 0)
	}
	t.tries[s.index] = try
	if err := j.kept(ctx); err != nil {
		return err
	}
	return j.change(ctx, t)
}

// change writes a take that is kept as it is now.
func (j *Job) change(ctx context.Context, t *take) error {
	if j.service.Records == nil {
		return nil
	}
	g, err := j.record(t)
	if err != nil {
		return err
	}
	return j.service.Records.ChangeGeneration(ctx, j.asked.Account, g)
}

// kept waits until it is written what was made: no id is told before.
func (j *Job) kept(ctx context.Context) error {
	if j.keeping == nil {
		return nil
	}
	select {
	case err := <-j.keeping:
		j.keeping = nil
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// find reads a generation of an account. ErrNotFound says that it was never made,
// or is not kept any more.
func (s *Service) find(ctx context.Context, account, id string) (kept, error) {
	var k kept
	g, err := s.Records.Generation(ctx, account, id)
	if errors.Is(err, store.ErrNotFound) {
		return k, contract.ErrNotFound{What: "generation", ID: id}
	}
	if err != nil {
		return k, err
	}
	if err := json.Unmarshal([]byte(g.Body), &k); err != nil {
		return k, fmt.Errorf("generation %s: %w", id, err)
	}
	return k, nil
}

// RecipeOf is what the voice of a generation is made of: of several the first.
func RecipeOf(g store.Generation) (json.RawMessage, error) {
	var k kept
	if err := json.Unmarshal([]byte(g.Body), &k); err != nil {
		return nil, fmt.Errorf("generation %s: %w", g.ID, err)
	}
	if len(k.Voices) == 0 {
		return nil, fmt.Errorf("generation %s has no voice", g.ID)
	}
	return k.Voices[0], nil
}

// Again makes a generation of an account again, sample for sample, in a format.
func (s *Service) Again(ctx context.Context, account, id string, format contract.AudioFormat) (*Job, error) {
	k, err := s.find(ctx, account, id)
	if err != nil {
		return nil, err
	}
	if err := k.again(id); err != nil {
		return nil, err
	}
	leave, err := turn(ctx, s.turns, account)
	if err != nil {
		return nil, err
	}
	j := &Job{service: s, leave: leave, begun: time.Now()}
	instant := true // nothing is heard again: what was taken then is known
	j.asked.Account, j.asked.Format, j.asked.InstantMode = account, &contract.Format{Type: format}, &instant
	t := &take{
		id:          id,
		seed:        k.Seed,
		temperature: k.Temperature,
		before:      k.Before,
		tries:       k.Tries,
		reading:     text.Options{Locale: k.Locale, Lexicon: text.LexiconOf(k.Lexicon)},
	}
	for _, l := range k.Lines {
		line := line{
			PostedUtterance: contract.PostedUtterance{Text: l.Text, Speed: l.Speed, TrailingSilence: l.Silence},
			manner:          l.Manner,
			made:            l.Made,
			unsplit:         l.Unsplit,
			ends:            l.Ends,
		}
		line.parts = partsOf(l.Text, l.Unsplit)
		manner := l.Manner
		if l.Made {
			manner = ""
		}
		if line.voice, err = s.Voices.Again(ctx, k.Voices[l.Voice], manner); err != nil {
			leave()
			return nil, err
		}
		t.lines = append(t.lines, line)
	}
	j.takes = []*take{t}
	return j, nil
}

// again says why a generation cannot be made again; nil where it can.
func (k kept) again(id string) error {
	switch {
	case k.Converted:
		return contract.ErrConflict{Why: fmt.Sprintf("the generation %s is that of a recording, which is not kept: "+
			"send the recording once more to /v0/tts/voice_conversion/file", id)}
	case len(k.Lines) == 0:
		return contract.ErrConflict{Why: fmt.Sprintf("the text of the generation %s is not kept, since "+
			"retention.keep was nothing when it was made: send the text once more", id)}
	}
	return nil
}

// partsOf cuts a text into snippets, or makes it one.
func partsOf(s string, unsplit bool) []text.Stretch {
	parts := text.Stretches(s)
	if unsplit && len(parts) > 1 {
		parts = []text.Stretch{{From: parts[0].From, To: parts[len(parts)-1].To}}
	}
	return parts
}
