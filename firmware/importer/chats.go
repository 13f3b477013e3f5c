package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/appliance/contract"
	"parley/internal/progress"
	"parley/store"
)

// eventsAtOnce is how many events one transaction writes: some 20 ms, for which a running
// box waits with its own writes.
const eventsAtOnce = 500

// chat is a chat in the spool.
type chat struct {
	id, group, status string
	start, end        int64
	config            string
	configVersion     int
	metadata          string
	count             int // of events, as the service counted them
	file              int
}

func (c *chat) columns() []any {
	return []any{&c.id, &c.group, &c.status, &c.start, &c.end, &c.config, &c.configVersion, &c.metadata, &c.count,
		&c.file}
}

// chats imports all chats, the oldest first.
func (w *work) chats(ctx context.Context) error {
	total, err := w.spool.number(ctx, `SELECT count(*) FROM chat`)
	if err != nil {
		return err
	}
	tell, done := w.Progress.Serial(), int64(0)
	e := progress.Event{Name: "chats", Step: progress.Writing}
	for i, f := range w.source.files {
		if _, sound := slices.BinarySearch(w.sounds, i); !sound {
			e.Total += f.size
		}
	}
	const some = 1000
	for last := (chat{}); ; {
		all, err := rows(ctx, w.spool, (*chat).columns, `
			SELECT id, grp, status, start, ended, config, config_version, metadata, event_count, file FROM chat
			 WHERE (start, id) > (?, ?) ORDER BY start, id LIMIT ?`, last.start, last.id, some)
		if err != nil {
			return err
		}
		for _, c := range all {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := w.chat(ctx, c); err != nil {
				return err
			}
			done++
			if e.Done = int64(float64(e.Total) * float64(done) / float64(total)); w.apply {
				tell(e)
			}
			last = c
		}
		if len(all) < some {
			break
		}
	}
	if e.Step = progress.Done; w.apply && total > 0 {
		tell(e)
	}
	return nil
}

// chat imports one chat with its events.
func (w *work) chat(ctx context.Context, c chat) error {
	line := Line{Kind: kindChat, ID: c.id, File: w.files[c.file]}
	saved, err := w.savedEvents(ctx, c.id)
	if err != nil {
		return err
	}
	owns, err := w.ownsGroup(ctx, c.group)
	if err != nil {
		return err
	}
	has, err := w.Store.ImportedChat(ctx, c.id)
	switch {
	case errors.Is(err, store.ErrNotFound) && !owns:
		line.Why = "another account has its group"
		w.report.leftOut(line)
		return nil
	case errors.Is(err, store.ErrNotFound):
		return w.newChat(ctx, c, saved)
	case err != nil:
		return err
	case has.AccountID != w.Account.ID:
		line.Why = "another account has a chat with this id"
		w.report.leftOut(line)
		return nil
	case has.EndedMS == 0:
		line.Why = "on the box it is live"
		w.report.differs(line)
		return nil
	case has.StartedMS != c.start || has.GroupID != c.group:
		line.Why = "the box has a chat with this id that began at another time, or is in another group"
		w.report.differs(line)
		return nil
	}
	return w.complete(ctx, c, saved)
}

// newChat imports a chat that the box does not have.
func (w *work) newChat(ctx context.Context, c chat, saved []savedEvent) error {
	line := Line{Kind: kindChat, ID: c.id, File: w.files[c.file]}
	n := store.Chat{
		ID:        c.id,
		GroupID:   c.group,
		AccountID: w.Account.ID,
		Config:    store.ConfigRef{ID: c.config, Version: c.configVersion},
		StartedMS: c.start,
		RequestID: "imported",
		Metadata:  c.metadata,
	}
	var changed string
	n.Status, changed = endedStatus(c)
	n.EndedMS = max(c.end, c.start)
	if c.end == 0 && len(saved) > 0 {
		n.EndedMS = max(c.start, saved[len(saved)-1].at)
	}
	for _, why := range []string{changed, missingEvents(c, len(saved))} {
		if why != "" {
			line.Why = why
			w.report.mended(line)
		}
	}
	if err := w.addChat(ctx, n, saved); err != nil {
		return err
	}
	w.report.count(kindChat).New++
	w.report.count(kindEvent).New += len(saved)
	if days := w.Settings.KeepDays; days > 0 && n.EndedMS < time.Now().AddDate(0, 0, -days).UnixMilli() {
		w.expiring++
	}
	return nil
}

