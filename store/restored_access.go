package store

import "context"

// EndedAccess counts what [Store.EndRestoredAccess] invalidated.
type EndedAccess struct {
	Sessions int64 // of the console
	Revoked  int64 // keys revoked since the backup
	Renewed  int64 // keys regenerated since the backup
	Signing  int64 // accounts whose webhook signing key was replaced since the backup
}

// EndRestoredAccess invalidates what a restored database would admit but was invalidated
// after the backup. All sessions of the console, sign-in links and pairing codes end,
// since they are short-lived. From before, the database that is replaced, it takes which
// keys were revoked or regenerated and which signing keys of webhooks were replaced. If
// before is nil, all keys are valid as they were in the backup. A key with an end that
// was revoked is not known in before, since it was deleted.
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

// executeCounting runs a statement and adds the number of changed rows to all, unless all
// is nil.
func executeCounting(ctx context.Context, c conn, all *int64, text string, args ...any) error {
	result, err := c.ExecContext(ctx, text, args...)
	if err != nil || all == nil {
		return err
	}
	n, err := result.RowsAffected()
	*all += n
	return err
}

// keyState is the state of a key in the replaced database.
type keyState struct {
	id, hint            string
	apiHash, secretHash []byte
	createdMS           int64 // when it was created or last regenerated
	revokedMS           int64 // 0: not revoked
}

func (s *Store) keyStates(ctx context.Context) ([]keyState, error) {
	all, err := query(ctx, s.read, func(row scanner) (k keyState, err error) {
		return k, row.Scan(&k.id, &k.hint, &k.apiHash, &k.secretHash, &k.createdMS, &k.revokedMS)
	}, `SELECT id, hint, api_hash, secret_hash, created_ms, coalesce(revoked_ms, 0) FROM key`)
	return all, explain("reading the keys that were replaced", err)
}

// applyTo applies the state to the restored database.
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

// replacedSigningKey is a webhook signing key that replaced another.
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

// applyTo applies the replacement to the restored database, unless that has a newer one.
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
