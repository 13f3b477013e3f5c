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

// ListAliases returns the names that other voices stand in for: first those set on the box,
// then those of the settings, and last the names of the cloud library that neither of these
// nor a voice of this library uses.
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

// operatorAliases returns the aliases set on the box, except those that the settings
// override, and the aliases of the settings.
func (v Voices) operatorAliases(ctx context.Context) (all []contract.ReturnVoiceAlias, err error) {
	if v.Records != nil {
		onBox, err := v.Records.VoiceAliases(ctx)
		if err != nil {
			return nil, err
		}
		for _, a := range onBox {
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

// builtIn returns the names of the cloud library that have a stand-in in this library and
// are not taken.
func builtIn(library []voice.Base, taken []contract.ReturnVoiceAlias) (all []contract.ReturnVoiceAlias) {
	for _, old := range oldNames() {
		b, any := nearest(library, old.like)
		_, found := voice.Find(library, old.name)
		if !any || found || slices.ContainsFunc(taken, func(a contract.ReturnVoiceAlias) bool {
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

// savedNamed returns a voice of that name which any account has saved.
func (v Voices) savedNamed(ctx context.Context, name string) (store.Voice, error) {
	if v.Records == nil {
		return store.Voice{}, store.ErrNotFound
	}
	return v.Records.SavedVoiceNamed(ctx, name)
}

// SetAlias makes a voice stand in for a name or id, for all accounts. The error is a
// contract.ErrInvalid if there is no such voice or a voice has the name, and an ErrConflict
// if the settings have an alias for the name or there are too many aliases.
func (v Voices) SetAlias(ctx context.Context, name, target string) (a contract.ReturnVoiceAlias, err error) {
	library := engines.Library(v.Config)
	if err := contract.CheckAliasedName(name); err != nil {
		return a, err
	}
	name = strings.TrimSpace(name)
	if b, found := voice.Find(library, name); found {
		why := fmt.Sprintf("%.80q is the voice %s of this box, and needs no stand-in", name, b.ID)
		return a, contract.ErrInvalid{Field: "name", Why: why}
	}
	if settingsAlias(v.Config, name) != "" {
		why := fmt.Sprintf("voices.aliases in the settings has a stand-in for %.80q: change it there", name)
		return a, contract.ErrConflict{Why: why}
	}
	a = contract.ReturnVoiceAlias{Name: name, From: contract.AliasOfBox}
	if a.Voice, a.VoiceID, err = v.target(ctx, library, target); err != nil {
		return a, err
	}
	err = v.Records.SetVoiceAlias(ctx, store.VoiceAlias{Name: name, Voice: cmp.Or(a.VoiceID, a.Voice)})
	if errors.Is(err, store.ErrConflict) {
		why := fmt.Sprintf("there are %d aliases, the most that are allowed: remove some first", store.MaxVoiceAliases)
		err = contract.ErrConflict{Why: why}
	}
	return a, err
}

// target returns the name of the voice that is to stand in, and its id if it is a voice of
// the library.
func (v Voices) target(ctx context.Context, library []voice.Base, asked string) (name, id string, err error) {
	if b, found := voice.Find(library, strings.TrimSpace(asked)); found {
		return b.Name, b.ID, nil
	}
	saved, err := v.savedNamed(ctx, asked)
	if errors.Is(err, store.ErrNotFound) {
		why := fmt.Sprintf("there is no voice %.80q: choose one of %s, or one that an account has saved",
			asked, engines.VoiceNames(library))
		err = contract.ErrInvalid{Field: "voice", Why: why}
	}
	return saved.Name, "", err
}

// DeleteAlias deletes the alias of a name. The error is a contract.ErrNotFound if the box
// has none.
func (v Voices) DeleteAlias(ctx context.Context, name string) error {
	err := v.Records.DeleteVoiceAlias(ctx, name)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	missing := contract.ErrNotFound{What: "alias", ID: name}
	if settingsAlias(v.Config, name) != "" {
		missing.Hint = "it is in the settings, under voices.aliases: remove it there"
	} else if _, is := oldVoiceOf(name); is {
		missing.Hint = "it is built in and cannot be removed: parley voices alias gives it another voice"
	}
	return missing
}

// WarnOfAliases logs the aliases of the settings whose voice is missing. The box starts all
// the same, and a request for such a name gets an error.
func (v Voices) WarnOfAliases(ctx context.Context, log *slog.Logger) {
	all, err := v.ListAliases(ctx)
	if err != nil {
		log.Warn("cannot check the aliases of voices", "err", err)
	}
	for _, a := range all {
		if a.Missing && a.From == contract.AliasOfSettings {
			log.Warn("voices.aliases names a voice that does not exist", "alias", a.Name, "voice", a.Voice,
				"mend", "parley voices list shows all voices")
		}
	}
}
