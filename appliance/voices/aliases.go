package voices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engines"
	"parley/appliance/voice"
	"parley/store"
)

// ListAliases returns the names that other voices stand in for: those of the box, those
// of the settings, and then those of the cloud library that neither of them nor a voice
// of this library has taken.
func (v Voices) ListAliases(ctx context.Context) ([]contract.ReturnVoiceAlias, error) {
	all, err := v.operatorAliases(ctx)
	if err != nil {
		return nil, err
	}
	library := engines.Library(v.Config)
	for i := range all {
		a := &all[i]
		if b, found := voice.Find(library, a.Voice); found {
			a.Voice, a.VoiceID = b.Name, b.ID
			continue
		}
		_, err := v.savedNamed(ctx, a.Voice)
		if a.Missing = errors.Is(err, store.ErrNotFound); err != nil && !a.Missing {
			return nil, err
		}
	}
	return append(all, builtIn(library, all)...), nil
}

// operatorAliases are those of the operator: of the box, where the settings do not say
// otherwise by now, and of the settings.
func (v Voices) operatorAliases(ctx context.Context) (all []contract.ReturnVoiceAlias, err error) {
	if v.Records != nil {
		own, err := v.Records.VoiceAliases(ctx)
		if err != nil {
			return nil, err
		}
		for _, a := range own {
			if settingsAlias(v.Config, a.Name) == "" {
				all = append(all, contract.ReturnVoiceAlias{Name: a.Name, Voice: a.Voice, From: contract.AliasOfBox})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Config.VoiceAliases)) {
		stands := v.Config.VoiceAliases[name]
		all = append(all, contract.ReturnVoiceAlias{Name: name, Voice: stands, From: contract.AliasOfSettings})
	}
	return all, nil
}

// builtIn are the names of the cloud library that a library answers and that are not
// among those taken.
func builtIn(library []voice.Base, taken []contract.ReturnVoiceAlias) (all []contract.ReturnVoiceAlias) {
	for _, old := range oldNames() {
		b, any := nearest(library, old.like)
		_, ours := voice.Find(library, old.name)
		if !any || ours || slices.ContainsFunc(taken, func(a contract.ReturnVoiceAlias) bool {
			return old.is(store.FoldedName(a.Name))
		}) {
			continue
		}
		all = append(all, contract.ReturnVoiceAlias{
			Name:    old.name,
			ID:      old.id,
			Voice:   b.Name,
			VoiceID: b.ID,
			From:    contract.AliasBuiltIn,
		})
	}
	return all
}

// savedNamed returns a voice that any account has saved.
func (v Voices) savedNamed(ctx context.Context, name string) (store.Voice, error) {
	if v.Records == nil {
		return store.Voice{}, store.ErrNotFound
	}
	return v.Records.SavedVoiceNamed(ctx, name)
}

// SetAlias has a voice stand in for a name or id, for all accounts. A
// contract.ErrInvalid where there is no such voice or the name is that of one; an
// ErrConflict where the settings say what stands in for it, or there are too many.
func (v Voices) SetAlias(ctx context.Context, name, target string) (a contract.ReturnVoiceAlias, err error) {
	library := engines.Library(v.Config)
	if err := contract.CheckAliasedName(name); err != nil {
		return a, err
	}
	name = strings.TrimSpace(name)
	if b, ours := voice.Find(library, name); ours {
		why := fmt.Sprintf("%.80q is the voice %s of this box, which speaks for itself", name, b.ID)
		return a, contract.ErrInvalid{Field: "name", Why: why}
	}
	if settingsAlias(v.Config, name) != "" {
		why := fmt.Sprintf("voices.aliases in the settings says what stands in for %.80q: change it there", name)
		return a, contract.ErrConflict{Why: why}
	}
	a = contract.ReturnVoiceAlias{Name: name, From: contract.AliasOfBox}
	if a.Voice, a.VoiceID, err = v.target(ctx, library, target); err != nil {
		return a, err
	}
	err = v.Records.SetVoiceAlias(ctx, store.VoiceAlias{Name: name, Voice: cmp.Or(a.VoiceID, a.Voice)})
	if errors.Is(err, store.ErrConflict) {
		why := fmt.Sprintf("there are %d aliases, which is the most: remove some first", store.MaxVoiceAliases)
		err = contract.ErrConflict{Why: why}
	}
	return a, err
}

// target is the name of a voice that is to stand in, and its id where it is of the
// library.
func (v Voices) target(ctx context.Context, library []voice.Base, asked string) (name, id string, err error) {
	if b, found := voice.Find(library, strings.TrimSpace(asked)); found {
		return b.Name, b.ID, nil
	}
	saved, err := v.savedNamed(ctx, asked)
	if errors.Is(err, store.ErrNotFound) {
		why := fmt.Sprintf("there is no voice %.80q: choose of %s, or of those that accounts have saved",
			asked, engines.VoiceNames(library))
		err = contract.ErrInvalid{Field: "voice", Why: why}
	}
	return saved.Name, "", err
}

// DeleteAlias forgets the alias of a name. A contract.ErrNotFound where the box has
// none.
func (v Voices) DeleteAlias(ctx context.Context, name string) error {
	err := v.Records.DeleteVoiceAlias(ctx, name)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	missing := contract.ErrNotFound{What: "alias", ID: name}
	if settingsAlias(v.Config, name) != "" {
		missing.Hint = "it stands in the settings, under voices.aliases: remove it there"
	} else if _, is := oldVoiceOf(name); is {
		missing.Hint = "it is built in, and stays: parley voices alias gives it another voice"
	}
	return missing
}

// WarnOfAliases tells of those in the settings whose voice is not there. The box serves
// all the same: who asks for one is told so.
func (v Voices) WarnOfAliases(ctx context.Context, log *slog.Logger) {
	all, err := v.ListAliases(ctx)
	if err != nil {
		log.Warn("the aliases of voices cannot be looked at", "err", err)
	}
	for _, a := range all {
		if a.Missing && a.From == contract.AliasOfSettings {
			log.Warn("voices.aliases names a voice that is not here", "alias", a.Name, "voice", a.Voice,
				"mend", "parley voices list shows those that there are")
		}
	}
}
