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

// Records store what is needed to synthesise a generation again.
type Records interface {
	AddGenerations(ctx context.Context, accountID string, newest int, made ...store.Generation) error
	ChangeGeneration(ctx context.Context, accountID string, g store.Generation) error
	Generation(ctx context.Context, accountID, id string) (store.Generation, error)
}

// Retention is what is stored of generations.
type Retention struct {
	Newest int  // of each account
	Texts  bool // the texts too, and not only voices and seeds
}

// storedGeneration is a generation as the database has it. The same program with the same packs
// makes the same sound of it.
type storedGeneration struct {
	Seed         int64             `json:"seed"`
	Temperature  float64           `json:"temperature,omitempty"`
	PreviousText string            `json:"before,omitempty"`
	Voices       []json.RawMessage `json:"voices"` // recipes, in the order of their first utterance
	Utterances   []storedUtterance `json:"lines,omitempty"`
	Locale       string            `json:"locale,omitempty"` // of the pronunciation
	// Lexicon has the account's entries at that time that the texts use.
	Lexicon   []text.Entry `json:"lexicon,omitempty"`
	Converted bool         `json:"converted,omitempty"`
	// Attempts are which attempt at each snippet was used, unless all were the first.
	Attempts []int `json:"tries,omitempty"`
}

type storedUtterance struct {
	Text     string  `json:"text"`
	Manner   string  `json:"manner,omitempty"`
	Designed bool    `json:"made,omitempty"` // the voice was designed from the manner
	Speed    float64 `json:"speed"`
	Silence  float64 `json:"silence,omitempty"` // seconds
	Voice    int     `json:"voice"`             // index in Voices
	Unsplit  bool    `json:"unsplit,omitempty"`
	Ends     *ending `json:"ends,omitempty"`
}

// record converts a generation to its stored form.
func (j *Job) record(gen *generation) (store.Generation, error) {
	k := storedGeneration{
		Seed:        gen.seed,
		Temperature: gen.temperature,
		Locale:      gen.pronunciation.Locale,
		Converted:   gen.script != nil,
	}
	texts := []string{gen.previousText}
	for _, l := range gen.utterances {
		at := slices.IndexFunc(k.Voices, func(r json.RawMessage) bool { return string(r) == string(l.voice.Recipe) })
		if at < 0 {
			at = len(k.Voices)
			k.Voices = append(k.Voices, l.voice.Recipe)
		}
		texts = append(texts, l.Text)
		k.Utterances = append(k.Utterances, storedUtterance{
			Text:     l.Text,
			Manner:   l.manner,
			Designed: l.designed,
			Speed:    l.Speed,
			Silence:  l.TrailingSilence,
			Voice:    at,
			Unsplit:  l.unsplit,
			Ends:     l.ends,
		})
	}
	if k.PreviousText = gen.previousText; slices.ContainsFunc(gen.attempts, func(n int) bool { return n > 0 }) {
		k.Attempts = gen.attempts
	}
	if !j.service.Retention.Texts || gen.script != nil { // of a recording, only the voice is stored
		k.PreviousText, k.Utterances, texts = "", nil, nil
	}
	k.Lexicon = gen.pronunciation.Lexicon.Entries(texts...)
	body, err := json.Marshal(k)
	return store.Generation{ID: gen.id, Body: string(body)}, err
}

// startStoring writes the generations in the background; awaitStored waits for that.
func (j *Job) startStoring(ctx context.Context) {
	if j.service.Records == nil || j.request.Unstored {
		return
	}
	j.stored = make(chan error, 1)
	go func() {
		var all []store.Generation
		for _, gen := range j.generations {
			g, err := j.record(gen)
			if err != nil {
				j.stored <- err
				return
			}
			all = append(all, g)
		}
		j.stored <- j.service.Records.AddGenerations(ctx, j.request.Account, j.service.Retention.Newest, all...)
	}()
}

// storeAttempt stores that a later attempt at a snippet was used.
func (j *Job) storeAttempt(ctx context.Context, gen *generation, s *snippet, try int) error {
	for len(gen.attempts) <= s.index {
		gen.attempts = append(gen.attempts, 0)
	}
	gen.attempts[s.index] = try
	if err := j.awaitStored(ctx); err != nil {
		return err
	}
	return j.updateStored(ctx, gen)
}

