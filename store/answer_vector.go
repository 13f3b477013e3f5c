package store

import (
	"context"
	"database/sql"
	"encoding/json"
)

// vectorsAtOnce bounds the rows that one transaction changes, so that the events of chats wait for a few milliseconds.
const vectorsAtOnce = 500

// AnswerVectors calls yield with those of keys that have a stored vector, in no order. The vector is valid during the
// call.
func (s *Store) AnswerVectors(ctx context.Context, keys []int64, yield func(key int64, vector []byte)) error {
	list, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	const doing = "reading the vectors of answers"
	rows, err := s.read.QueryContext(ctx, `
		SELECT v.key, v.vector FROM json_each(?) k CROSS JOIN answer_vector v ON v.key = k.value`, string(list))
	if err != nil {
		return explain(doing, err)
	}
	defer rows.Close()
	for rows.Next() {
		var key int64
		var vector sql.RawBytes
		if err := rows.Scan(&key, &vector); err != nil {
			return explain(doing, err)
		}
		yield(key, vector)
	}
	return explain(doing, rows.Err())
}

// AddAnswerVectors stores vectors by their keys, used at a time (Unix milliseconds).
func (s *Store) AddAnswerVectors(ctx context.Context, vectors map[int64][]byte, usedMS int64) error {
	return s.change(ctx, "storing the vectors of answers", func(ctx context.Context, c conn) error {
		for key, vector := range vectors {
			if err := execute(ctx, c, `
				INSERT INTO answer_vector (key, vector, used_ms) VALUES (?, ?, ?)
				    ON CONFLICT (key) DO UPDATE SET vector = excluded.vector, used_ms = excluded.used_ms`,
				key, vector, usedMS); err != nil {
				return err
			}
		}
		return nil
	})
}

// UseAnswerVectors notes that the vectors of some keys are used at a time (Unix milliseconds), where the last such note
// is older than a day.
func (s *Store) UseAnswerVectors(ctx context.Context, keys []int64, nowMS int64) error {
	const day = 24 * 60 * 60 * 1000
	for len(keys) > 0 {
		n := min(len(keys), vectorsAtOnce)
		list, err := json.Marshal(keys[:n])
		if err != nil {
			return err
		}
		keys = keys[n:]
		const stale = ` answer_vector WHERE key IN (SELECT value FROM json_each(?)) AND used_ms < ?`
		old, err := value[bool](ctx, s.read, `SELECT EXISTS (SELECT 1 FROM`+stale+`)`, string(list), nowMS-day)
		if err != nil {
			return explain("reading when vectors of answers were used", err)
		}
		if !old {
			continue
		}
		if err := s.change(ctx, "noting the use of vectors of answers", func(ctx context.Context, c conn) error {
			return execute(ctx, c, `
				UPDATE answer_vector SET used_ms = ? WHERE key IN (SELECT value FROM json_each(?)) AND used_ms < ?`,
				nowMS, string(list), nowMS-day)
		}); err != nil {
			return err
		}
	}
	return nil
}

// ExpireAnswerVectors deletes the vectors that were last used before a time (Unix milliseconds), and the longest unused
// ones of more than limit.
func (s *Store) ExpireAnswerVectors(ctx context.Context, beforeMS int64, limit int) error {
	return s.inBatches(ctx, func(ctx context.Context) (more bool, err error) {
		const doing = "deleting vectors of answers"
		surplus, err := value[int](ctx, s.read, `
			SELECT max((SELECT count(*) FROM answer_vector WHERE used_ms < ?),
			           (SELECT count(*) FROM answer_vector) - ?)`,
			beforeMS, limit)
		if err != nil || surplus <= 0 {
			return false, explain(doing, err)
		}
		return surplus > vectorsAtOnce, s.change(ctx, doing, func(ctx context.Context, c conn) error {
			return execute(ctx, c, `
				DELETE FROM answer_vector WHERE key IN (SELECT key FROM answer_vector ORDER BY used_ms LIMIT ?)`,
				min(surplus, vectorsAtOnce))
		})
	})
}
