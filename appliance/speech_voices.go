package appliance

import (
	"context"
	"encoding/json"
	"errors"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/speech"
	"parley/appliance/voice"
)

// speechVoices are the voices that texts are spoken with.
type speechVoices struct {
	voices
	engines interface {
		Voice(ctx context.Context, name string) (engine.Synthesizer, error)
	}
}

// Find returns the voice that ref names.
func (v speechVoices) Find(ctx context.Context, account string, ref contract.VoiceRef, _ string) (speech.Voice, error) {
	found, err := v.voices.Find(ctx, account, ref)
	if err != nil {
		return speech.Voice{}, err
	}
	made, err := v.of(ctx, found.Recipe)
	made.ID, made.Name, made.Provider = found.ID, found.Name, found.Provider
	return made, err
}

// Design returns the box's own voice.
func (v speechVoices) Design(ctx context.Context, _ string, _ int, _ int64) (speech.Voice, error) {
	return v.of(ctx, voice.Of(v.cfg.VoicePack(v.cfg.Engines.Voice)))
}

// Again returns the voice of a recipe.
func (v speechVoices) Again(ctx context.Context, recipe json.RawMessage, _ string) (speech.Voice, error) {
	var r voice.Recipe
	if err := json.Unmarshal(recipe, &r); err != nil {
		return speech.Voice{}, err
	}
	return v.of(ctx, r)
}

func (v speechVoices) of(ctx context.Context, r voice.Recipe) (speech.Voice, error) {
	if len(r.Parts) == 0 {
		return speech.Voice{}, errors.New("a voice is made of nothing")
	}
	speaks, err := v.engines.Voice(ctx, r.Parts[0].Voice)
	if err != nil {
		return speech.Voice{}, err
	}
	made := speech.Voice{Speaks: speaks}
	if l, ok := speaks.(interface{ Language() string }); ok {
		made.Language = l.Language()
	}
	made.Recipe, err = json.Marshal(r)
	return made, err
}
