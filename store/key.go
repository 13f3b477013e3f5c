package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"
)

// Keys are random text of 62 characters, 5.95 bits each: 286 bits in an API
// key, 381 in a secret. They cannot be guessed, so they are stored as plain SHA-256;
// slow hashes are for passwords, which have far fewer bits.
const (
	apiKeyLength = 48
	secretLength = 64
	keyIDLength  = 12
	hintLength   = 4
)

// KeyRole says what a key may do.
type KeyRole string

// The roles of keys.
const (
	ClientKey   KeyRole = "client"   // chats, configs and history of its account
	OperatorKey KeyRole = "operator" // also figures and control of the whole box
)

// NewKey is a key to be created.
type NewKey struct {
	Account   string  // name of the account, which is created if it does not exist
	Label     string  // for people; may be empty
	Role      KeyRole // empty: operator for the first key of all, else client
	ExpiresMS int64   // Unix milliseconds; 0: never
}

// Credentials are shown once to the owner of a new key. The keys themselves are not
// stored.
type Credentials struct {
	KeyID             string // names the key when it is revoked or regenerated
	APIKey            string
	SecretKey         string
	WebhookSigningKey string // the account's, the same for all its keys
	Role              KeyRole
	ExpiresMS         int64 // Unix milliseconds; 0: never
}

// Key is what the store knows of a key.
type Key struct {
	ID        string
	AccountID string
	Account   string // its name
	Label     string
	Role      KeyRole
	Hint      string // the last characters of the API key
	CreatedMS int64  // Unix milliseconds; of the last regeneration
	RevokedMS int64  // Unix milliseconds; 0: not revoked
	ExpiresMS int64  // Unix milliseconds; 0: never
	UsedMS    int64  // Unix milliseconds, up to five minutes late; 0: never used
	// Kiosk is the config that a screen's key is bound to, empty for the box's default
	// assistant. It is nil for other keys.
	Kiosk *string
}

// validKey is the condition that a key is valid at the time (Unix milliseconds) of the
// next parameter.
const validKey = ` key.revoked_ms IS NULL AND (key.expires_ms IS NULL OR key.expires_ms > ?) `

// CreateKey creates a key. The error is ErrNotAllowed if there is no such role. The
// caller checks the names.
func (s *Store) CreateKey(ctx context.Context, n NewKey) (Credentials, error) {
	made := newCredentials()
	made.KeyID, made.ExpiresMS = randomText(keyIDLength), n.ExpiresMS
	request := ctx
	err := s.changeKeys(ctx, "creating a key", func(ctx context.Context, c conn) error {
		account, signingKey, err := accountNamed(ctx, c, n.Account)
		if err != nil {
			return err
		}
		made.WebhookSigningKey = signingKey
		made.Role, err = value[KeyRole](ctx, c, `
			INSERT INTO key (id, account, label, role, api_hash, secret_hash, hint, created_ms, expires_ms)
			VALUES (?, ?, ?, coalesce(nullif(?, ''), iif(EXISTS (SELECT 1 FROM key), ?, ?)), ?, ?, ?, ?, nullif(?, 0))
			RETURNING role`,
			made.KeyID, account, n.Label, n.Role, ClientKey, OperatorKey,
			hash(made.APIKey), hash(made.SecretKey), hint(made.APIKey), time.Now().UnixMilli(), n.ExpiresMS)
		amendAct(request, Object{"key", made.KeyID, n.Label}, "created a key of the role "+string(made.Role)+
			" for the account "+n.Account)
		return err
	})
	return made, err
}

// ListKeys returns the keys of an account, or all keys if accountID is empty, oldest
// first: also revoked keys, but no expired ones.
func (s *Store) ListKeys(ctx context.Context, accountID string) ([]Key, error) {
	all, err := query(ctx, s.read, scanKey, `
		SELECT k.id, a.id, a.name, k.label, k.role, k.hint, k.created_ms, coalesce(k.revoked_ms, 0),
		  coalesce(k.expires_ms, 0), coalesce(k.used_ms, 0), k.kiosk
		  FROM key k JOIN account a ON a.num = k.account
		 WHERE (?1 = '' OR a.id = ?1) AND (k.expires_ms IS NULL OR k.expires_ms > ?2) ORDER BY k.num`,
		accountID, time.Now().UnixMilli())
	return all, explain("listing the keys", err)
}

func scanKey(row scanner) (k Key, err error) {
	return k, row.Scan(&k.ID, &k.AccountID, &k.Account, &k.Label, &k.Role, &k.Hint, &k.CreatedMS, &k.RevokedMS,
		&k.ExpiresMS, &k.UsedMS, &k.Kiosk)
}

// KeyLabel returns the label of the key with an id, or ErrNotFound.
func (s *Store) KeyLabel(ctx context.Context, keyID string) (string, error) {
	label, err := value[string](ctx, s.read, `SELECT label FROM key WHERE id = ?`, keyID)
	return label, explain("finding a key", err)
}

