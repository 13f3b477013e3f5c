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

// standIn returns the voice that stands in for one that neither the account nor the
// library has, by its name or id: as the settings say, else as the box's aliases do,
// else the one most like that voice of the cloud library. A contract.ErrNotFound
// where none does.
func (v Voices) standIn(ctx context.Context, account, asked string) (Voice, error) {
	target, err := v.aliasOf(ctx, asked)
	if err != nil {
		return Voice{}, err
	}
	if target != "" {
		found, err := v.named(ctx, account, contract.VoiceRef{Name: target})
		if _, gone := errors.AsType[contract.ErrNotFound](err); gone {
			there := fmt.Sprintf("%.80q, which stands in for it, is not there either: %s", target, v.aliasHint(asked))
			err = contract.ErrNotFound{What: "voice", ID: asked, Hint: there}
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

// aliasOf is the voice that the operator has stand in for a name; empty where none is.
// For a voice of the cloud library it may be under its name or its id.
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

// settingsAlias is the voice that stands in for a name by the settings.
func settingsAlias(cfg config.Config, asked string) string {
	folded := store.FoldedName(asked)
	for name, target := range cfg.VoiceAliases {
		if store.FoldedName(name) == folded {
			return target
		}
	}
	return ""
}

// aliasHint says how a voice is made to stand in for another.
func (v Voices) aliasHint(asked string) string {
	example := cmp.Or(strings.TrimPrefix(v.Config.Engines.Voice, config.VoicePrefix), "joe")
	return fmt.Sprintf("to have another voice stand in for it, run: parley voices alias %.80q %s", asked, example)
}

// StandIns tells the operator which voices stand in for others, once for each. nil
// tells nobody.
type StandIns struct {
	Log *slog.Logger

	mu     sync.Mutex
	logged map[string]string // names of voices, by the one that was asked for
}

// maxLogged bounds what is remembered: more than there are names with a stand-in, unless
// aliases come and go.
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
	s.Log.Info("a voice stands in for one that this box does not have", "asked", asked, "voice", name)
}
