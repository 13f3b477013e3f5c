package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"
)

// Keys are random text of 62 characters, 5.95 bits each: 286 bits in an API
// key, 381 in a secret. No one can guess or try them all, so a plain SHA-256
// keeps them; the slow hashes for passwords make up for what passwords lack.
const (
	apiKeyLength = 48
	secretLength = 64
	keyIDLength  = 12
	hintLength   = 4
)

// Credentials are what a new key's owner is told, once: the keys themselves are
// not kept.
type Credentials struct {
	KeyID             string // names the key when it is revoked or regenerated
	APIKey            string
	SecretKey         string
	WebhookSigningKey string // the account's, the same for all its keys
}

// Key is what is known of a key afterwards.
type Key struct {
	ID        string
	AccountID string
	Account   string // its name
	Label     string
	Hint      string // the last characters of the API key
	CreatedMS int64  // Unix milliseconds; when it was last regenerated
	RevokedMS int64  // Unix milliseconds, 0 while it is good
}

// CreateKey makes a key for the account of that name, which is created where
// there is none. The label is for people and may be empty.
func (s *Store) CreateKey(ctx context.Context, accountName, label string) (Credentials, error) {
	if accountName == "" {
		return Credentials{}, ErrInvalid{Field: "account", Why: "an account needs a name of 1 to 64 characters"}
	}
	if err := validName("account", accountName); err != nil {
		return Credentials{}, err
	}
	if err := validName("label", label); err != nil {
		return Credentials{}, err
	}
	made := newCredentials()
	made.KeyID = randomText(keyIDLength)
	err := s.change(ctx, "creating a key", func(ctx context.Context, c conn) error {
		account, signingKey, err := accountNamed(ctx, c, accountName)
		if err != nil {
			return err
		}
		made.WebhookSigningKey = signingKey
		_, err = c.ExecContext(ctx, `
			INSERT INTO key (id, account, label, api_hash, secret_hash, hint, created_ms)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			made.KeyID, account, label, hash(made.APIKey), hash(made.SecretKey), hint(made.APIKey), time.Now().UnixMilli())
		return err
	})
	if err != nil {
		return Credentials{}, err
	}
	return made, nil
}

// ListKeys returns the keys of an account, or of all when accountID is empty,
// oldest first, revoked ones too.
func (s *Store) ListKeys(ctx context.Context, accountID string) ([]Key, error) {
	all, err := query(ctx, s.read, scanKey, `
		SELECT k.id, a.id, a.name, k.label, k.hint, k.created_ms, coalesce(k.revoked_ms, 0)
		  FROM key k JOIN account a ON a.num = k.account
		 WHERE ?1 = '' OR a.id = ?1 ORDER BY k.num`, accountID)
	return all, explain("listing the keys", err)
}

func scanKey(row scanner) (k Key, err error) {
	return k, row.Scan(&k.ID, &k.AccountID, &k.Account, &k.Label, &k.Hint, &k.CreatedMS, &k.RevokedMS)
}

// RevokeKey makes a key and its tokens useless for ever. ErrNotFound means that there is no
// such key or that it was revoked before.
func (s *Store) RevokeKey(ctx context.Context, keyID string) error {
	return s.change(ctx, "revoking key "+keyID, func(ctx context.Context, c conn) error {
		if err := changeOne(ctx, c, `UPDATE key SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL`,
			time.Now().UnixMilli(), keyID); err != nil {
			return err
		}
		return dropTokens(ctx, c, keyID)
	})
}

// RegenerateKey gives a key a new API key and secret; the old ones and their
// tokens fail at once. A revoked key stays revoked: ErrNotFound.
func (s *Store) RegenerateKey(ctx context.Context, keyID string) (Credentials, error) {
	made := newCredentials()
	made.KeyID = keyID
	err := s.change(ctx, "regenerating key "+keyID, func(ctx context.Context, c conn) (err error) {
		made.WebhookSigningKey, err = value[string](ctx, c, `
			UPDATE key SET api_hash = ?, secret_hash = ?, hint = ?, created_ms = ?
			 WHERE id = ? AND revoked_ms IS NULL
			RETURNING (SELECT signing_key FROM account WHERE num = key.account)`,
			hash(made.APIKey), hash(made.SecretKey), hint(made.APIKey), time.Now().UnixMilli(), keyID)
		if err != nil {
			return err
		}
		return dropTokens(ctx, c, keyID)
	})
	if err != nil {
		return Credentials{}, err
	}
	return made, nil
}

func newCredentials() Credentials {
	return Credentials{APIKey: randomText(apiKeyLength), SecretKey: randomText(secretLength)}
}

func hash(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

func hint(key string) string { return key[len(key)-hintLength:] }

// randomText returns n characters of 0-9, A-Z and a-z, each as likely as the
// other.
func randomText(n int) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	const even = 256 - 256%len(letters) // bytes from here on would favour the first letters
	text := make([]byte, 0, n)
	var random [64]byte
	for len(text) < n {
		rand.Read(random[:]) // never fails: the program ends where the system has no randomness
		for _, b := range random {
			if int(b) < even && len(text) < n {
				text = append(text, letters[int(b)%len(letters)])
			}
		}
	}
	return string(text)
}
