// Package voices knows what an account may speak with: the library of the box, and
// the voices that the account has saved. Chats and text-to-speech each have them in
// the shape that they ask for.
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

// Voices are those that an account may speak with: the library of the box, and
// those that it has saved.
type Voices struct {
	Config  config.Config
	Records *store.Store // nil where there is no box: then there are none that were saved
	// StandIns is told which voices stand in for others; nil: nobody is.
	StandIns *StandIns
}

// Voice is one that was found: what it is called, and what it is made of.
type Voice struct {
	contract.ReturnVoice
	Recipe voice.Recipe
}

// Find returns the voice that ref names for an account, by its id or by its name:
// without a provider its own before those of the library; where it is none of either,
// the one that stands in for it. A contract.ErrNotFound where there is none.
func (v Voices) Find(ctx context.Context, account string, ref contract.VoiceRef) (Voice, error) {
	found, err := v.named(ctx, account, ref)
	if missing, is := errors.AsType[contract.ErrNotFound](err); !is || missing.Hint != "" {
		return found, err
	}
	return v.standIn(ctx, account, cmp.Or(ref.ID, ref.Name))
}

// named is Find without those that stand in for others.
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
	var there string
	if found {
		there = fmt.Sprintf("the library has %q, whose id is %s and whose provider %s", b.Name, b.ID,
			contract.VoiceLibrary)
	}
	return Voice{}, contract.ErrNotFound{What: "voice", ID: cmp.Or(ref.ID, ref.Name), Hint: there}
}

func savedVoice(saved store.Voice) (Voice, error) {
	v := Voice{ReturnVoice: savedRecord(saved)}
	if err := json.Unmarshal([]byte(saved.Recipe), &v.Recipe); err != nil {
		return v, fmt.Errorf("reading what the voice %s is made of: %w", saved.ID, err)
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

// FindVoice is Find, for who wants to know no more than that there is one.
func (v Voices) FindVoice(ctx context.Context, account string, ref contract.VoiceRef) (contract.ReturnVoice, error) {
	found, err := v.Find(ctx, account, ref)
	return found.ReturnVoice, err
}

// ListVoices returns the voices of a provider that an account may use, oldest
// first; those of the library in the order in which people read them.
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

// SaveVoice gives the voice of a generation of an account a name. A
// contract.ErrNotFound where there is no such generation (any more), an ErrInvalid
// for a name of the library, an ErrConflict for one that the account has given.
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

// save gives a recipe a name.
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

// DeleteVoice deletes the voice of an account that has a name. A
// contract.ErrNotFound where there is none, an ErrConflict where configs speak
// with it.
func (v Voices) DeleteVoice(ctx context.Context, account, name string) error {
	err := v.Records.DeleteVoice(ctx, account, name)
	if used, is := errors.AsType[store.ErrVoiceUsed](err); is {
		return contract.ErrConflict{Why: fmt.Sprintf("the voice %.80q is that of these configs: %.500s; give them "+
			"another voice, or delete them first", name, strings.Join(used.Configs, ", "))}
	}
	if errors.Is(err, store.ErrNotFound) {
		missing := contract.ErrNotFound{What: "saved voice", ID: name, Field: "name"}
		if b, found := voice.Find(append(engines.Library(v.Config), voice.Kokoro()...), name); found {
			missing.Hint = fmt.Sprintf("%q is of the library, which stays", b.Name)
		}
		return missing
	}
	return err
}

// Design makes a voice of a description, out of the library. Without one, the
// first candidate is the voice of the settings.
func (v Voices) Design(description string, candidate int, seed int64) (voice.Recipe, error) {
	all := engines.Library(v.Config)
	if len(all) == 0 {
		return voice.Recipe{}, contract.ErrUnavailable{Why: "there are no voices"}
	}
	if own, found := voice.Find(all, v.Config.Engines.Voice); found && candidate == 0 &&
		strings.TrimSpace(description) == "" {
		return voice.Single(own.ID), nil
	}
	return voice.Design(all, description, candidate, seed), nil
}
