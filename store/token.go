package store

import (
	"cmp"
	"context"
	"crypto/subtle"
	"time"
)

// TokenLife is how long an access token is valid. Clients rely on these 30 minutes.
const TokenLife = 30 * time.Minute

// A Grant is the access that a key, token or session gives: to an account, with a role.
// [Store.Holds] reports whether it is still valid.
type Grant struct {
	AccountID string
	Role      KeyRole
	// Kiosk is the config of a screen's key, which can only open conversations; empty is
	// the box's default assistant, nil another key.
	Kiosk *string
	// KeyID is the key's id, and Label its label; empty for a session.
	KeyID, Label string
	// Session is the id of the console session; empty for a key.
	Session string
	apiHash []byte // of the API key, which changes when the key is regenerated, or of the session's cookie
}

// By returns the id of the key or session.
func (g Grant) By() string { return cmp.Or(g.KeyID, g.Session) }

// Hash returns the SHA-256 of the API key or of the session's cookie. A regenerated key
// has another one.
func (g Grant) Hash() []byte { return g.apiHash }

// GrantBy returns the grant of the key or session with an id ([Grant.By]), without its
// account. The error is ErrNotFound if there is none that is valid at that time.
func (s *Store) GrantBy(ctx context.Context, id string, at time.Time) (Grant, error) {
	g, err := first(ctx, s.read, func(row scanner) (g Grant, err error) {
		return g, row.Scan(&g.KeyID, &g.Session, &g.apiHash)
	}, `
		SELECT id, '', api_hash FROM key WHERE id = ? AND`+validKey+`
		 UNION ALL
		SELECT '', id, hash FROM session WHERE id = ? AND`+validSession, id, at.UnixMilli(), id, at.UnixMilli())
	return g, explain("looking up who asked for a link", err)
}

// OpenKey returns the grant of an API key. The error is ErrNotFound if there is no such
// key, or it was revoked or has expired; a key that another process revokes fails at
// once. Keys are looked up by their hash, so response times reveal nothing about a key.
func (s *Store) OpenKey(ctx context.Context, apiKey string) (Grant, error) {
	g, used, at := Grant{apiHash: hash(apiKey)}, int64(0), time.Now()
	err := scanFirst(ctx, s.keys, []any{&g.AccountID, &g.KeyID, &g.Label, &g.Role, &g.Kiosk, &used}, `
		SELECT a.id, key.id, key.label, key.role, key.kiosk, coalesce(key.used_ms, 0) FROM key JOIN account a ON a.num =
		  key.account
		 WHERE key.api_hash = ? AND`+validKey, g.apiHash, at.UnixMilli())
	if err != nil {
		return Grant{}, explain("looking up the API key", err)
	}
	s.noteKeyUse(ctx, g, used, at)
	return g, nil
}

const (
	// noteTimeout bounds the write of the time of last use, and noteRetry is when it is
	// tried again after a failure.
	noteTimeout = time.Second
	noteRetry   = time.Minute
)

// noteUse records the use of a key or session, unless that was recorded within
// usedResolution. If the write fails, access is still granted, and the log has the error.
// It continues if the client goes away.
func (s *Store) noteUse(
	ctx context.Context, doing string, usedMS int64, at time.Time, update string, hash []byte,
) {
	if at.Sub(time.UnixMilli(usedMS)) < usedResolution || at.UnixMilli() < s.notesFrom.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	err := s.change(ctx, doing, func(ctx context.Context, c conn) error {
		return execute(ctx, c, update, at.UnixMilli(), hash)
	})
	if err != nil {
		s.notesFrom.Store(at.Add(noteRetry).UnixMilli())
		s.log.WarnContext(ctx, "the time of last use was not written", "again_in", noteRetry, "err", err)
	}
}

// noteKeyUse is noteUse for the key of a grant.
func (s *Store) noteKeyUse(ctx context.Context, g Grant, usedMS int64, at time.Time) {
	s.noteUse(ctx, "noting that a key is used", usedMS, at,
		`UPDATE key SET used_ms = max(coalesce(used_ms, 0), ?) WHERE api_hash = ?`, g.apiHash)
}

// OpenToken returns the grant of an access token at that time. The error is ErrNotFound
// if there is no such token, it has expired, or its key was revoked, regenerated or has
// expired.
func (s *Store) OpenToken(ctx context.Context, token string, at time.Time) (Grant, error) {
	used := int64(0)
	g, err := first(ctx, s.keys, func(row scanner) (g Grant, err error) {
		return g, row.Scan(&g.AccountID, &g.KeyID, &g.Label, &g.Role, &g.apiHash, &g.Kiosk, &used)
	}, `
		SELECT a.id, key.id, key.label, key.role, key.api_hash, key.kiosk, coalesce(key.used_ms, 0)
		  FROM token t JOIN key ON key.num = t.key JOIN account a ON a.num = key.account
		 WHERE t.hash = ? AND t.expires_ms > ? AND`+validKey, hash(token), at.UnixMilli(), at.UnixMilli())
	if err != nil {
		return Grant{}, explain("looking up the access token", err)
	}
	s.noteKeyUse(ctx, g, used, at)
	return g, nil
}

// Holds returns nil while the key or session of a grant is valid, and ErrNotFound once it
// was revoked, regenerated or ended, or has expired. The expiry of the token that made
// the grant does not matter.
func (s *Store) Holds(ctx context.Context, g Grant) error {
	_, err := s.keyEnd(ctx, g)
	return err
}

// CreateToken issues an access token, valid for TokenLife from that time, to a client
// that presents a valid API key and its secret. The error is ErrNotFound if one of them
// is wrong or revoked. The token is stored as a hash only.
func (s *Store) CreateToken(ctx context.Context, apiKey, secret string, at time.Time) (token string, err error) {
	// Looked up before anything is written, so that guessing does not load the writer.
	stored, err := value[[]byte](ctx, s.keys, `
		SELECT secret_hash FROM key WHERE api_hash = ? AND`+validKey, hash(apiKey), at.UnixMilli())
	if err == nil && subtle.ConstantTimeCompare(stored, hash(secret)) != 1 {
		err = ErrNotFound
	}
	if err != nil {
		return "", explain("looking up the API key and its secret", err)
	}
	token = randomText(secretLength)
	err = s.change(ctx, "making an access token", func(ctx context.Context, c conn) error {
		if _, err := c.ExecContext(ctx, `DELETE FROM token WHERE expires_ms <= ?`, at.UnixMilli()); err != nil {
			return err
		}
		// The key may have been revoked or regenerated since it was looked up.
		return changeOne(ctx, c, `
			INSERT INTO token (hash, key, expires_ms)
			SELECT ?, num, ? FROM key WHERE api_hash = ? AND secret_hash = ? AND`+validKey,
			hash(token), at.Add(TokenLife).UnixMilli(), hash(apiKey), stored, at.UnixMilli())
	})
	return token, err
}

// dropTokens deletes the tokens of a key.
func dropTokens(ctx context.Context, c conn, keyID string) error {
	return execute(ctx, c, `DELETE FROM token WHERE key = (SELECT num FROM key WHERE id = ?)`, keyID)
}
