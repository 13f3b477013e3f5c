// Package voices finds the voices that an account may use: those of the library, and those
// that the account has saved. ForChats and ForSpeech give them to chats and to
// text-to-speech.
package voices

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/speech"
	"parley/appliance/voice"
	"parley/store"
)

// Voices finds the voices of all accounts.
type Voices struct {
	Config  config.Config
	Records *store.Store // nil without a box: then only the library is there
	// StandIns logs which voices stand in for others; it may be nil.
	StandIns *StandIns
}

// Voice is a voice that was found: its record, and how it is made.
type Voice struct {
	contract.ReturnVoice
	Recipe voice.Recipe
}

// Find returns the voice that ref names for an account, by id or by name. Without a
// provider, the account's voices come before those of the library; if neither has the
// voice, Find returns its stand-in. The error is a contract.ErrNotFound if there is none.
func (v Voices) Find(ctx context.Context, account string, ref contract.VoiceRef) (Voice, error) {
	found, err := v.named(ctx, account, ref)
	if missing, is := errors.AsType[contract.ErrNotFound](err); !is || missing.Hint != "" {
		return found, err
	}
	return v.standIn(ctx, account, cmp.Or(ref.ID, ref.Name))
}

// named is Find without stand-ins.
func (v Voices) named(ctx context.Context, account string, ref contract.VoiceRef) (Voice, error) {
	if ref.Provider != contract.VoiceLibrary && v.Records != nil {
		saved, err := v.Records.Voice(ctx, account, ref.ID, ref.Name)
		if err == nil {
			return savedVoice(saved)
		}
		if !errors.Is(err, store.ErrNotFound) {
			return Voice{}, err
		}
	}
	b, found := voice.Find(engines.Library(v.Config), strings.TrimSpace(cmp.Or(ref.ID, ref.Name)))
	if found && ref.Provider != contract.VoiceCustom && (ref.ID == "" || ref.ID == b.ID) {
		return Voice{libraryRecord(b), voice.Single(b.ID)}, nil
	}
	var hint string
	if found {
		hint = fmt.Sprintf("the library has %q, with id %s and provider %s", b.Name, b.ID,
			contract.VoiceLibrary)
	}
	return Voice{}, contract.ErrNotFound{What: "voice", ID: cmp.Or(ref.ID, ref.Name), Hint: hint}
}

func savedVoice(saved store.Voice) (Voice, error) {
	v := Voice{ReturnVoice: savedRecord(saved)}
	if err := json.Unmarshal([]byte(saved.Recipe), &v.Recipe); err != nil {
		return v, fmt.Errorf("the recipe of voice %s: %w", saved.ID, err)
	}
	return v, nil
}

func savedRecord(saved store.Voice) contract.ReturnVoice {
	return contract.ReturnVoice{
		ID:                     saved.ID,
		Name:                   saved.Name,
		Provider:               contract.VoiceCustom,
		CompatibleOctaveModels: octaves(),
	}
}

// FindVoice returns the record of the voice that Find finds.
func (v Voices) FindVoice(ctx context.Context, account string, ref contract.VoiceRef) (contract.ReturnVoice, error) {
	found, err := v.Find(ctx, account, ref)
	return found.ReturnVoice, err
}

// ListVoices returns the voices of a provider that an account may use, the oldest first.
// Those of the library are in display order.
func (v Voices) ListVoices(ctx context.Context, account string, from contract.VoiceProvider) ([]contract.ReturnVoice,
	error) {
	var all []contract.ReturnVoice
	if from == contract.VoiceLibrary {
		for _, b := range engines.Library(v.Config) {
			all = append(all, libraryRecord(b))
		}
		return all, nil
	}
	saved, err := v.Records.Voices(ctx, account)
	for _, s := range saved {
		all = append(all, savedRecord(s))
	}
	return all, err
}

// SaveVoice saves the voice of an account's generation under a name. The error is a
// contract.ErrNotFound if the generation does not exist or no longer exists, an ErrInvalid
// for a name of the library, and an ErrConflict for a name that the account has used.
func (v Voices) SaveVoice(ctx context.Context, account string, p contract.PostedVoice) (contract.ReturnVoice, error) {
	generation, err := v.Records.Generation(ctx, account, p.GenerationID)
	if errors.Is(err, store.ErrNotFound) {
		return contract.ReturnVoice{},
			contract.ErrNotFound{What: "generation", ID: p.GenerationID, Field: "generation_id"}
	}
	if err != nil {
		return contract.ReturnVoice{}, err
	}
	recipe, err := speech.RecipeOf(generation)
	if err != nil {
		return contract.ReturnVoice{}, err
	}
	return v.save(ctx, account, p.Name, recipe)
}

// save saves a recipe under a name.
func (v Voices) save(ctx context.Context, account, name string, recipe json.RawMessage) (contract.ReturnVoice, error) {
	if b, taken := voice.Find(append(engines.Library(v.Config), voice.Kokoro()...), name); taken {
		return contract.ReturnVoice{}, contract.ErrInvalid{Field: "name", Why: fmt.Sprintf("%.80q is the voice %s of "+
			"the library: choose another name", name, b.ID)}
	}
	saved := store.Voice{ID: contract.NewID(), Name: name, Recipe: string(recipe)}
	err := v.Records.SaveVoice(ctx, account, saved)
	if errors.Is(err, store.ErrConflict) {
		return contract.ReturnVoice{}, contract.ErrConflict{Why: fmt.Sprintf("there is a voice named %.80q already: "+
			"choose another name, or delete that one", name)}
	}
	return savedRecord(saved), err
}

// DeleteVoice deletes an account's saved voice. The error is a contract.ErrNotFound if
// there is none of that name, and an ErrConflict if configs use it.
func (v Voices) DeleteVoice(ctx context.Context, account, name string) error {
	err := v.Records.DeleteVoice(ctx, account, name)
	if used, is := errors.AsType[store.ErrVoiceUsed](err); is {
		return contract.ErrConflict{Why: fmt.Sprintf("the voice %.80q is in use by these configs: %.500s; give them "+
			"another voice, or delete them first", name, strings.Join(used.Configs, ", "))}
	}
	if errors.Is(err, store.ErrNotFound) {
		missing := contract.ErrNotFound{What: "saved voice", ID: name, Field: "name"}
		if b, found := voice.Find(append(engines.Library(v.Config), voice.Kokoro()...), name); found {
			missing.Hint = fmt.Sprintf("%q is a voice of the library, which cannot be deleted", b.Name)
		}
		return missing
	}
	return err
}

// Design makes a voice from a description, based on the library. Without a description, the
// first candidate is the voice of the settings.
func (v Voices) Design(description string, candidate int, seed int64) (voice.Recipe, error) {
	all := engines.Library(v.Config)
	if len(all) == 0 {
		return voice.Recipe{}, contract.ErrUnavailable{Why: "there are no voices"}
	}
	if preset, found := voice.Find(all, v.Config.Engines.Voice); found && candidate == 0 &&
		strings.TrimSpace(description) == "" {
		return voice.Single(preset.ID), nil
	}
	return voice.Design(all, description, candidate, seed), nil
}
