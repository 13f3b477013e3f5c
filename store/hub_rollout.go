package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// HubRollout is a roll-out of an item to a target.
type HubRollout struct {
	ID        int64 // 0 in a new one
	Kind      string
	Account   string // its name; empty for plugins and settings
	Item      string // id or name
	Name      string // for people
	Version   int    // -1: it has none
	Content   string // for people
	Removes   bool
	Target    string
	Canary    []string // names of boxes
	Unready   []string // those of them that were not ready when it began
	SoakMS    int64
	State     string
	Why       string
	CreatedMS int64
	ChangedMS int64
	SoakFrom  int64  // since when all canaries run it; 0: one does not
	Body      []byte // its part of what boxes are to run; nil: it is too old, or it is not read
}

const rolloutColumns = ` r.id, r.kind, r.account, r.item, r.name, r.version, r.content, r.removes, r.target, r.canary,
	r.unready, r.soak_ms, r.state, r.why, r.created_ms, r.changed_ms, coalesce(r.soak_from, 0) `

func scanRollout(row scanner) (r HubRollout, err error) {
	var canary, unready string
	if err = row.Scan(&r.ID, &r.Kind, &r.Account, &r.Item, &r.Name, &r.Version, &r.Content, &r.Removes, &r.Target,
		&canary, &unready, &r.SoakMS, &r.State, &r.Why, &r.CreatedMS, &r.ChangedMS, &r.SoakFrom); err != nil {
		return r, err
	}
	return r, errors.Join(json.Unmarshal([]byte(canary), &r.Canary), json.Unmarshal([]byte(unready), &r.Unready))
}

// HubRollouts returns a page of the roll-outs, newest first, and the number of all of them. An empty box restricts
// nothing.
func (s *Store) HubRollouts(ctx context.Context, box string, page Page) (found []HubRollout, total int, err error) {
	const doing = "listing the roll-outs"
	const which = ` FROM hub_rollout r WHERE ?1 = '' OR r.target = 'all' OR r.target = 'box:' || ?1
		OR substr(r.target, 1, 6) = 'group:' AND EXISTS (SELECT 1 FROM hub_box b, json_each(b.member_of) g
		  WHERE b.name = ?1 AND b.removed_ms IS NULL AND g.value = substr(r.target, 7))`
	if total, err = value[int](ctx, s.read, `SELECT count(*)`+which, box); err != nil {
		return nil, 0, explain(doing, err)
	}
	skip, ok := page.skip()
	if !ok {
		return nil, total, nil
	}
	found, err = query(ctx, s.read, scanRollout, `SELECT`+rolloutColumns+which+` ORDER BY r.id DESC LIMIT ?2 OFFSET ?3`,
		box, page.Size, skip)
	return found, total, explain(doing, err)
}

// ActiveRollouts returns the roll-outs that count, oldest first, with their bodies: those that are neither stopped nor
// failed, and not replaced by a later one that is done.
func (s *Store) ActiveRollouts(ctx context.Context) ([]HubRollout, error) {
	all, err := query(ctx, s.read, func(row scanner) (r HubRollout, err error) {
		var body []byte
		r, err = scanRollout(extendedRow{row, []any{&body}})
		r.Body = body
		return r, err
	}, `
		SELECT`+rolloutColumns+`, r.body FROM hub_rollout r
		 WHERE r.state IN ('canary', 'rolling', 'done') AND r.body IS NOT NULL AND NOT EXISTS (
		   SELECT 1 FROM hub_rollout n WHERE n.kind = r.kind AND n.account = r.account AND n.item = r.item
		      AND n.target = r.target AND n.id > r.id AND n.state IN ('rolling', 'done'))
		 ORDER BY r.id`)
	return all, explain("reading the roll-outs that count", err)
}

// HubRollout returns a roll-out without its body, or ErrNotFound.
func (s *Store) HubRollout(ctx context.Context, id int64) (HubRollout, error) {
	r, err := first(ctx, s.read, scanRollout, `SELECT`+rolloutColumns+`FROM hub_rollout r WHERE r.id = ?`, id)
	return r, explain(fmt.Sprintf("finding roll-out %d", id), err)
}

// bodiesToKeep is how many bodies of one item and target are kept: a stop brings back the one before, and it may be
// stopped too.
const bodiesToKeep = 10

// AddHubRollout stores a new roll-out and returns its id.
func (s *Store) AddHubRollout(ctx context.Context, r HubRollout) (id int64, err error) {
	canary, err := jsonList(r.Canary)
	if err != nil {
		return 0, err
	}
	unready, err := jsonList(r.Unready)
	if err != nil {
		return 0, err
	}
	err = s.change(ctx, "storing a roll-out", func(ctx context.Context, c conn) error {
		id, err = value[int64](ctx, c, `
			INSERT INTO hub_rollout (kind, account, item, name, version, content, removes, target, canary, unready,
			                         soak_ms, state, why, created_ms, changed_ms, body)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, '', ?13, ?13, ?14) RETURNING id`,
			r.Kind, r.Account, r.Item, r.Name, r.Version, r.Content, r.Removes, r.Target, canary, unready, r.SoakMS,
			r.State, r.CreatedMS, r.Body)
		if err != nil {
			return err
		}
		if err := moveRollout(ctx, c, id, r.State, "", r.CreatedMS); err != nil {
			return err
		}
		return execute(ctx, c, `
			UPDATE hub_rollout SET body = NULL
			 WHERE body IS NOT NULL AND state IN ('done', 'stopped', 'failed') AND id IN (
			  SELECT id FROM hub_rollout WHERE kind = ? AND account = ? AND item = ? AND target = ?
			   ORDER BY id DESC LIMIT -1 OFFSET ?)`, r.Kind, r.Account, r.Item, r.Target, bodiesToKeep)
	})
	return id, err
}

