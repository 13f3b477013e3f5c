package store

import (
	"context"
	"errors"
	"time"
)

const (
	// SignInLife is how long a link signs a browser in: enough to carry it to
	// another machine.
	SignInLife = 10 * time.Minute
	// SessionIdle ends a session that nobody uses: a working day with its
	// evening, so that who comes back the next morning shows again that he may.
	SessionIdle = 12 * time.Hour
	// SessionLife ends it however much it is used. A page that is left open asks
	// the box now and then, and would else be signed in for ever.
	SessionLife = 30 * 24 * time.Hour
	// usedResolution is how exactly it is kept when a session was last used: a write
	// every few minutes, not with every request.
	usedResolution = 5 * time.Minute
)

// Session is a browser that is signed in to the console, as an operator.
type Session struct {
	ID        string
	Account   string // the name of the one that it acts for
	Browser   string // what it says of itself
	Address   string // from where it signed in
	CreatedMS int64  // Unix milliseconds, as the others
	UsedMS    int64  // five minutes behind at most
	ExpiresMS int64  // when it ends if nobody uses it any more
}

// endsMS is the time in Unix milliseconds at which a session ends that nobody
// uses any more.
const endsMS = ` min(session.expires_ms, session.used_ms + 43200000) `

// validSession is the condition that a session holds at the time (Unix
// milliseconds) that is the next parameter.
const validSession = endsMS + `> ? `

// StartSignIn makes what signs one browser in, once, until SignInLife is over.
// The account, which is the one that it acts for at first, is made where there is
// none; empty is that of the oldest operator's key that is good.
func (s *Store) StartSignIn(ctx context.Context, account string, at time.Time) (link string, err error) {
	link = randomText(apiKeyLength)
	err = s.change(ctx, "beginning to sign in", func(ctx context.Context, c conn) error {
		if account == "" {
			account, err = value[string](ctx, c, `
				SELECT account.name FROM key JOIN account ON account.num = key.account
				 WHERE key.role = ? AND`+validKey+`ORDER BY key.num LIMIT 1`, OperatorKey, at.UnixMilli())
			if errors.Is(err, ErrNotFound) {
				account, err = firstAccount, nil
			}
			if err != nil {
				return err
			}
		}
		num, _, err := accountNamed(ctx, c, account)
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

// firstAccount owns what is made before anybody asks for accounts.
const firstAccount = "default"

// SignIn makes a session for who has a link, and returns what its cookie is to
// hold, which is not kept. ErrNotFound: there is no such link, or it was used, or
// its time is over.
func (s *Store) SignIn(ctx context.Context, link, browser, address string, at time.Time) (cookie string, made Session,
	err error) {
	h, now := hash(link), at.UnixMilli()
	// Looked up before anything is written: a guesser keeps no writer busy.
	if _, err := value[int64](ctx, s.keys, `SELECT expires_ms FROM sign_in WHERE hash = ? AND expires_ms > ?`, h,
		now); err != nil {
		return "", Session{}, explain("looking up a link", err)
	}
	cookie, made = randomText(secretLength), Session{
		ID:        randomText(keyIDLength),
		Browser:   browser,
		Address:   address,
		CreatedMS: now,
		UsedMS:    now,
		ExpiresMS: at.Add(SessionIdle).UnixMilli(),
	}
	err = s.change(ctx, "signing in", func(ctx context.Context, c conn) error {
		num, err := value[int64](ctx, c, `DELETE FROM sign_in WHERE hash = ? AND expires_ms > ? RETURNING account`, h,
			now)
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, `DELETE FROM session WHERE`+endsMS+`<= ?`, now); err != nil {
			return err
		}
		made.Account, err = value[string](ctx, c, `SELECT name FROM account WHERE num = ?`, num)
		if err != nil {
			return err
		}
		return execute(ctx, c, `
			INSERT INTO session (id, hash, account, browser, address, created_ms, used_ms, expires_ms) VALUES (?, ?,
			  ?, ?, ?, ?, ?, ?)`,
			made.ID, hash(cookie), num, browser, address, now, now, at.Add(SessionLife).UnixMilli())
	})
	return cookie, made, err
}

// OpenSession returns what a session's cookie opens at that time: what an
// operator's key of its account does. ErrNotFound: there is no such session, or
// it was ended, or its time is over.
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

// Sessions returns those that hold, the newest first.
func (s *Store) Sessions(ctx context.Context, at time.Time) ([]Session, error) {
	all, err := query(ctx, s.read, func(row scanner) (n Session, err error) {
		return n, row.Scan(&n.ID, &n.Account, &n.Browser, &n.Address, &n.CreatedMS, &n.UsedMS, &n.ExpiresMS)
	}, `
		SELECT session.id, a.name, browser, address, session.created_ms, used_ms,`+endsMS+`
		  FROM session JOIN account a ON a.num = session.account
		 WHERE`+validSession+`ORDER BY session.num DESC`, at.UnixMilli())
	return all, explain("listing the sessions", err)
}

// EndSession signs a browser out, and ends the conversations that it holds.
// ErrNotFound: there is no such session.
func (s *Store) EndSession(ctx context.Context, id string) error {
	return s.changeKeys(ctx, "ending session "+id, func(ctx context.Context, c conn) error {
		return changeOne(ctx, c, `DELETE FROM session WHERE id = ?`, id)
	})
}

// EndSessions ends all of them, and makes the links useless that were not used.
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

// SwitchAccount has a session act for another account. ErrNotFound: there is no such
// session, or no such account.
func (s *Store) SwitchAccount(ctx context.Context, id, account string) error {
	return s.change(ctx, "choosing an account", func(ctx context.Context, c conn) error {
		return changeOne(ctx, c,
			`UPDATE session SET account = a.num FROM account a WHERE a.name = ? AND a.num <> 0 AND session.id = ?`,
			account, id)
	})
}
