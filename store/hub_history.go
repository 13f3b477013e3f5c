package store

import (
	"context"
	"encoding/json"
	"time"
)

// ListedHubFact is a fact in the list.
type ListedHubFact struct {
	Num  int64
	Box  string
	AtMS int64 // Unix milliseconds
	HubNote
}

// HubFacts returns a page of the listed facts, newest first, and the number of all of them. An empty box or kind
// restricts nothing.
func (s *Store) HubFacts(ctx context.Context, box, kind string, page Page) (found []ListedHubFact, total int,
	err error) {
	const doing = "listing what happened on the boxes"
	const which = ` FROM hub_fact f JOIN hub_box b ON b.num = f.box
		 WHERE (?1 = '' OR f.box = (SELECT num FROM hub_box WHERE name = ?1)) AND (?2 = '' OR f.kind = ?2)`
	if total, err = value[int](ctx, s.read, `SELECT count(*)`+which, box, kind); err != nil {
		return nil, 0, explain(doing, err)
	}
	skip, ok := page.skip()
	if !ok {
		return nil, total, nil
	}
	found, err = query(ctx, s.read, func(row scanner) (f ListedHubFact, err error) {
		var body string
		err = row.Scan(&f.Num, &f.Box, &f.AtMS, &f.Kind, &body)
		f.Body = json.RawMessage(body)
		return f, err
	}, `SELECT f.num, b.name, f.at_ms, f.kind, f.body`+which+` ORDER BY f.num DESC LIMIT ?3 OFFSET ?4`,
		box, kind, page.Size, skip)
	return found, total, explain(doing, err)
}

// HubHealth returns the states of a box in a period, oldest first. Without an end (0) it goes to now.
func (s *Store) HubHealth(ctx context.Context, box string, sinceMS, untilMS int64) ([]json.RawMessage, error) {
	states, err := query(ctx, s.read, func(row scanner) (body json.RawMessage, err error) {
		var text string
		err = row.Scan(&text)
		return json.RawMessage(text), err
	}, `
		SELECT body FROM hub_health WHERE box = (SELECT num FROM hub_box WHERE name = ?1) AND at_ms >= ?2
		   AND (?3 = 0 OR at_ms < ?3) ORDER BY at_ms`, box, sinceMS, untilMS)
	return states, explain("reading the health of box "+box, err)
}

const (
	// healthByMinutes is for how long every state of a box is kept, and healthByHours for how long one an hour is: a
	// box has 10,080 rows and then 2,160, about 8 MB.
	healthByMinutes = 7 * 24 * time.Hour
	healthByHours   = 90 * 24 * time.Hour
)

// thinAtOnce bounds the rows that one search for old states finds: an hour of 300 boxes has 17,700.
const thinAtOnce = 100_000

// ThinHubHealth deletes states of boxes that are too old: all but the first of each hour, and in the end all. It
// returns how many. The search reads all that is older than a week, and so does not hold the writer.
func (s *Store) ThinHubHealth(ctx context.Context, now time.Time) (deleted int64, err error) {
	type state struct{ box, atMS int64 }
	for {
		old, err := query(ctx, s.read, func(row scanner) (o state, err error) {
			return o, row.Scan(&o.box, &o.atMS)
		}, `
			SELECT h.box, h.at_ms FROM hub_health h
			 WHERE h.at_ms < ?1 OR h.at_ms < ?2 AND EXISTS (SELECT 1 FROM hub_health e
			   WHERE e.box = h.box AND e.at_ms >= h.at_ms - h.at_ms % ?3 AND e.at_ms < h.at_ms)
			 LIMIT ?4`,
			now.Add(-healthByHours).UnixMilli(), now.Add(-healthByMinutes).UnixMilli(), time.Hour.Milliseconds(),
			thinAtOnce)
		if err != nil || len(old) == 0 {
			return deleted, explain("looking for old health of boxes", err)
		}
		err = s.inBatches(ctx, func(ctx context.Context) (more bool, err error) {
			batch := old[:min(batchRows, len(old))]
			err = s.change(ctx, "thinning the health of boxes", func(ctx context.Context, c conn) error {
				for _, o := range batch {
					if err := execute(ctx, c, `DELETE FROM hub_health WHERE box = ? AND at_ms = ?`, o.box,
						o.atMS); err != nil {
						return err
					}
				}
				return nil
			})
			if err == nil {
				old, deleted = old[len(batch):], deleted+int64(len(batch))
			}
			return len(old) > 0, err
		})
		if err != nil {
			return deleted, err
		}
	}
}