// endedStatus returns the status of a chat on the box, and what that changes. No chat goes
// on there.
func endedStatus(c chat) (status store.Status, changed string) {
	known := []string{string(store.UserEnded), string(store.UserTimeout), string(store.MaxDurationTimeout),
		string(store.InactivityTimeout), string(store.Failed)}
	switch {
	case slices.Contains(known, c.status):
		return store.Status(c.status), ""
	case c.status == "SILENCE_TIMEOUT":
		return store.InactivityTimeout, "its status SILENCE_TIMEOUT becomes INACTIVITY_TIMEOUT"
	case c.status == string(store.Active):
		return store.UserEnded, "it was saved while it was live: it is stored as ended by the user"
	}
	return store.UserEnded, fmt.Sprintf("its status %q is unknown, and becomes USER_ENDED", contract.Clip(c.status))
}

// missingEvents says that not all events of a chat were saved.
func missingEvents(c chat, saved int) string {
	switch {
	case saved == 0 && c.count == 0:
		return "none of its events was saved"
	case saved < c.count:
		return fmt.Sprintf("%d of its %d events were saved", saved, c.count)
	}
	return ""
}

// addChat stores a chat and its events. If it is interrupted, complete adds the rest.
func (w *work) addChat(ctx context.Context, n store.Chat, saved []savedEvent) error {
	if !w.apply {
		return nil
	}
	first := min(len(saved), eventsAtOnce)
	events, err := w.events(ctx, n.ID, saved[:first])
	if err != nil {
		return err
	}
	if err := w.Store.ImportChat(ctx, n, events); err != nil {
		return err
	}
	w.written()
	return w.addEvents(ctx, n.ID, saved[first:])
}

func (w *work) written() {
	if w.wrote != nil {
		w.wrote()
	}
}

// addEvents appends events to a chat.
func (w *work) addEvents(ctx context.Context, chatID string, saved []savedEvent) error {
	for part := range slices.Chunk(saved, eventsAtOnce) {
		events, err := w.events(ctx, chatID, part)
		if err != nil {
			return err
		}
		if err := w.Store.AppendEvents(ctx, chatID, events); err != nil {
			return err
		}
		w.written()
	}
	return nil
}

// ownsGroup reports whether the account may have chats in a group, and counts the group the
// first time.
func (w *work) ownsGroup(ctx context.Context, id string) (bool, error) {
	if owns, seen := w.seen[id]; seen {
		return owns, nil
	}
	owner, err := w.Store.ImportedGroup(ctx, id)
	count := w.report.count(kindGroup)
	switch {
	case errors.Is(err, store.ErrNotFound):
		count.New++
	case err != nil:
		return false, err
	case owner == w.Account.ID:
		count.Here++
	default:
		w.report.leftOut(Line{Kind: kindGroup, ID: id, Why: "another account has a group with this id"})
		w.seen[id] = false
		return false, nil
	}
	w.seen[id] = true
	return true, nil
}

// groups reports the groups of which not all chats were saved.
func (w *work) groups(ctx context.Context) error {
	type group struct {
		id                 string
		chats, file, saved int
	}
	all, err := rows(ctx, w.spool, func(g *group) []any { return []any{&g.id, &g.chats, &g.file, &g.saved} }, `
		SELECT id, chats, file, (SELECT count(*) FROM chat WHERE grp = grp.id) AS saved FROM grp
		 WHERE saved = 0 OR saved < chats ORDER BY id`)
	if err != nil {
		return err
	}
	for _, g := range all {
		line := Line{Kind: kindGroup, ID: g.id, File: w.files[g.file]}
		if g.saved == 0 {
			line.Why = "none of its chats was saved"
			w.report.leftOut(line)
			continue
		}
		line.Why = fmt.Sprintf("%d of its %d chats were saved", g.saved, g.chats)
		w.report.mended(line)
	}
	return nil
}
