package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// chained returns the hash of an act's row: the SHA-256 of the hash of the row before it,
// and of each value with its length before it.
func (a Act) chained(before []byte) []byte {
	h := sha256.New()
	h.Write(before)
	for _, v := range a.values() {
		text := fmt.Sprint(v)
		_ = binary.Write(h, binary.BigEndian, int64(len(text))) // a hash accepts all writes
		h.Write([]byte(text))
	}
	return h.Sum(nil)
}

// deletedActs returns the hash of the newest act that retention has deleted, or nil.
func deletedActs(ctx context.Context, q querier) ([]byte, error) {
	h, err := value[[]byte](ctx, q, `SELECT hash FROM act_deleted`)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return h, err
}

// ErrActsChanged means that rows of the audit log were changed, deleted or inserted by
// something other than Parley.
var ErrActsChanged = errors.New("the audit log was changed by another program")

// CheckActs reads the whole audit log. It returns how many acts it has, and
// ErrActsChanged with the first act whose hash does not match it and the act before. It
// does not notice that the newest acts were deleted, or that somebody who knows the
// format has computed all later hashes again.
func (s *Store) CheckActs(ctx context.Context) (acts int, err error) {
	var before []byte
	check := func(row scanner) (none struct{}, err error) {
		var hash, deleted []byte
		a, err := scanAct(withLast{withLast{row, &deleted}, &hash})
		if err != nil {
			return none, err
		}
		if acts == 0 {
			before = deleted
		}
		if !bytes.Equal(hash, a.chained(before)) {
			return none, fmt.Errorf("%w: act %d, or the one before it", ErrActsChanged, a.Num)
		}
		before, acts = hash, acts+1
		return none, nil
	}
	// One statement reads one state of the database, also while acts are deleted.
	_, err = query(ctx, s.read, check,
		`SELECT `+actColumns+`, hash, (SELECT hash FROM act_deleted) FROM act ORDER BY num`)
	return acts, explain("checking the audit log", err)
}
