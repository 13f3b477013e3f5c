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
	if why := HearingProblem(v.Config, name); why != "" {
		v.log.Warn("who talks with this voice in its language is not understood", "why", why, "mend", HearingAdvice)
	}
}

// Voice returns a voice of an account, by its name or id; an empty one is that of
// the settings.
func (v *ForChats) Voice(ctx context.Context, account, name string) (engine.Synthesizer, error) {
	speaks, err := v.engines.Voice(ctx, name)
	if err == nil || !isUnknown(err) {
		return speaks, err
	}
	other, err := v.savedOrStandIn(ctx, account, name, err)
	if err != nil {
		return nil, err
	}
	return v.engines.RecipeVoice(ctx, other.Recipe)
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
	other, err := v.savedOrStandIn(ctx, account, name, err)
	if err != nil {
		return err
	}
	if other.Provider == contract.VoiceLibrary {
		v.warn(other.ID)
	}
	return v.engines.PrepareRecipe(other.Recipe)
}

// savedOrStandIn is a voice that is none of the library's: one that an account has saved, by its
// id or name, or one that stands in for it. Where there is none, the error says what
// unknown does, which lists the library.
func (v *ForChats) savedOrStandIn(ctx context.Context, account, name string, unknown error) (Voice, error) {
	for _, ref := range []contract.VoiceRef{{ID: name}, {Name: name}} {
		ref.Provider = contract.VoiceCustom
		found, err := v.named(ctx, account, ref)
		if _, missing := errors.AsType[contract.ErrNotFound](err); !missing {
			return found, err
		}
	}
	found, err := v.standIn(ctx, account, name)
	missing, is := errors.AsType[contract.ErrNotFound](err)
	if lists, ok := errors.AsType[contract.ErrInvalid](unknown); is && ok {
		lists.Why += "; " + missing.Hint
		return found, lists
	}
	return found, err
}

// isUnknown reports whether the library has no such voice.
func isUnknown(err error) bool {
	_, is := errors.AsType[contract.ErrInvalid](err)
	return is
}
