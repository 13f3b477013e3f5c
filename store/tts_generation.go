package store

import (
	"context"
	"time"
)

// Generation is a result of text-to-speech: not the sound, but all that is needed to make
// it again.
type Generation struct {
	ID        string // a UUID
	CreatedMS int64  // Unix milliseconds; ignored by AddGenerations
	Body      string // JSON
}

// AddGenerations stores generations of an account, and deletes all but the account's
// newest. The error is ErrNotFound if there is no such account.
func (s *Store) AddGenerations(ctx context.Context, accountID string, newest int, made ...Generation) error {
	return s.change(ctx, "keeping what it takes to speak again", func(ctx context.Context, c conn) error {
		account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, accountID)
		if err != nil {
			return err
		}
		for _, g := range made {
			if _, err := c.ExecContext(ctx,
				`INSERT INTO generation (id, account, created_ms, body) VALUES (?, ?, ?, ?)`,
				g.ID, account, time.Now().UnixMilli(), g.Body); err != nil {
				return err
			}
		}
		return execute(ctx, c, `
			DELETE FROM generation WHERE account = ?1
			   AND num <= (SELECT num FROM generation WHERE account = ?1 ORDER BY num DESC LIMIT 1 OFFSET ?2)`, account,
			newest)
	})
}

// ChangeGeneration replaces the body of a generation, if it still exists.
func (s *Store) ChangeGeneration(ctx context.Context, accountID string, g Generation) error {
	return s.change(ctx, "keeping what it takes to speak again", func(ctx context.Context, c conn) error {
		return execute(ctx, c,
			`UPDATE generation SET body = ? WHERE id = ? AND account = (SELECT num FROM account WHERE id = ?)`, g.Body,
			g.ID, accountID)
	})
}

// Generation returns a generation of an account, or ErrNotFound.
func (s *Store) Generation(ctx context.Context, accountID, id string) (Generation, error) {
	g, err := first(ctx, s.read, func(row scanner) (g Generation, err error) {
		return g, row.Scan(&g.ID, &g.CreatedMS, &g.Body)
	}, `
		SELECT g.id, g.created_ms, g.body FROM generation g JOIN account a ON a.num = g.account WHERE g.id = ? AND
		  a.id = ?`, id, accountID)
	return g, explain("finding what was spoken", err)
}

// generationsAtOnce is how many generations one transaction deletes.
const generationsAtOnce = 1000

// ExpireGenerations deletes the generations made before a time (Unix milliseconds).
func (s *Store) ExpireGenerations(ctx context.Context, beforeMS int64) error {
	return s.inBatches(ctx, func(ctx context.Context) (more bool, err error) {
		err = s.change(ctx, "forgetting what was spoken long ago", func(ctx context.Context, c conn) error {
			result, err := c.ExecContext(ctx, `
				DELETE FROM generation WHERE num IN (SELECT num FROM generation WHERE created_ms < ? ORDER BY
				  created_ms LIMIT ?)`, beforeMS, generationsAtOnce)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			more = n == generationsAtOnce
			return err
		})
		return more, err
	})
}
