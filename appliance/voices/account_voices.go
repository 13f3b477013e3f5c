package voices

import (
	"context"
	"encoding/json"
	"errors"

	"parley/appliance/contract"
	"parley/appliance/voice"
)

// Account has the voices of one account, for programs that are not the box. Without records
// it has the library only.
type Account struct {
	Voices
	ID string
}

// List returns the library, followed by the account's saved voices.
func (a Account) List(ctx context.Context) ([]contract.ReturnVoice, error) {
	all, err := a.Voices.ListVoices(ctx, a.ID, contract.VoiceLibrary)
	if err != nil || a.Voices.Records == nil {
		return all, err
	}
	saved, err := a.Voices.ListVoices(ctx, a.ID, contract.VoiceCustom)
	return append(all, saved...), err
}

// Find returns the voice with a name or id. The error is a contract.ErrNotFound if there is
// none.
func (a Account) Find(ctx context.Context, name string) (Voice, error) {
	found, err := a.Voices.Find(ctx, a.ID, contract.VoiceRef{Name: name})
	if missing, is := errors.AsType[contract.ErrNotFound](err); is {
		missing.Hint = "parley voices list shows all voices; " + missing.Hint
		err = missing
	}
	return found, err
}

// Save saves a recipe under a name. Its errors are those of POST /v0/tts/voices.
func (a Account) Save(ctx context.Context, name string, r voice.Recipe) (contract.ReturnVoice, error) {
	recipe, err := json.Marshal(r)
	if err != nil {
		return contract.ReturnVoice{}, err
	}
	return a.Voices.save(ctx, a.ID, name, recipe)
}
