package importer

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"parley/store"
)

// savedEvent is an event of a chat in the spool: its id, its time, and a sum of its content.
type savedEvent struct {
	id      string
	at, sum int64
}

// savedEvents returns the events of a chat as they happened.
func (w *work) savedEvents(ctx context.Context, chatID string) ([]savedEvent, error) {
	return rows(ctx, w.spool, func(v *savedEvent) []any { return []any{&v.id, &v.at, &v.sum} }, `
		SELECT e.id, e.at, e.sum FROM event e JOIN run r ON r.chat = e.chat AND r.run = e.run
		 WHERE e.chat = ? ORDER BY r.begin, r.end, r.run * r.direction, e.pos * r.direction, e.id`, chatID)
}

// events returns events of a chat whole.
func (w *work) events(ctx context.Context, chatID string, saved []savedEvent) ([]store.Event, error) {
	var events []store.Event
	for _, v := range saved {
		found, err := rows(ctx, w.spool, eventColumns, `
			SELECT id, at, type, role, text, emotions, metadata, related FROM event WHERE chat = ? AND id = ?`,
			chatID, v.id)
		if err != nil {
			return nil, err
		}
		events = append(events, found...)
	}
	return events, nil
}

func eventColumns(e *store.Event) []any {
	return []any{&e.ID, &e.AtMS, &e.Type, &e.Role, &e.MessageText, &e.EmotionFeatures, &e.Metadata, &e.RelatedEventID}
}

// sumOf returns a sum of an event as the box stores it.
func sumOf(e store.Event) int64 {
	e = e.Stored()
	sum := fnv.New64a()
	for _, text := range []string{e.ID, fmt.Sprint(e.AtMS), string(e.Type), string(e.Role), e.MessageText,
		e.EmotionFeatures, e.Metadata, e.RelatedEventID} {
		_, _ = io.WriteString(sum, text+"\x00") // a hash takes everything
	}
	return int64(sum.Sum64())
}

// storedEvents returns the events of a chat of the box.
func (w *work) storedEvents(ctx context.Context, chatID string) (all []savedEvent, err error) {
	after := int64(0)
	for {
		events, err := w.Store.ImportedEvents(ctx, chatID, after, eventsAtOnce)
		for _, e := range events {
			all = append(all, savedEvent{e.ID, e.AtMS, sumOf(e)})
			after = e.Seq
		}
		if err != nil || len(events) < eventsAtOnce {
			return all, err
		}
	}
}

// complete compares a chat with that of the box, and adds the events that it does not have:
// an import was interrupted, or more was saved than the first time.
func (w *work) complete(ctx context.Context, c chat, saved []savedEvent) error {
	stored, err := w.storedEvents(ctx, c.id)
	if err != nil {
		return err
	}
	has, want := map[string]int64{}, map[string]int64{}
	for _, e := range stored {
		has[e.id] = e.sum
	}
	missing, different := 0, 0
	for _, e := range saved {
		want[e.id] = e.sum
		if sum, there := has[e.id]; !there {
			missing++
		} else if sum != e.sum {
			different++
		}
	}
	line := Line{Kind: kindChat, ID: c.id, File: w.files[c.file]}
	extra := slices.ContainsFunc(stored, func(e savedEvent) bool { _, saved := want[e.id]; return !saved })
	switch {
	case different > 0 || missing > 0 && extra:
		line.Why = fmt.Sprintf("%d of its events are other ones on the box, and %d are missing there",
			different, missing)
		w.report.differs(line)
		w.report.count(kindEvent).Here += len(saved) - missing - different
		w.report.count(kindEvent).Differs += missing + different
		return nil
	case missing == 0:
		w.report.count(kindChat).Here++
		w.report.count(kindEvent).Here += len(saved)
		return nil
	}
	line.Why = fmt.Sprintf("the box has %d of its events; %d are added", len(stored), missing)
	w.report.mended(line)
	w.report.count(kindChat).Here++
	w.report.count(kindEvent).Here += len(stored)
	w.report.count(kindEvent).New += missing
	if !w.apply {
		return nil
	}
	if !slices.Equal(saved[:len(stored)], stored) { // some are missing in the middle
		if err := w.Store.ClearEvents(ctx, c.id); err != nil {
			return err
		}
		stored = nil
	}
	return w.addEvents(ctx, c.id, saved[len(stored):])
}
