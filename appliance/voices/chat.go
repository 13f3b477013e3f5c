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

// ForChats gives chats their voices.
type ForChats struct {
	Voices
	engines *engines.Set
	log     *slog.Logger
	warned  sync.Map // names of the voices with a logged problem
}

// NewForChats returns the voices of chats, over the engines of the box.
func NewForChats(v Voices, e *engines.Set, log *slog.Logger) *ForChats {
	return &ForChats{Voices: v, engines: e, log: log}
}

// warn logs once for each voice that the box does not understand the voice's language.
func (f *ForChats) warn(name string) {
	if _, warned := f.warned.LoadOrStore(name, true); warned {
		return
	}
	if why := LanguageProblem(f.Config, name); why != "" {
		f.log.Warn("the box does not understand users who speak the language of this voice", "why", why,
			"mend", LanguageAdvice)
	}
}

// Voice returns an account's voice by its name or id; an empty name is the voice of the
// settings.
func (f *ForChats) Voice(ctx context.Context, account, name string) (engine.Synthesizer, error) {
	speaks, err := f.engines.Voice(ctx, name)
	if err == nil || !isUnknown(err) {
		return speaks, err
	}
	other, err := f.savedOrStandIn(ctx, account, name, err)
	if err != nil {
		return nil, err
	}
	return f.engines.RecipeVoice(ctx, other.Recipe)
}

// lookUp limits how long the database may take to find a voice.
const lookUp = 5 * time.Second

// Prepare checks at once whether an account has a voice, and starts to load it.
func (f *ForChats) Prepare(account, name string) error {
	err := f.engines.Prepare(name)
	if err == nil {
		f.warn(name)
		return nil
	}
	if !isUnknown(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookUp)
	defer cancel()
	other, err := f.savedOrStandIn(ctx, account, name, err)
	if err != nil {
		return err
	}
	if other.Provider == contract.VoiceLibrary {
		f.warn(other.ID)
	}
	return f.engines.PrepareRecipe(other.Recipe)
}

// savedOrStandIn returns a voice that is not in the library: one that the account has
// saved, or the stand-in for the name. If there is none, it returns the error unknown,
// which lists the library, with a hint.
func (f *ForChats) savedOrStandIn(ctx context.Context, account, name string, unknown error) (Voice, error) {
	for _, ref := range []contract.VoiceRef{{ID: name}, {Name: name}} {
		ref.Provider = contract.VoiceCustom
		found, err := f.named(ctx, account, ref)
		if _, missing := errors.AsType[contract.ErrNotFound](err); !missing {
			return found, err
		}
	}
	found, err := f.standIn(ctx, account, name)
	missing, is := errors.AsType[contract.ErrNotFound](err)
	if lists, ok := errors.AsType[contract.ErrInvalid](unknown); is && ok {
		lists.Why += "; " + missing.Hint
		return found, lists
	}
	return found, err
}

// isUnknown reports whether err says that the library has no such voice.
func isUnknown(err error) bool {
	_, is := errors.AsType[contract.ErrInvalid](err)
	return is
}
