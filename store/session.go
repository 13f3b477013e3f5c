package store

import (
	"context"
	"errors"
	"time"
)

const (
	// SignInLife is how long a link signs a browser in: enough to carry it to another
	// machine.
	SignInLife = 10 * time.Minute
	// SessionIdle ends an unused session: a working day and its evening, so that a
	// browser must sign in again the next morning.
	SessionIdle = 12 * time.Hour
	// SessionLife ends a session however much it is used: a page that is left open polls
	// the box, and would otherwise stay signed in for ever.
	SessionLife = 30 * 24 * time.Hour
	// usedResolution is the resolution of the time of last use: a write every few
	// minutes, not one a request.
	usedResolution = 5 * time.Minute
)

// Session is a browser that is signed in to the console, as an operator.
type Session struct {
	ID        string
	Account   string // name of the account that it acts for
	Browser   string // its User-Agent
	Address   string // from which it signed in
	CreatedMS int64  // Unix milliseconds, as all times here
	UsedMS    int64  // up to five minutes late
	ExpiresMS int64  // when it ends if it is not used any more
}

// endsMS is the time in Unix milliseconds at which a session ends if it is not used any
// more.
const endsMS = ` min(session.expires_ms, session.used_ms + 43200000) `

// validSession is the condition that a session is valid at the time (Unix milliseconds)
// of the next parameter.
const validSession = endsMS + `> ? `

// StartSignIn creates a link that signs one browser in, once, within SignInLife. The
// session acts for the account at first, which is created if it does not exist; empty
// means the account of the oldest valid operator key.
func (s *Store) StartSignIn(ctx context.Context, account string, at time.Time) (link string, err error) {
	link = randomText(apiKeyLength)
	err = s.change(ctx, "beginning to sign in", func(ctx context.Context, c conn) error {
		num, err := operatorAccount(ctx, c, account, at)
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, `DELETE FROM sign_in WHERE expires_ms <= ?`, at.UnixMilli()); err != nil {
			return err
		}
		return execute(ctx, c, `INSERT INTO sign_in (hash, account, expires_ms) VALUES (?, ?, ?)`,
			hash(link), num, at.Add(SignInLife).UnixMilli())
	})
	return link, err
}

// operatorAccount returns the number of the account with that name, which is created if it does
// not exist. Empty means the account of the oldest valid operator key.
func operatorAccount(ctx context.Context, c conn, name string, at time.Time) (num int64, err error) {
	if name == "" {
		name, err = value[string](ctx, c, `
			SELECT account.name FROM key JOIN account ON account.num = key.account
			 WHERE key.role = ? AND`+validKey+`ORDER BY key.num LIMIT 1`, OperatorKey, at.UnixMilli())
		if errors.Is(err, ErrNotFound) {
			name, err = firstAccount, nil
		}
		if err != nil {
			return 0, err
		}
	}
	num, _, err = accountNamed(ctx, c, name)
	return num, err
}

// firstAccount is the account of a box without keys.
const firstAccount = "default"

// SignIn exchanges a sign-in link for a console session, and returns the session's
// cookie, which is not stored. The error is ErrNotFound if there is no such link, or it
// was used or has expired.
func (s *Store) SignIn(ctx context.Context, link, browser, address string, at time.Time) (cookie string, made Session,
	err error) {
	h, now := hash(link), at.UnixMilli()
	// Looked up before anything is written, so that guessing does not load the writer.
	if _, err := value[int64](ctx, s.keys, `SELECT expires_ms FROM sign_in WHERE hash = ? AND expires_ms > ?`, h,
		now); err != nil {
		return "", Session{}, explain("looking up a link", err)
	}
	cookie, made = newSession(ctx, browser, address, at)
	err = s.change(ctx, "signing in", func(ctx context.Context, c conn) error {
		num, err := value[int64](ctx, c, `DELETE FROM sign_in WHERE hash = ? AND expires_ms > ? RETURNING account`, h,
			now)
		if err != nil {
			return err
		}
		return insertSession(ctx, c, cookie, num, &made)
	})
	return cookie, made, err
}

