package appliance

import (
	"context"
	"errors"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/voice"
)

// chatVoices are the voices of chats.
type chatVoices struct {
	voices
	engines *Engines
}

// Voice returns a voice of an account, by its name or id; an empty one is that of
// the settings.
func (v chatVoices) Voice(ctx context.Context, account, name string) (engine.Synthesizer, error) {
	speaks, err := v.engines.Voice(ctx, name)
	if err == nil || !isUnknown(err) {
		return speaks, err
	}
	r, err := v.saved(ctx, account, name, err)
	if err != nil {
		return nil, err
	}
	return v.engines.Speaker(ctx, r)
}

// lookUp is how long the database may take to say which voice is meant.
const lookUp = 5 * time.Second

// Prepare says at once whether an account has a voice, and begins to load it.
func (v chatVoices) Prepare(account, name string) error {
	err := v.engines.Prepare(name)
	if err == nil || !isUnknown(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookUp)
	defer cancel()
	r, err := v.saved(ctx, account, name, err)
	if err != nil {
		return err
	}
	return v.engines.PrepareRecipe(r)
}

// saved is what a voice is made of that an account has saved, by its id or name;
// where it has none, the error is unknown.
func (v chatVoices) saved(ctx context.Context, account, name string, unknown error) (voice.Recipe, error) {
	for _, ref := range []contract.VoiceRef{{ID: name}, {Name: name}} {
		ref.Provider = contract.VoiceCustom
		found, err := v.Find(ctx, account, ref)
		if err == nil {
			return found.Recipe, nil
		}
		if _, missing := errors.AsType[contract.ErrNotFound](err); !missing {
			return voice.Recipe{}, err
		}
	}
	return voice.Recipe{}, unknown
}

// isUnknown reports whether the library has no such voice.
func isUnknown(err error) bool {
	_, is := errors.AsType[contract.ErrInvalid](err)
	return is
}
