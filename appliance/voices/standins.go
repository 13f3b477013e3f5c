package voices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/voice"
	"parley/store"
)

// standIn returns the voice that stands in for a name or id that neither the account nor
// the library has: by the settings, or by the aliases of the box, or the voice most similar
// to the one of the cloud library. The error is a contract.ErrNotFound if there is none.
func (v Voices) standIn(ctx context.Context, account, asked string) (Voice, error) {
	target, err := v.aliasOf(ctx, asked)
	if err != nil {
		return Voice{}, err
	}
	if target != "" {
		found, err := v.named(ctx, account, contract.VoiceRef{Name: target})
		if _, missing := errors.AsType[contract.ErrNotFound](err); missing {
			hint := fmt.Sprintf("its stand-in %.80q does not exist either: %s", target, v.aliasHint(asked))
			err = contract.ErrNotFound{What: "voice", ID: asked, Hint: hint}
		}
		if err == nil {
			v.StandIns.logOnce(asked, found.Name)
		}
		return found, err
	}
	if old, is := oldVoiceOf(asked); is {
		if b, any := nearest(engines.Library(v.Config), old.like); any {
			v.StandIns.logOnce(asked, b.Name)
			return Voice{libraryRecord(b), voice.Single(b.ID)}, nil
		}
	}
	return Voice{}, contract.ErrNotFound{What: "voice", ID: asked, Hint: v.aliasHint(asked)}
}

// aliasOf returns the voice that the operator chose to stand in for a name, and "" if there
// is none. The alias of a voice of the cloud library may be under its name or its id.
func (v Voices) aliasOf(ctx context.Context, asked string) (string, error) {
	names := []string{asked}
	if old, is := oldVoiceOf(asked); is {
		names = append(names, old.name, old.id)
	}
	for _, name := range names {
		if target := settingsAlias(v.Config, name); target != "" {
			return target, nil
		}
	}
	for _, name := range names {
		if v.Records == nil {
			break
		}
		a, err := v.Records.VoiceAlias(ctx, name)
		if !errors.Is(err, store.ErrNotFound) {
			return a.Voice, err
		}
	}
	return "", nil
}

// settingsAlias returns the voice that stands in for a name by the settings.
func settingsAlias(cfg config.Config, asked string) string {
	folded := store.FoldedName(asked)
	for name, target := range cfg.VoiceAliases {
		if store.FoldedName(name) == folded {
			return target
		}
	}
	return ""
}

// aliasHint says how to make another voice stand in.
func (v Voices) aliasHint(asked string) string {
	example := cmp.Or(strings.TrimPrefix(v.Config.Engines.Voice, config.VoicePrefix), "joe")
	return fmt.Sprintf("to have another voice stand in for it, run: parley voices alias %.80q %s", asked, example)
}

// StandIns logs once for each name which voice stands in for it. A nil StandIns logs
// nothing.
type StandIns struct {
	Log *slog.Logger

	mu     sync.Mutex
	logged map[string]string // stand-ins, by requested name
}

// maxLogged bounds logged: more than there are names with a stand-in, unless aliases come
// and go.
const maxLogged = 2000

func (s *StandIns) logOnce(asked, name string) {
	if s == nil {
		return
	}
	folded := store.FoldedName(asked)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged[folded] == name {
		return
	}
	if s.logged == nil || len(s.logged) >= maxLogged {
		s.logged = map[string]string{}
	}
	s.logged[folded] = name
	s.Log.Info("a voice stands in for one that the box does not have", "asked", asked, "voice", name)
}