// newSession returns a session that is not stored yet, and its cookie. It is who does the act of
// ctx, if there is one.
func newSession(ctx context.Context, browser, address string, at time.Time) (cookie string, made Session) {
	made = Session{
		ID:        randomText(keyIDLength),
		Browser:   browser,
		Address:   address,
		CreatedMS: at.UnixMilli(),
		UsedMS:    at.UnixMilli(),
		ExpiresMS: at.Add(SessionIdle).UnixMilli(),
	}
	AmendAct(ctx, func(a *Act) {
		a.Who = Actor{Kind: BySession, ID: made.ID, Role: string(OperatorKey)}
		a.On = Object{"session", made.ID, browser}
	})
	return randomText(secretLength), made
}

// insertSession stores a session of the account with a number, and closes the first visit: the
// box has an operator now. It sets the session's account.
func insertSession(ctx context.Context, c conn, cookie string, account int64, made *Session) error {
	now := made.CreatedMS
	if err := execute(ctx, c, `DELETE FROM session WHERE`+endsMS+`<= ?`, now); err != nil {
		return err
	}
	if err := execute(ctx, c, `UPDATE console SET opened_ms = ? WHERE opened_ms IS NULL`, now); err != nil {
		return err
	}
	var err error
	if made.Account, err = value[string](ctx, c, `SELECT name FROM account WHERE num = ?`, account); err != nil {
		return err
	}
	return execute(ctx, c, `
		INSERT INTO session (id, hash, account, browser, address, created_ms, used_ms, expires_ms) VALUES (?, ?,
		  ?, ?, ?, ?, ?, ?)`,
		made.ID, hash(cookie), account, made.Browser, made.Address, now, now,
		time.UnixMilli(now).Add(SessionLife).UnixMilli())
}

// OpenSession returns the grant of a session's cookie at that time: that of an operator's
// key of its account. The error is ErrNotFound if there is no such session, or it has
// ended.
func (s *Store) OpenSession(ctx context.Context, cookie string, at time.Time) (Grant, error) {
	g, used := Grant{Role: OperatorKey, apiHash: hash(cookie)}, int64(0)
	err := scanFirst(ctx, s.keys, []any{&g.AccountID, &g.Session, &used}, `
		SELECT a.id, session.id, session.used_ms FROM session JOIN account a ON a.num = session.account
		 WHERE session.hash = ? AND`+validSession, g.apiHash, at.UnixMilli())
	if err != nil {
		return Grant{}, explain("looking up a session", err)
	}
	s.noteUse(ctx, "noting that a session is used", used, at,
		`UPDATE session SET used_ms = max(used_ms, ?) WHERE hash = ?`, g.apiHash)
	return g, nil
}

// Sessions returns the valid sessions, newest first.
func (s *Store) Sessions(ctx context.Context, at time.Time) ([]Session, error) {
	all, err := query(ctx, s.read, func(row scanner) (n Session, err error) {
		return n, row.Scan(&n.ID, &n.Account, &n.Browser, &n.Address, &n.CreatedMS, &n.UsedMS, &n.ExpiresMS)
	}, `
		SELECT session.id, a.name, browser, address, session.created_ms, used_ms,`+endsMS+`
		  FROM session JOIN account a ON a.num = session.account
		 WHERE`+validSession+`ORDER BY session.num DESC`, at.UnixMilli())
	return all, explain("listing the sessions", err)
}

// EndSession signs a browser out, and ends its conversations. The error is ErrNotFound if
// there is no such session.
func (s *Store) EndSession(ctx context.Context, id string) error {
	return s.changeKeys(ctx, "ending session "+id, func(ctx context.Context, c conn) error {
		return changeOne(ctx, c, `DELETE FROM session WHERE id = ?`, id)
	})
}

// EndSessions ends all sessions, and invalidates unused links.
func (s *Store) EndSessions(ctx context.Context) (ended int64, err error) {
	err = s.changeKeys(ctx, "ending all sessions", func(ctx context.Context, c conn) error {
		if _, err := c.ExecContext(ctx, `DELETE FROM sign_in`); err != nil {
			return err
		}
		r, err := c.ExecContext(ctx, `DELETE FROM session`)
		if err != nil {
			return err
		}
		ended, err = r.RowsAffected()
		return err
	})
	return ended, err
}

// SwitchAccount makes a session act for another account. The error is ErrNotFound if
// there is no such session or account.
func (s *Store) SwitchAccount(ctx context.Context, id, account string) error {
	return s.change(ctx, "choosing an account", func(ctx context.Context, c conn) error {
		return changeOne(ctx, c,
			`UPDATE session SET account = a.num FROM account a WHERE a.name = ? AND a.num <> 0 AND session.id = ?`,
			account, id)
	})
}
