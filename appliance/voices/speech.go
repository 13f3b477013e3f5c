package voices

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/speech"
	"parley/appliance/voice"
)

// ForSpeech gives text-to-speech its voices.
type ForSpeech struct {
	Voices
	Engines interface {
		RecipeVoice(ctx context.Context, r voice.Recipe) (engine.Synthesizer, error)
	}
}

// Find returns the voice that ref names, speaking in a manner.
func (f ForSpeech) Find(ctx context.Context, account string, ref contract.VoiceRef, manner string) (speech.Voice,
	error) {
	found, err := f.Voices.Find(ctx, account, ref)
	if err != nil {
		return speech.Voice{}, err
	}
	made, err := f.synthesize(ctx, found.Recipe, manner)
	made.ID, made.Name, made.Provider = found.ID, found.Name, found.Provider
	return made, err
}

// Design makes a voice from a description. Without a description, the first candidate is
// the voice of the settings.
func (f ForSpeech) Design(ctx context.Context, description string, candidate int, seed int64) (speech.Voice, error) {
	r, err := f.Voices.Design(description, candidate, seed)
	if err != nil {
		return speech.Voice{}, err
	}
	return f.synthesize(ctx, r, "")
}

// FromRecipe returns the voice of a recipe, speaking in a manner.
func (f ForSpeech) FromRecipe(ctx context.Context, recipe json.RawMessage, manner string) (speech.Voice, error) {
	var r voice.Recipe
	if err := json.Unmarshal(recipe, &r); err != nil {
		return speech.Voice{}, fmt.Errorf("the recipe of a voice: %w", err)
	}
	return f.synthesize(ctx, r, manner)
}

// synthesize returns the voice of a recipe, speaking in a manner. The manner is not a part
// of the recipe.
func (f ForSpeech) synthesize(ctx context.Context, r voice.Recipe, manner string) (speech.Voice, error) {
	encoded, err := json.Marshal(r)
	if err != nil {
		return speech.Voice{}, err
	}
	if strings.TrimSpace(manner) != "" {
		r = r.WithManner(voice.Direct(manner))
	}
	speaks, err := f.Engines.RecipeVoice(ctx, r)
	if err != nil {
		return speech.Voice{Recipe: encoded}, err
	}
	return speech.Voice{Recipe: encoded, Synthesizer: speaks, Language: engine.LanguageOf(speaks)}, nil
}
