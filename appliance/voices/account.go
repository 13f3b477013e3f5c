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
	Voices Voices
	ID     string
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
		missing.There = "parley voices list names those that there are; " + missing.There
		err = missing
	}
	return found, err
}

// Design makes a voice of a description.
func (a Account) Design(description string, candidate int, seed int64) (voice.Recipe, error) {
	return a.Voices.Design(description, candidate, seed)
}

// Save gives a recipe a name. Errors are those of POST /v0/tts/voices.
func (a Account) Save(ctx context.Context, name string, r voice.Recipe) (contract.ReturnVoice, error) {
	recipe, err := json.Marshal(r)
	if err != nil {
		return contract.ReturnVoice{}, err
	}
	return a.Voices.save(ctx, a.ID, name, recipe)
}

// SaveGeneration saves the voice of a generation, as POST /v0/tts/voices does.
func (a Account) SaveGeneration(ctx context.Context, name, generation string) (contract.ReturnVoice, error) {
	return a.Voices.SaveVoice(ctx, a.ID, contract.PostedVoice{GenerationID: generation, Name: name})
}

// Delete deletes a saved voice. Errors are those of DELETE /v0/tts/voices.
func (a Account) Delete(ctx context.Context, name string) error {
	return a.Voices.DeleteVoice(ctx, a.ID, name)
}
