package store

import (
	"cmp"
	"context"
	"crypto/subtle"
	"time"
)

// TokenLife is how long an access token opens the box. It is part of the
// interface: clients count on 30 minutes.
const TokenLife = 30 * time.Minute

// A Grant is what a key or a token opened: an account, by way of one key, for
// what the key's role allows. It can be asked again whether it still holds.
type Grant struct {
	AccountID string
	Role      KeyRole
	// Kiosk is the config that the key of a screen is bound to, which opens
	// conversations and nothing else; empty is the box's own assistant, nil no
	// screen's key.
	Kiosk *string
	// KeyID names the key that opened it; empty where it was a session.
	KeyID string
	// Session is the id of the console's session that opened it; empty where it
	// was a key.
	Session string
	apiHash []byte // of the key, which has another when it is regenerated, or of the session's cookie
}

// By is the id of what opened it: a key, or a session of the console.
func (g Grant) By() string { return cmp.Or(g.KeyID, g.Session) }

// Hash is the SHA-256 of the API key, or of what the session's cookie holds. A key
// that is regenerated has another one.
func (g Grant) Hash() []byte { return g.apiHash }

// GrantBy returns the grant of the key or the session of that id, without its
// account: [Grant.By]. ErrNotFound: there is none, or it opens nothing at that time.
func (s *Store) GrantBy(ctx context.Context, id string, at time.Time) (Grant, error) {
	g, err := first(ctx, s.read, func(row scanner) (g Grant, err error) {
		return g, row.Scan(&g.KeyID, &g.Session, &g.apiHash)
	}, `
		SELECT id, '', api_hash FROM key WHERE id = ? AND`+validKey+`
		 UNION ALL
		SELECT '', id, hash FROM session WHERE id = ? AND`+validSession, id, at.UnixMilli(), id, at.UnixMilli())
	return g, explain("looking up who asked for a link", err)
}

// OpenKey returns what an API key opens. ErrNotFound means that there is no
// such key, that it was revoked or that its time is over. A key that another
// process revokes fails at once. Keys are found by their hash, so what the time
// of an answer tells is about a hash that no guesser can steer.
func (s *Store) OpenKey(ctx context.Context, apiKey string) (Grant, error) {
	g, used, at := Grant{apiHash: hash(apiKey)}, int64(0), time.Now()
	err := scanFirst(ctx, s.keys, []any{&g.AccountID, &g.KeyID, &g.Role, &g.Kiosk, &used}, `
		SELECT a.id, key.id, key.role, key.kiosk, coalesce(key.used_ms, 0) FROM key JOIN account a ON a.num =
		  key.account
		 WHERE key.api_hash = ? AND`+validKey, g.apiHash, at.UnixMilli())
	if err != nil {
		return Grant{}, explain("looking up the API key", err)
	}
	s.noteKeyUse(ctx, g, used, at)
	return g, nil
}

// noteTimeout is how long it may take to note that a key or a session is used, and
// noteRetry when it is tried again after it could not be.
const (
	noteTimeout = time.Second
	noteRetry   = time.Minute
)

// noteUse notes that a key or a session has opened the box, unless that is known of
// the last minutes. A disk that takes nothing shuts nobody out: the log says so. A
// client that does not wait for its answer changes nothing of it.
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
		s.log.WarnContext(ctx, "who uses the box is let in, and when is not written", "again_in", noteRetry, "err", err)
	}
}

// noteKeyUse is noteUse of the key behind a grant.
func (s *Store) noteKeyUse(ctx context.Context, g Grant, usedMS int64, at time.Time) {
	s.noteUse(ctx, "noting that a key is used", usedMS, at,
		`UPDATE key SET used_ms = max(coalesce(used_ms, 0), ?) WHERE api_hash = ?`, g.apiHash)
}

// OpenToken returns what an access token opens at that time. ErrNotFound means
// that there is no such token, that it has expired, or that its key was revoked
// or regenerated or has expired.
func (s *Store) OpenToken(ctx context.Context, token string, at time.Time) (Grant, error) {
	used := int64(0)
	g, err := first(ctx, s.keys, func(row scanner) (g Grant, err error) {
		return g, row.Scan(&g.AccountID, &g.KeyID, &g.Role, &g.apiHash, &g.Kiosk, &used)
	}, `
		SELECT a.id, key.id, key.role, key.api_hash, key.kiosk, coalesce(key.used_ms, 0)
		  FROM token t JOIN key ON key.num = t.key JOIN account a ON a.num = key.account
		 WHERE t.hash = ? AND t.expires_ms > ? AND`+validKey, hash(token), at.UnixMilli(), at.UnixMilli())
	if err != nil {
		return Grant{}, explain("looking up the access token", err)
	}
	s.noteKeyUse(ctx, g, used, at)
	return g, nil
}

// Holds returns nil while the key or the session behind a grant is the one that
// it was, and ErrNotFound once it was revoked, regenerated or ended or is past its
// end. That a token
// containsAll expired since does not matter: it opened what it opened.
func (s *Store) Holds(ctx context.Context, g Grant) error {
	_, err := s.keyEnd(ctx, g)
	return err
}

// CreateToken makes an access token, good from that time on for TokenLife, for
// who has an API key together with its secret. ErrNotFound means that one of
// them is wrong or revoked. The token itself is not kept.
func (s *Store) CreateToken(ctx context.Context, apiKey, secret string, at time.Time) (token string, err error) {
	// Looked up before anything is written: a guesser keeps no writer busy.
	kept, err := value[[]byte](ctx, s.keys, `
		SELECT secret_hash FROM key WHERE api_hash = ? AND`+validKey, hash(apiKey), at.UnixMilli())
	if err == nil && subtle.ConstantTimeCompare(kept, hash(secret)) != 1 {
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
			hash(token), at.Add(TokenLife).UnixMilli(), hash(apiKey), kept, at.UnixMilli())
	})
	return token, err
}

// dropTokens deletes the tokens of a key.
func dropTokens(ctx context.Context, c conn, keyID string) error {
	return execute(ctx, c, `DELETE FROM token WHERE key = (SELECT num FROM key WHERE id = ?)`, keyID)
}
