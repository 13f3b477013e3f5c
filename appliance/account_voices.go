package appliance

import (
	"context"
	"encoding/json"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/voice"
	"parley/store"
)

// AccountVoices are the voices of an account, for programs beside the box. Without
// records there is the library alone.
type AccountVoices struct {
	Config  config.Config
	Records *store.Store
	Account string // id
}

func (a AccountVoices) voices() voices { return voices{a.Config, a.Records} }

// List returns the library, and then what the account has saved.
func (a AccountVoices) List(ctx context.Context) ([]contract.ReturnVoice, error) {
	all, err := a.voices().ListVoices(ctx, a.Account, contract.VoiceLibrary)
	if err != nil || a.Records == nil {
		return all, err
	}
	saved, err := a.voices().ListVoices(ctx, a.Account, contract.VoiceCustom)
	return append(all, saved...), err
}

// Find returns the voice of a name or id; a contract.ErrNotFound where there is
// none.
func (a AccountVoices) Find(ctx context.Context, name string) (Voice, error) {
	return a.voices().Find(ctx, a.Account, contract.VoiceRef{Name: name})
}

// Design makes a voice of a description.
func (a AccountVoices) Design(description string, candidate int, seed int64) (voice.Recipe, error) {
	return a.voices().Design(description, candidate, seed)
}

// Save gives a recipe a name. Errors are those of POST /v0/tts/voices.
func (a AccountVoices) Save(ctx context.Context, name string, r voice.Recipe) (contract.ReturnVoice, error) {
	recipe, err := json.Marshal(r)
	if err != nil {
		return contract.ReturnVoice{}, err
	}
	return a.voices().save(ctx, a.Account, name, recipe)
}

// SaveGeneration saves the voice of a generation, as POST /v0/tts/voices does.
func (a AccountVoices) SaveGeneration(ctx context.Context, name, generation string) (contract.ReturnVoice, error) {
	return a.voices().SaveVoice(ctx, a.Account, contract.PostedVoice{GenerationID: generation, Name: name})
}

// Delete deletes a saved voice. Errors are those of DELETE /v0/tts/voices.
func (a AccountVoices) Delete(ctx context.Context, name string) error {
	return a.voices().DeleteVoice(ctx, a.Account, name)
}
