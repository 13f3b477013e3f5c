package store

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Account owns keys, chats and all other records. Nothing of one account is visible to
// another.
type Account struct {
	ID   string // a UUID
	Name string // the name that the operator chose
}

// Account returns the account with that name.
func (s *Store) Account(ctx context.Context, name string) (Account, error) {
	a, err := first(ctx, s.read, scanAccount, `SELECT id, name FROM account WHERE name = ?`, name)
	return a, explain("finding account "+name, err)
}

// Accounts returns all accounts, oldest first.
func (s *Store) Accounts(ctx context.Context) ([]Account, error) {
	all, err := query(ctx, s.read, scanAccount, `SELECT id, name FROM account WHERE num <> 0 ORDER BY num`)
	return all, explain("listing the accounts", err)
}

func scanAccount(row scanner) (a Account, err error) { return a, row.Scan(&a.ID, &a.Name) }

// SigningKey returns the key that signs the account's webhooks.
func (s *Store) SigningKey(ctx context.Context, accountID string) (string, error) {
	key, err := value[string](ctx, s.read, `SELECT signing_key FROM account WHERE id = ?`, accountID)
	return key, explain("finding the signing key", err)
}

// NewSigningKey replaces the key that signs the account's webhooks and returns the new
// one. The old key is invalid at once.
func (s *Store) NewSigningKey(ctx context.Context, accountID string) (string, error) {
	key := randomText(secretLength)
	if err := s.SetSigningKey(ctx, accountID, key); err != nil {
		return "", err
	}
	return key, nil
}

// SetSigningKey replaces the key that signs the account's webhooks by one that the
// receivers already know.
func (s *Store) SetSigningKey(ctx context.Context, accountID, key string) error {
	return s.change(ctx, "replacing the signing key", func(ctx context.Context, c conn) error {
		return replaceSigningKey(ctx, c, accountID, key, time.Now().UnixMilli())
	})
}

// replaceSigningKey also records the time, which [Store.EndRestoredAccess] compares after
// a restore.
func replaceSigningKey(ctx context.Context, c conn, accountID, key string, atMS int64) error {
	if err := changeOne(ctx, c, `UPDATE account SET signing_key = ? WHERE id = ?`, key, accountID); err != nil {
		return err
	}
	return execute(ctx, c, `
		INSERT INTO signing_key_replaced (account, at_ms) SELECT num, ?1 FROM account WHERE id = ?2
		    ON CONFLICT DO UPDATE SET at_ms = ?1`, atMS, accountID)
}

// accountNamed returns the number and the signing key of the account with that name, and
// creates the account if it does not exist.
func accountNamed(ctx context.Context, c conn, name string) (num int64, signingKey string, err error) {
	if err := execute(ctx, c, `
		INSERT INTO account (id, name, signing_key, created_ms) VALUES (?, ?, ?, ?)
		    ON CONFLICT (name) DO NOTHING`,
		uuid.NewString(), name, randomText(secretLength), time.Now().UnixMilli()); err != nil {
		return 0, "", err
	}
	num, err = first(ctx, c, func(row scanner) (num int64, err error) {
		return num, row.Scan(&num, &signingKey)
	}, `SELECT num, signing_key FROM account WHERE name = ?`, name)
	return num, signingKey, err
}

// AccountName returns the name of the account with that id, or ErrNotFound.
func (s *Store) AccountName(ctx context.Context, id string) (string, error) {
	name, err := value[string](ctx, s.read, `SELECT name FROM account WHERE id = ?`, id)
	return name, explain("looking up an account", err)
}
