package store

import "context"

// Outdated is what a restored database let in that is let in no more.
type Outdated struct {
	Sessions int64 // of the console
	Revoked  int64 // keys that were revoked since the backup
	Renewed  int64 // keys that were given new secrets since
	Signing  int64 // accounts whose key for signing webhooks was replaced since
}

// Outdate has a database that was restored from a backup let nobody in who was let
// in when the backup was made and may not be since. The sessions of the console, the
// links to it and the codes of screens end, for they are short-lived, and whoever
// ended one meant it. Keys take from the database that is replaced, before, that they
// were revoked or given new secrets, and accounts that their signing key was replaced:
// who replaces one knows that the old one has got into wrong hands, or their receivers
// know the new one alone. nil: there is none, and all keys of the backup open and sign
// what they did then. Of a key with an end that was revoked, before knows nothing any
// more.
func (s *Store) Outdate(ctx context.Context, before *Store) (o Outdated, err error) {
	var since []keySince
	var signing []signingSince
	if before != nil {
		if since, err = before.keysSince(ctx); err != nil {
			return o, err
		}
		if signing, err = before.signingSince(ctx); err != nil {
			return o, err
		}
	}
	err = s.change(ctx, "ending what is over since the backup", func(ctx context.Context, c conn) error {
		o = Outdated{}
		for text, count := range map[string]*int64{`DELETE FROM session`: &o.Sessions, `DELETE FROM sign_in`: nil,
			`DELETE FROM pairing`: nil} {
			if err := adding(ctx, c, count, text); err != nil {
				return err
			}
		}
		for _, k := range since {
			if err := k.holds(ctx, c, &o); err != nil {
				return err
			}
		}
		for _, k := range signing {
			if err := k.holds(ctx, c, &o); err != nil {
				return err
			}
		}
		return nil
	})
	return o, err
}

// adding carries a statement out and adds the rows that it changed to all, unless
// that is nil.
func adding(ctx context.Context, c conn, all *int64, text string, args ...any) error {
	result, err := c.ExecContext(ctx, text, args...)
	if err != nil || all == nil {
		return err
	}
	n, err := result.RowsAffected()
	*all += n
	return err
}

// keySince is what became of a key.
type keySince struct {
	id, hint            string
	apiHash, secretHash []byte
	createdMS           int64 // when it was last given secrets
	revokedMS           int64 // 0: it was not
}

func (s *Store) keysSince(ctx context.Context) ([]keySince, error) {
	all, err := query(ctx, s.read, func(row scanner) (k keySince, err error) {
		return k, row.Scan(&k.id, &k.hint, &k.apiHash, &k.secretHash, &k.createdMS, &k.revokedMS)
	}, `SELECT id, hint, api_hash, secret_hash, created_ms, coalesce(revoked_ms, 0) FROM key`)
	return all, explain("reading the keys that were replaced", err)
}

// holds has the restored database know it too.
func (k keySince) holds(ctx context.Context, c conn, o *Outdated) error {
	var changed int64
	if err := adding(ctx, c, &changed, `UPDATE key SET api_hash = ?, secret_hash = ?, hint = ?, created_ms = ?, `+
		`used_ms = NULL WHERE id = ? AND created_ms < ? AND api_hash <> ?`,
		k.apiHash, k.secretHash, k.hint, k.createdMS, k.id, k.createdMS, k.apiHash); err != nil {
		return err
	}
	o.Renewed += changed
	if k.revokedMS != 0 {
		if err := adding(ctx, c, &o.Revoked, `UPDATE key SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL`,
			k.revokedMS, k.id); err != nil {
			return err
		}
	}
	if changed == 0 && k.revokedMS == 0 {
		return nil
	}
	return dropTokens(ctx, c, k.id)
}

// signingSince is a key for signing webhooks that took the place of another.
type signingSince struct {
	account, key string
	replacedMS   int64
}

func (s *Store) signingSince(ctx context.Context) ([]signingSince, error) {
	all, err := query(ctx, s.read, func(row scanner) (k signingSince, err error) {
		return k, row.Scan(&k.account, &k.key, &k.replacedMS)
	}, `SELECT a.id, a.signing_key, r.at_ms FROM signing_key_replaced r JOIN account a ON a.num = r.account`)
	return all, explain("reading the signing keys that were replaced", err)
}

// holds has the restored database know it too, unless it knows a newer one.
func (k signingSince) holds(ctx context.Context, c conn, o *Outdated) error {
	older, err := value[bool](ctx, c, `
		SELECT EXISTS (SELECT 1 FROM account a LEFT JOIN signing_key_replaced r ON r.account = a.num
		                WHERE a.id = ? AND coalesce(r.at_ms, 0) < ?)`, k.account, k.replacedMS)
	if err != nil || !older {
		return err
	}
	o.Signing++
	return replaceSigningKey(ctx, c, k.account, k.key, k.replacedMS)
}
