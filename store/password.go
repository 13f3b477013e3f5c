package store

import (
	"context"
	"time"

	"parley/internal/password"
)

// ConsolePassword returns the hash of the console's password, as [password.Hash] makes it, and
// when it was set in Unix milliseconds. The error is ErrNotFound if there is no password.
func (s *Store) ConsolePassword(ctx context.Context) (hash string, setMS int64, err error) {
	err = scanFirst(ctx, s.keys, []any{&hash, &setMS},
		`SELECT password, password_ms FROM console WHERE password IS NOT NULL`)
	return hash, setMS, explain("reading the console's password", err)
}

// SetConsolePassword sets the console's password, and ends all sessions except one, which may be
// empty, and all sign-in links. The caller has checked the password. It closes the first visit.
func (s *Store) SetConsolePassword(ctx context.Context, secret, except string, at time.Time) (ended int64, err error) {
	hash := password.Hash(secret)
	err = s.changeKeys(ctx, "setting the console's password", func(ctx context.Context, c conn) error {
		ended = 0
		err := execute(ctx, c, `UPDATE console SET password = ?, password_ms = ?, opened_ms = coalesce(opened_ms, ?)`,
			hash, at.UnixMilli(), at.UnixMilli())
		if err != nil {
			return err
		}
		if err := execute(ctx, c, `DELETE FROM sign_in`); err != nil {
			return err
		}
		return executeCounting(ctx, c, &ended, `DELETE FROM session WHERE id <> ?`, except)
	})
	return ended, err
}

// SignInWithPassword is SignIn for a client whose password the caller has compared with hash. The
// session acts for the account of the oldest valid operator key. The error is ErrNotFound if the
// password was changed in the meantime.
func (s *Store) SignInWithPassword(ctx context.Context, hash, browser, address string, at time.Time) (cookie string,
	made Session, err error) {
	cookie, made = newSession(ctx, browser, address, at)
	err = s.change(ctx, "signing in", func(ctx context.Context, c conn) error {
		_, err := value[int64](ctx, c, `SELECT id FROM console WHERE password = ?`, hash)
		if err != nil {
			return err
		}
		return insertFirstSession(ctx, c, cookie, at, &made)
	})
	return cookie, made, err
}

// insertFirstSession stores a session for the account of the oldest valid operator key.
func insertFirstSession(ctx context.Context, c conn, cookie string, at time.Time, made *Session) error {
	num, err := operatorAccount(ctx, c, "", at)
	if err != nil {
		return err
	}
	return insertSession(ctx, c, cookie, num, made)
}

// SetUpState is how far a box is set up.
type SetUpState struct {
	HasOperator bool // somebody signed in to the console, set its password, or used an operator's key
	Done        bool // the box was set up
}

// SetUpState returns how far the box is set up.
func (s *Store) SetUpState(ctx context.Context) (state SetUpState, err error) {
	err = scanFirst(ctx, s.keys, []any{&state.HasOperator, &state.Done}, `
		SELECT opened_ms IS NOT NULL OR EXISTS (SELECT 1 FROM key WHERE role = ? AND used_ms IS NOT NULL),
		       set_up_ms IS NOT NULL FROM console`, OperatorKey)
	return state, explain("looking whether the box is set up", err)
}

// FirstVisit sets the password and returns a session, for the first operator of the box. The error
// is ErrNotFound if the box has had one, so that only one of two visitors goes on. The caller has
// checked the password.
func (s *Store) FirstVisit(ctx context.Context, secret, browser, address string, at time.Time) (cookie string,
	made Session, err error) {
	hash := password.Hash(secret)
	cookie, made = newSession(ctx, browser, address, at)
	err = s.change(ctx, "setting the box up", func(ctx context.Context, c conn) error {
		err := changeOne(ctx, c, `
			UPDATE console SET password = ?, password_ms = ?, opened_ms = ? WHERE opened_ms IS NULL
			   AND NOT EXISTS (SELECT 1 FROM key WHERE role = ? AND used_ms IS NOT NULL)`,
			hash, at.UnixMilli(), at.UnixMilli(), OperatorKey)
		if err != nil {
			return err
		}
		return insertFirstSession(ctx, c, cookie, at, &made)
	})
	return cookie, made, err
}

// FinishSetUp closes set-up and the first visit for good.
func (s *Store) FinishSetUp(ctx context.Context, at time.Time) error {
	return s.change(ctx, "closing set-up", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `
			UPDATE console SET opened_ms = coalesce(opened_ms, ?), set_up_ms = coalesce(set_up_ms, ?)`,
			at.UnixMilli(), at.UnixMilli())
	})
}