// RevokeKey invalidates a key and its tokens for ever. A key that expires is deleted at
// once. The error is ErrNotFound if there is no such key, or it was revoked before.
func (s *Store) RevokeKey(ctx context.Context, keyID string) error {
	return s.revokeKey(ctx, keyID, true)
}

// RevokeKeyUnlessLast is RevokeKey, but returns ErrLastOperator for the last operator's
// key that never expires.
func (s *Store) RevokeKeyUnlessLast(ctx context.Context, keyID string) error {
	return s.revokeKey(ctx, keyID, false)
}

// lastOperator selects whether a key is an operator's that never expires, and the only
// valid one.
const lastOperator = `
	SELECT EXISTS (SELECT 1 FROM key WHERE id = ?1 AND role = 'operator' AND revoked_ms IS NULL AND expires_ms IS NULL)
	   AND NOT EXISTS (SELECT 1 FROM key WHERE id <> ?1 AND role = 'operator' AND revoked_ms IS NULL AND expires_ms
	  IS NULL)`

func (s *Store) revokeKey(ctx context.Context, keyID string, alsoLast bool) error {
	return s.changeKeys(ctx, "revoking key "+keyID, func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, "key", "key", "id = ?", keyID); err != nil {
			return err
		}
		if !alsoLast {
			last, err := value[bool](ctx, c, lastOperator, keyID)
			if err != nil {
				return err
			}
			if last {
				return ErrLastOperator
			}
		}
		now := time.Now().UnixMilli()
		if err := changeOne(ctx, c, `UPDATE key SET revoked_ms = ? WHERE id = ? AND`+validKey, now, keyID,
			now); err != nil {
			return err
		}
		if err := dropTokens(ctx, c, keyID); err != nil {
			return err
		}
		return execute(ctx, c, `DELETE FROM key WHERE id = ? AND expires_ms IS NOT NULL`, keyID)
	})
}

// RegenerateKey gives a key a new API key and secret. The old ones and their tokens are
// invalid at once. Role and expiry stay. The error is ErrNotFound if the key was revoked
// or has expired.
func (s *Store) RegenerateKey(ctx context.Context, keyID string) (Credentials, error) {
	made := newCredentials()
	made.KeyID = keyID
	err := s.changeKeys(ctx, "regenerating key "+keyID, func(ctx context.Context, c conn) (err error) {
		if err := checkLocal(ctx, c, "key", "key", "id = ?", keyID); err != nil {
			return err
		}
		now := time.Now().UnixMilli()
		err = scanFirst(ctx, c, []any{&made.Role, &made.ExpiresMS, &made.WebhookSigningKey}, `
			UPDATE key SET api_hash = ?, secret_hash = ?, hint = ?, created_ms = ?, used_ms = NULL
			 WHERE id = ? AND`+validKey+`
			RETURNING role, coalesce(expires_ms, 0), (SELECT signing_key FROM account WHERE num = key.account)`,
			hash(made.APIKey), hash(made.SecretKey), hint(made.APIKey), now, keyID, now)
		if err != nil {
			return err
		}
		return dropTokens(ctx, c, keyID)
	})
	return made, err
}

// changeKeys is change, and notifies the box, which closes connections whose key is no
// longer valid, and a hub, whose boxes have the keys of clients too.
func (s *Store) changeKeys(ctx context.Context, doing string, do func(context.Context, conn) error) error {
	err := s.change(ctx, doing, do)
	if err == nil {
		s.keyNotifier.notify()
	}
	return err
}

// dropExpiredKeys deletes expired keys and their tokens.
func (s *Store) dropExpiredKeys(ctx context.Context) error {
	const old = ` FROM key WHERE expires_ms <= ?`
	now := time.Now().UnixMilli()
	const doing = "forgetting keys that are past their end"
	exist, err := value[bool](ctx, s.read, `SELECT EXISTS (SELECT 1`+old+`)`, now)
	if err != nil || !exist {
		return explain(doing, err)
	}
	return s.change(ctx, doing, func(ctx context.Context, c conn) error {
		return execute(ctx, c, `DELETE`+old, now)
	})
}

func newCredentials() Credentials {
	return Credentials{APIKey: randomText(apiKeyLength), SecretKey: randomText(secretLength)}
}

func hash(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

func hint(key string) string { return key[len(key)-hintLength:] }

// randomText returns n characters of 0-9, A-Z and a-z, uniformly distributed.
func randomText(n int) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	const even = 256 - 256%len(letters) // larger bytes would favour the first letters
	text := make([]byte, 0, n)
	var random [64]byte
	for len(text) < n {
		rand.Read(random[:]) // never fails: the program ends if the system has no randomness
		for _, b := range random {
			if int(b) < even && len(text) < n {
				text = append(text, letters[int(b)%len(letters)])
			}
		}
	}
	return string(text)
}