// SetHubRollout stores the state of a roll-out, if its state is still one of from. The error is ErrConflict if it is
// not, ErrNotFound if there is no such roll-out.
func (s *Store) SetHubRollout(ctx context.Context, id int64, from []string, state, why string, atMS int64) error {
	return s.change(ctx, "changing a roll-out", func(ctx context.Context, c conn) error {
		was, err := value[string](ctx, c, `SELECT state FROM hub_rollout WHERE id = ?`, id)
		if err != nil {
			return err
		}
		for _, allowed := range from {
			if was == allowed {
				return moveRollout(ctx, c, id, state, why, atMS)
			}
		}
		return fmt.Errorf("it is %s: %w", was, ErrConflict)
	})
}

// moveRollout stores the state of a roll-out. One that goes to its whole target replaces those before it.
func moveRollout(ctx context.Context, c conn, id int64, state, why string, atMS int64) error {
	if err := execute(ctx, c, `UPDATE hub_rollout SET state = ?, why = ?, changed_ms = ? WHERE id = ?`,
		state, why, atMS, id); err != nil || state != "rolling" {
		return err
	}
	return execute(ctx, c, `
		UPDATE hub_rollout SET state = 'done', why = 'replaced by roll-out ' || n.id, changed_ms = ?2
		  FROM (SELECT * FROM hub_rollout WHERE id = ?1) AS n
		 WHERE hub_rollout.id < n.id AND hub_rollout.state = 'rolling' AND hub_rollout.kind = n.kind
		   AND hub_rollout.account = n.account AND hub_rollout.item = n.item AND hub_rollout.target = n.target`,
		id, atMS)
}

// SetHubSoak stores since when all canaries of a roll-out run it (0: one does not), and what it waits for.
func (s *Store) SetHubSoak(ctx context.Context, id, fromMS int64, why string) error {
	return s.change(ctx, "storing how a roll-out goes", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `UPDATE hub_rollout SET soak_from = ?, why = ? WHERE id = ? AND state = 'canary'`,
			sql.NullInt64{Int64: fromMS, Valid: fromMS != 0}, why, id)
	})
}

// HubRolloutRevisions returns, for each box that is to run a roll-out, from which revision on.
func (s *Store) HubRolloutRevisions(ctx context.Context, id int64) (map[string]int64, error) {
	type row struct {
		box      string
		revision int64
	}
	rows, err := query(ctx, s.read, func(r scanner) (one row, err error) {
		return one, r.Scan(&one.box, &one.revision)
	}, `
		SELECT b.name, r.revision FROM hub_rollout_box r JOIN hub_box b ON b.num = r.box WHERE r.rollout = ?`, id)
	all := make(map[string]int64, len(rows))
	for _, one := range rows {
		all[one.box] = one.revision
	}
	return all, explain("reading which boxes are to run a roll-out", err)
}

// KeyedAccounts returns the accounts that have a key which is not revoked, oldest first.
func (s *Store) KeyedAccounts(ctx context.Context) ([]Account, error) {
	all, err := query(ctx, s.read, scanAccount, `
		SELECT id, name FROM account WHERE num IN (SELECT account FROM key WHERE revoked_ms IS NULL) ORDER BY num`)
	return all, explain("listing the accounts with keys", err)
}

// ClientKeys returns the valid keys of clients that are bound to no screen, of all accounts, without those that live
// for a day at most: commands make some for themselves.
func (s *Store) ClientKeys(ctx context.Context, nowMS int64) ([]ClientKeyHash, error) {
	keys, err := query(ctx, s.read, func(row scanner) (k ClientKeyHash, err error) {
		return k, row.Scan(&k.Account, &k.ID, &k.Label, &k.Hint, &k.APIHash, &k.SecretHash, &k.ExpiresMS)
	}, `
		SELECT a.name, key.id, key.label, key.hint, key.api_hash, key.secret_hash, coalesce(key.expires_ms, 0)
		  FROM key JOIN account a ON a.num = key.account
		 WHERE key.role = 'client' AND key.kiosk IS NULL
		   AND coalesce(key.expires_ms - key.created_ms, 86400001) > 86400000 AND`+validKey+`ORDER BY key.num`, nowMS)
	return keys, explain("reading the keys of clients", err)
}

// ClientKeyHash is a key of a client as the database has it.
type ClientKeyHash struct {
	Account    string // its name
	ID         string
	Label      string
	Hint       string
	APIHash    []byte
	SecretHash []byte
	ExpiresMS  int64 // Unix milliseconds; 0: never
}
