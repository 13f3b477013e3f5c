package voices

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/voice"
)

// ForChats are the voices of chats.
type ForChats struct {
	Voices
	engines *engines.Set
	log     *slog.Logger
	warned  sync.Map // voices, by name, of which the operator was told what is wrong with them
}

// NewForChats returns the voices of chats, over the engines of the box.
func NewForChats(v Voices, e *engines.Set, log *slog.Logger) *ForChats {
	return &ForChats{Voices: v, engines: e, log: log}
}

// warn tells the operator, once for each voice, that its listeners are not
// understood.
func (v *ForChats) warn(name string) {
	if _, told := v.warned.LoadOrStore(name, true); told {
		return
	}
	if why := Unheard(v.Config, name); why != "" {
		v.log.Warn("who talks with this voice in its language is not understood", "why", why, "mend", HearMore)
	}
}

// Voice returns a voice of an account, by its name or id; an empty one is that of
// the settings.
func (v *ForChats) Voice(ctx context.Context, account, name string) (engine.Synthesizer, error) {
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
func (v *ForChats) Prepare(account, name string) error {
	err := v.engines.Prepare(name)
	if err == nil {
		v.warn(name)
		return nil
	}
	if !isUnknown(err) {
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
func (v *ForChats) saved(ctx context.Context, account, name string, unknown error) (voice.Recipe, error) {
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