// updateStored overwrites a stored generation with its present state.
func (j *Job) updateStored(ctx context.Context, gen *generation) error {
	if j.service.Records == nil || j.request.Unstored {
		return nil
	}
	g, err := j.record(gen)
	if err != nil {
		return err
	}
	return j.service.Records.ChangeGeneration(ctx, j.request.Account, g)
}

// awaitStored waits until the generations are stored: no id is sent to the client before.
func (j *Job) awaitStored(ctx context.Context) error {
	if j.stored == nil {
		return nil
	}
	select {
	case err := <-j.stored:
		j.stored = nil
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// find loads a generation of an account. It returns ErrNotFound for a generation that never
// existed or is no longer stored.
func (s *Service) find(ctx context.Context, account, id string) (storedGeneration, error) {
	var k storedGeneration
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

// RecipeOf returns the recipe of the first voice of a generation.
func RecipeOf(g store.Generation) (json.RawMessage, error) {
	var k storedGeneration
	if err := json.Unmarshal([]byte(g.Body), &k); err != nil {
		return nil, fmt.Errorf("generation %s: %w", g.ID, err)
	}
	if len(k.Voices) == 0 {
		return nil, fmt.Errorf("generation %s has no voice", g.ID)
	}
	return k.Voices[0], nil
}

// Regenerate synthesises a stored generation of an account again, sample for sample, in a
// format.
func (s *Service) Regenerate(ctx context.Context, account, id string, format contract.AudioFormat) (*Job, error) {
	k, err := s.find(ctx, account, id)
	if err != nil {
		return nil, err
	}
	if err := k.checkRepeatable(id); err != nil {
		return nil, err
	}
	leave, err := enter(ctx, s.requests, account)
	if err != nil {
		return nil, err
	}
	j := &Job{service: s, release: leave, begun: time.Now()}
	instant := true // no checks: the attempts that were used are known
	j.request.Account, j.request.Format, j.request.InstantMode = account, &contract.Format{Type: format}, &instant
	gen := &generation{
		id:            id,
		seed:          k.Seed,
		temperature:   k.Temperature,
		previousText:  k.PreviousText,
		attempts:      k.Attempts,
		pronunciation: text.Options{Locale: k.Locale, Lexicon: text.LexiconOf(k.Lexicon)},
	}
	for _, l := range k.Utterances {
		line := utterance{
			PostedUtterance: contract.PostedUtterance{Text: l.Text, Speed: l.Speed, TrailingSilence: l.Silence},
			manner:          l.Manner,
			designed:        l.Designed,
			unsplit:         l.Unsplit,
			ends:            l.Ends,
		}
		line.parts = partsOf(l.Text, l.Unsplit)
		manner := l.Manner
		if l.Designed {
			manner = ""
		}
		if line.voice, err = s.Voices.FromRecipe(ctx, k.Voices[l.Voice], manner); err != nil {
			leave()
			return nil, err
		}
		gen.utterances = append(gen.utterances, line)
	}
	j.generations = []*generation{gen}
	return j, nil
}

// checkRepeatable returns an error if a generation cannot be synthesised again.
func (s storedGeneration) checkRepeatable(id string) error {
	switch {
	case s.Converted:
		return contract.ErrConflict{Why: fmt.Sprintf("generation %s is a converted recording, and recordings are not "+
			"stored: send the recording again to /v0/tts/voice_conversion/file", id)}
	case len(s.Utterances) == 0:
		return contract.ErrConflict{Why: fmt.Sprintf("the text of generation %s was not stored, since "+
			"retention.keep was nothing at that time: send the text again", id)}
	}
	return nil
}

// partsOf cuts a text into snippets, or returns it as one if unsplit.
func partsOf(s string, unsplit bool) []text.Segment {
	parts := text.Segments(s)
	if unsplit && len(parts) > 1 {
		parts = []text.Segment{{From: parts[0].From, To: parts[len(parts)-1].To}}
	}
	return parts
}
