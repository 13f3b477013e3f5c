package store

import "context"

// EndedAccess is what a restored database let in that is let in no more.
type EndedAccess struct {
	Sessions int64 // of the console
	Revoked  int64 // keys that were revoked since the backup
	Renewed  int64 // keys that were given new secrets since
	Signing  int64 // accounts whose key for signing webhooks was replaced since
}

// EndRestoredAccess has a database that was restored from a backup let nobody in who was let
// in when the backup was made and may not be since. The sessions of the console, the
// links to it and the codes of screens end, for they are short-lived, and whoever
// ended one meant it. Keys take from the database that is replaced, before, that they
// were revoked or given new secrets, and accounts that their signing key was replaced:
// who replaces one knows that the old one has got into wrong hands, or their receivers
// know the new one alone. nil: there is none, and all keys of the backup open and sign
// what they did then. Of a key with an end that was revoked, before knows nothing any
// extra.
func (s *Store) EndRestoredAccess(ctx context.Context, before *Store) (o EndedAccess, err error) {
	var since []keyState
	var signing []replacedSigningKey
	if before != nil {
		if since, err = before.keyStates(ctx); err != nil {
			return o, err
		}
		if signing, err = before.replacedSigningKeys(ctx); err != nil {
			return o, err
		}
	}
	err = s.change(ctx, "ending what is over since the backup", func(ctx context.Context, c conn) error {
		o = EndedAccess{}
		for text, count := range map[string]*int64{`DELETE FROM session`: &o.Sessions, `DELETE FROM sign_in`: nil,
			`DELETE FROM pairing`: nil} {
			if err := executeCounting(ctx, c, count, text); err != nil {
				return err
			}
		}
		for _, k := range since {
			if err := k.applyTo(ctx, c, &o); err != nil {
				return err
			}
		}
		for _, k := range signing {
			if err := k.applyTo(ctx, c, &o); err != nil {
				return err
			}
		}
		return nil
	})
	return o, err
}

// executeCounting carries a statement out and adds the rows that it changed to all, unless
// that is nil.
func executeCounting(ctx context.Context, c conn, all *int64, text string, args ...any) error {
	result, err := c.ExecContext(ctx, text, args...)
	if err != nil || all == nil {
		return err
	}
	n, err := result.RowsAffected()
	*all += n
	return err
}

// keyState is what became of a key.
type keyState struct {
	id, hint            string
	apiHash, secretHash []byte
	createdMS           int64 // when it was last given secrets
	revokedMS           int64 // 0: it was not
}

func (s *Store) keyStates(ctx context.Context) ([]keyState, error) {
	all, err := query(ctx, s.read, func(row scanner) (k keyState, err error) {
		return k, row.Scan(&k.id, &k.hint, &k.apiHash, &k.secretHash, &k.createdMS, &k.revokedMS)
	}, `SELECT id, hint, api_hash, secret_hash, created_ms, coalesce(revoked_ms, 0) FROM key`)
	return all, explain("reading the keys that were replaced", err)
}

// applyTo has the restored database know it too.
func (k keyState) applyTo(ctx context.Context, c conn, o *EndedAccess) error {
	var changed int64
	if err := executeCounting(ctx, c, &changed, `
		UPDATE key SET api_hash = ?, secret_hash = ?, hint = ?, created_ms = ?, used_ms = NULL
		 WHERE id = ? AND created_ms < ? AND api_hash <> ?`,
		k.apiHash, k.secretHash, k.hint, k.createdMS, k.id, k.createdMS, k.apiHash); err != nil {
		return err
	}
	o.Renewed += changed
	if k.revokedMS != 0 {
		if err := executeCounting(ctx, c, &o.Revoked,
			`UPDATE key SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL`,
			k.revokedMS, k.id); err != nil {
			return err
		}
	}
	if changed == 0 && k.revokedMS == 0 {
		return nil
	}
	return dropTokens(ctx, c, k.id)
}

// replacedSigningKeys is a key for signing webhooks that took the place of another.
type replacedSigningKey struct {
	account, key string
	replacedMS   int64
}

func (s *Store) replacedSigningKeys(ctx context.Context) ([]replacedSigningKey, error) {
	all, err := query(ctx, s.read, func(row scanner) (k replacedSigningKey, err error) {
		return k, row.Scan(&k.account, &k.key, &k.replacedMS)
	}, `SELECT a.id, a.signing_key, r.at_ms FROM signing_key_replaced r JOIN account a ON a.num = r.account`)
	return all, explain("reading the signing keys that were replaced", err)
}

// applyTo has the restored database know it too, unless it knows a newer one.
func (k replacedSigningKey) applyTo(ctx context.Context, c conn, o *EndedAccess) error {
	older, err := value[bool](ctx, c, `
		SELECT EXISTS (SELECT 1 FROM account a LEFT JOIN signing_key_replaced r ON r.account = a.num
		                WHERE a.id = ? AND coalesce(r.at_ms, 0) < ?)`, k.account, k.replacedMS)
	if err != nil || !older {
		return err
	}
	o.Signing++
	return replaceSigningKey(ctx, c, k.account, k.key, k.replacedMS)
}
