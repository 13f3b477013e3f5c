package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/fleet"
	"parley/store"
)

// Host is the box as far as the agent needs it to apply a want.
type Host interface {
	// Check returns why the box cannot run a want with its staged plugins; it names the thing, the
	// field and the reason.
	Check(ctx context.Context, w fleet.Want, plugins []store.WantedPlugin) error
	// Stage checks plugin files and puts them where plugins lie, without using them. Nothing
	// removes them until release is called.
	Stage(ctx context.Context, plugins []Staged) (rows []store.WantedPlugin, release func(), err error)
	// Pronunciation returns the row of a word.
	Pronunciation(word, spoken string) (store.Pronunciation, error)
	// Applied is called when a want is in the database.
	Applied(ctx context.Context, w fleet.Want)
}

// Staged is a wanted plugin and its file.
type Staged struct {
	fleet.Plugin
	File string
}

// retryWant is how often a want is tried again that the box could not apply, though nothing
// changed that the agent knows of: what is missing may be on a disk or a server.
const retryWant = 5 * time.Minute

// TryAgain applies a want again that the box could not apply, because something changed.
func (a *Agent) TryAgain() { a.wants.up() }

// applyWants fetches what the hub wants and applies it.
func (a *Agent) applyWants(ctx context.Context) {
	var w *fleet.Want // that is not applied
	pause := firstRetry
	for {
		next, err := a.fetchWant(ctx)
		var retry <-chan time.Time
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			a.Log.Warn("cannot fetch what the hub wants; trying again", "in", pause, "err", err)
			retry, pause = time.After(pause), min(2*pause, lastRetry)
		case next != nil:
			w, pause = next, firstRetry
		}
		if w != nil {
			if a.apply(ctx, *w) {
				w = nil
			} else if retry == nil {
				retry = time.After(retryWant)
			}
		}
		select {
		case <-a.wants:
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// fetchWant returns a want that the box has not seen; nil if there is none.
func (a *Agent) fetchWant(ctx context.Context) (*fleet.Want, error) {
	if !a.connected() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	w, changed, err := a.Hub.Want(ctx, a.wanted.Load())
	// An older revision comes from a hub that was restored. It makes a newer one when it
	// learns what this box has seen.
	if err != nil || !changed || w.Revision <= a.wanted.Load() {
		return nil, err
	}
	a.wanted.Store(w.Revision)
	a.setWhy("")
	return &w, nil
}

// fetchLimit is how long it may take to fetch a want or a plugin: 64 MiB in ten minutes are a
// megabit a second.
const fetchLimit = 10 * time.Minute

// apply applies a want whole or not at all, and reports whether it did.
func (a *Agent) apply(ctx context.Context, w fleet.Want) bool {
	err := a.tryApply(ctx, w)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		a.Log.Warn("cannot run what the hub wants; everything stays as it was", "revision", w.Revision, "err", err)
		a.setWhy(err.Error())
		return false
	}
	a.dropPlugins(w.Plugins)
	if a.Host != nil {
		a.Host.Applied(ctx, w)
	}
	a.Log.Info("runs what the hub wants", "revision", w.Revision)
	a.running.Store(w.Revision)
	a.setWhy("")
	return true
}

func (a *Agent) tryApply(ctx context.Context, w fleet.Want) error {
	plugins, err := a.fetchPlugins(ctx, w.Plugins)
	if err != nil {
		return err
	}
	if a.Host == nil && len(plugins) > 0 {
		return errors.New("this box runs no plugins")
	}
	rows := store.Want{Revision: w.Revision, Hub: w.Hub, Settings: w.Settings}
	if a.Host != nil {
		var release func()
		if rows.Plugins, release, err = a.Host.Stage(ctx, plugins); err != nil {
			return err
		}
		defer release()
		if err := a.Host.Check(ctx, w, rows.Plugins); err != nil {
			return err
		}
	}
	for _, one := range w.Accounts {
		account, err := a.accountOf(one)
		if err != nil {
			return err
		}
		rows.Accounts = append(rows.Accounts, account)
	}
	return a.Records.ApplyWant(ctx, rows)
}

// accountOf returns what the store needs of an account.
func (a *Agent) accountOf(w fleet.Account) (store.WantedAccount, error) {
	account := store.WantedAccount{Name: w.Name}
	for _, k := range w.Keys {
		account.Keys = append(account.Keys, store.WantedKey(k))
	}
	for _, kind := range []struct {
		kind store.Kind
		all  []fleet.Resource
	}{{store.KindPrompt, w.Prompts}, {store.KindTool, w.Tools}, {store.KindConfig, w.Configs}} {
		for _, r := range kind.all {
			if !json.Valid(r.Content) || len(r.Answers) > 0 && !json.Valid(r.Answers) {
				return account, fmt.Errorf("%s %q (%s): content: it is not JSON", kind.kind, r.Name, r.ID)
			}
			account.Resources = append(account.Resources, store.Version{
				Kind:        kind.kind,
				ID:          r.ID,
				Number:      r.Version,
				Name:        r.Name,
				Description: r.Description,
				Content:     string(r.Content),
				Answers:     string(r.Answers),
				CreatedMS:   r.CreatedMS,
				ModifiedMS:  r.ModifiedMS,
			})
		}
	}
	for _, v := range w.Voices {
		if !json.Valid(v.Recipe) {
			return account, fmt.Errorf("voice %q: recipe: it is not JSON", v.Name)
		}
		account.Voices = append(account.Voices, store.Voice{ID: v.ID, Name: v.Name, Recipe: string(v.Recipe)})
	}
	for word, spoken := range w.Lexicon {
		p, err := a.pronunciation(word, spoken)
		if err != nil {
			return account, fmt.Errorf("pronunciation of %q in the account %q: %w", word, w.Name, err)
		}
		account.Lexicon = append(account.Lexicon, p)
	}
	return account, nil
}

func (a *Agent) pronunciation(word, spoken string) (store.Pronunciation, error) {
	if a.Host == nil {
		return store.Pronunciation{Key: strings.ToLower(word), Word: word, Spoken: spoken}, nil
	}
	return a.Host.Pronunciation(word, spoken)
}

// setWhy sets why the box does not run what it should.
func (a *Agent) setWhy(why string) {
	a.why.Store(&why)
	a.state.up()
}
