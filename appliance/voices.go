package appliance

import (
	"cmp"
	"context"
	"strings"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/voice"
)

// voices are those that an account may speak with: the library of the box.
type voices struct{ cfg config.Config }

// Voice is one that was found: what it is called, and what it is made of.
type Voice struct {
	contract.ReturnVoice
	Recipe voice.Recipe
}

// Find returns the voice that ref names for an account, by its id or by its name;
// a contract.ErrNotFound where there is none.
func (v voices) Find(_ context.Context, _ string, ref contract.VoiceRef) (Voice, error) {
	if ref.Provider != contract.VoiceCustom {
		all := library(v.cfg)
		b, found := voice.Find(all, cmp.Or(ref.ID, ref.Name))
		if found && (ref.ID == "" || ref.ID == b.ID) {
			return Voice{libraryRecord(b), voice.Of(b.ID)}, nil
		}
	}
	return Voice{}, contract.ErrNotFound{What: "voice", ID: cmp.Or(ref.ID, ref.Name)}
}

// FindVoice is Find, for who wants to know no more than that there is one.
func (v voices) FindVoice(ctx context.Context, account string, ref contract.VoiceRef) (contract.ReturnVoice, error) {
	found, err := v.Find(ctx, account, ref)
	return found.ReturnVoice, err
}

// ListVoices returns the voices of a provider that an account may use, oldest
// first; those of the library in the order in which people read them.
func (v voices) ListVoices(_ context.Context, _ string, from contract.VoiceProvider) ([]contract.ReturnVoice, error) {
	var all []contract.ReturnVoice
	if from == contract.VoiceLibrary {
		for _, b := range library(v.cfg) {
			all = append(all, libraryRecord(b))
		}
	}
	return all, nil
}

// Design makes a voice of a description, out of the library. Without one, the
// first candidate is the voice of the settings.
func (v voices) Design(description string, candidate int, seed int64) (voice.Recipe, error) {
	all := library(v.cfg)
	if len(all) == 0 {
		return voice.Recipe{}, contract.ErrUnavailable{Why: "there are no voices"}
	}
	if own, found := voice.Find(all, v.cfg.Engines.Voice); found && candidate == 0 && strings.TrimSpace(description) == "" {
		return voice.Of(own.ID), nil
	}
	return voice.Design(all, description, candidate, seed), nil
}
