package voices

import (
	"context"
	"encoding/json"
	"errors"

	"parley/appliance/contract"
	"parley/appliance/voice"
)

// Account are the voices of one account, for programs beside the box. Without
// records there is the library alone.
type Account struct {
	Voices
	ID string
}

// List returns the library, and then what the account has saved.
func (a Account) List(ctx context.Context) ([]contract.ReturnVoice, error) {
	all, err := a.Voices.ListVoices(ctx, a.ID, contract.VoiceLibrary)
	if err != nil || a.Voices.Records == nil {
		return all, err
	}
	saved, err := a.Voices.ListVoices(ctx, a.ID, contract.VoiceCustom)
	return append(all, saved...), err
}

// Find returns the voice of a name or id; a contract.ErrNotFound where there is
// none.
func (a Account) Find(ctx context.Context, name string) (Voice, error) {
	found, err := a.Voices.Find(ctx, a.ID, contract.VoiceRef{Name: name})
	if missing, is := errors.AsType[contract.ErrNotFound](err); is {
		missing.Hint = "parley voices list names those that there are; " + missing.Hint
		err = missing
	}
	return found, err
}

// Save gives a recipe a name. Errors are those of POST /v0/tts/voices.
func (a Account) Save(ctx context.Context, name string, r voice.Recipe) (contract.ReturnVoice, error) {
	recipe, err := json.Marshal(r)
	if err != nil {
		return contract.ReturnVoice{}, err
	}
	return a.Voices.save(ctx, a.ID, name, recipe)
}
