package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// auditTimeout bounds the write of an act that is not part of a change: as long as a
// client waits for a busy disk.
const auditTimeout = 5 * time.Second

// audited admits a request to a route with an administrative act, answers it, and
// records the act. A change in the database and its act are one transaction: on a full
// disk the change fails, and the client is told so. Other acts, such as hanging up a
// call, are recorded when they are done; if that fails they stay done, and the log of
// the program has them.
func (a *API) audited(rt route, w http.ResponseWriter, r *http.Request) error {
	by, err := a.admit(rt, r)
	if err != nil {
		return a.recordRefusal(rt, r, by, err)
	}
	if rt.act.what == boxRead {
		return a.answer(rt, w, r, by)
	}
	draft := a.newAct(rt, r, by)
	a.nameObject(r.Context(), by, &draft)
	// An unknown client that succeeds signs in or pairs a screen, which always has a row.
	if draft.Who.Kind != store.ByUnknown && !a.acts.allow(draft) {
		if err := a.answer(rt, w, r, by); err != nil {
			return a.recordRefusal(rt, r, by, err)
		}
		a.acts.count(draft)
		return nil
	}
	ctx, pending := store.WithAct(r.Context(), draft)
	err = a.answer(rt, w, r.WithContext(ctx), by)
	done, recorded := pending.Act()
	switch {
	case recorded: // even if it failed later
		return err
	case err != nil:
		return a.recordRefusal(rt, r, by, err)
	}
	a.recordAct(done)
	return nil
}

// newAct returns the act of a request as far as it is known before it is done.
func (a *API) newAct(rt route, r *http.Request, by caller) store.Act {
	one := store.Act{
		Who:  actorOf(by),
		From: hostOf(r),
		What: rt.act.what,
		On:   store.Object{Kind: rt.act.kind, ID: r.PathValue("id")},
		Text: rt.act.text,
	}
	for _, name := range []string{"name", "word"} {
		if text := r.PathValue(name); text != "" {
			one.On.Name = text
		}
	}
	if rt.act.what == boxRead {
		one.On = store.Object{Kind: rt.act.kind, Name: rt.path}
	}
	if version := r.PathValue("version"); version != "" {
		one.Text += ": version " + version
	}
	return one
}

// actorOf returns the owner of a key or session.
func actorOf(by caller) store.Actor {
	switch {
	case by.Session != "":
		return store.Actor{Kind: store.BySession, ID: by.Session, Role: string(by.Role)}
	case by.Kiosk != nil:
		return store.Actor{Kind: store.ByScreen, ID: by.KeyID, Name: by.Label, Role: "screen"}
	case by.KeyID != "":
		return store.Actor{Kind: store.ByKey, ID: by.KeyID, Name: by.Label, Role: string(by.Role)}
	}
	return store.Actor{Kind: store.ByUnknown}
}

// nameObject sets the name of an object that has an id, so that the log also has the
// names of deleted objects. An object without a name, or one that does not exist, has
// none.
func (a *API) nameObject(ctx context.Context, by caller, one *store.Act) {
	if one.On.ID == "" {
		return
	}
	switch kind := one.On.Kind; kind {
	case "config", "prompt", "tool":
		one.On.Name, _ = a.Records.ResourceName(ctx, by.AccountID, store.Kind(kind), one.On.ID)
	case "key", "screen":
		one.On.Name, _ = a.Records.KeyLabel(ctx, one.On.ID)
	}
}

// nameActObject sets the name of the object of a request's act.
func nameActObject(r *http.Request, name string) {
	store.AmendAct(r.Context(), func(one *store.Act) { one.On.Name = name })
}

// recordRefusal records that a request was refused or failed, and returns its error.
// Requests that name something wrong or missing changed nothing and needed no
// permission, so they are not recorded.
func (a *API) recordRefusal(rt route, r *http.Request, by caller, err error) error {
	if rt.act.what == boxRead && credentialOf(r).text == "" {
		return err // the console before the sign-in
	}
	one := a.newAct(rt, r, by)
	switch one.Outcome, one.Why = outcomeOf(err); {
	case one.Outcome == store.ActRefused:
		one.Text = "sent a request that the box refused"
	case one.Outcome == store.ActFailed && r.Context().Err() == nil:
		one.Text = "sent a request that failed"
	default:
		return err
	}
	if a.acts.allow(one) {
		a.recordAct(one)
	} else {
		a.acts.count(one)
	}
	return err
}

// outcomeOf returns how a request with an error ended, and why; empty for an error that
// is not recorded. The texts of other errors than refusals may hold anything, and are
// in the log of the program.
func outcomeOf(err error) (store.Outcome, string) {
	_, public := kindOf(err)
	switch e := public.(type) {
	case nil, contract.ErrTimedOut:
		return store.ActFailed, "the log of the program has more"
	case contract.ErrUnauthorized, contract.ErrForbidden, contract.ErrConflict:
		return store.ActRefused, public.Error()
	case contract.ErrTooMany:
		if e.What == wrongTooOften {
			return store.ActRefused, public.Error()
		}
	}
	return "", ""
}

// recordAct records an act by itself. If that fails, the log of the program has the act.
func (a *API) recordAct(one store.Act) {
	ctx, cancel := context.WithTimeout(context.Background(), auditTimeout)
	defer cancel()
	if err := a.Records.RecordAct(ctx, one); err != nil {
		a.Log.LogAttrs(ctx, slog.LevelError, "an administrative act is not in the audit log, but only here",
			slog.String("what", one.What), slog.String("who", string(one.Who.Kind)+" "+one.Who.ID),
			slog.String("from", one.From), slog.String("kind", one.On.Kind), slog.String("id", one.On.ID),
			slog.String("name", one.On.Name), slog.String("outcome", string(one.Outcome)), slog.Int("times", one.Times),
			slog.Any("err", err))
	}
}
