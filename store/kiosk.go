package store

import (
	"context"
	"crypto/rand"
	"strings"
	"time"
)

// PairingLife is how long a code pairs a screen: enough to walk to it.
const PairingLife = 10 * time.Minute

const (
	// codeLetters are the letters of a code, without those that are easily confused.
	codeLetters = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
	// codeLength makes 2^39 codes. With ten wrong codes a minute from an address, nobody
	// guesses one in ten minutes.
	codeLength = 8
)

// Kiosk is a screen that talks to one assistant.
type Kiosk struct {
	Name     string // for people, such as where it hangs
	ConfigID string // empty: the box's default assistant
}

// StartPairing creates a code that pairs one screen, once, within PairingLife. The
// account is created if it does not exist.
func (s *Store) StartPairing(ctx context.Context, account string, k Kiosk, at time.Time) (code string, err error) {
	code = newCode()
	amendAct(ctx, Object{Kind: "screen", Name: k.Name}, "")
	err = s.change(ctx, "beginning to pair a screen", func(ctx context.Context, c conn) error {
		num, _, err := accountNamed(ctx, c, account)
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, `DELETE FROM pairing WHERE expires_ms <= ?`, at.UnixMilli()); err != nil {
			return err
		}
		return execute(ctx, c,
			`INSERT INTO pairing (hash, account, name, config, expires_ms) VALUES (?, ?, ?, ?, ?)`,
			hash(plainCode(code)), num, k.Name, k.ConfigID, at.Add(PairingLife).UnixMilli())
	})
	return code, err
}

// Pair exchanges a code for the key of a screen, which can only open conversations with
// the screen's config. The error is ErrNotFound if there is no such code, or it was used
// or has expired.
func (s *Store) Pair(ctx context.Context, code string, at time.Time) (Credentials, Kiosk, error) {
	h, made := hash(plainCode(code)), newCredentials()
	made.KeyID, made.Role = randomText(keyIDLength), ClientKey
	// Looked up before anything is written, so that guessing does not load the writer.
	_, err := value[int64](ctx, s.keys, `SELECT expires_ms FROM pairing WHERE hash = ? AND expires_ms > ?`, h,
		at.UnixMilli())
	if err != nil {
		return Credentials{}, Kiosk{}, explain("looking up a code", err)
	}
	var k Kiosk
	request := ctx
	err = s.change(ctx, "pairing a screen", func(ctx context.Context, c conn) error {
		account, err := first(ctx, c, func(row scanner) (num int64, err error) {
			return num, row.Scan(&num, &k.Name, &k.ConfigID)
		},
			`DELETE FROM pairing WHERE hash = ? AND expires_ms > ? RETURNING account, name, config`, h, at.UnixMilli())
		if err != nil {
			return err
		}
		AmendAct(request, func(a *Act) {
			a.Who = Actor{Kind: ByScreen, ID: made.KeyID, Name: k.Name, Role: "screen"}
			a.On = Object{"screen", made.KeyID, k.Name}
		})
		return execute(ctx, c, `
			INSERT INTO key (id, account, label, role, api_hash, secret_hash, hint, created_ms, kiosk) VALUES (?, ?,
			  ?, ?, ?, ?, ?, ?, ?)`,
			made.KeyID, account, k.Name, made.Role, hash(made.APIKey), hash(made.SecretKey), hint(made.APIKey),
			at.UnixMilli(), k.ConfigID)
	})
	return made, k, err
}

// CountKiosks returns the number of paired screens.
func (s *Store) CountKiosks(ctx context.Context) (int, error) {
	n, err := value[int](ctx, s.read, `SELECT count(*) FROM key WHERE kiosk IS NOT NULL AND revoked_ms IS NULL`)
	return n, explain("counting the screens", err)
}

// newCode returns a code in the form XXXX-XXXX.
func newCode() string {
	const even = 256 - 256%len(codeLetters) // bytes from here on would favour the first letters
	var code []byte
	for random := make([]byte, 1); len(code) < codeLength; {
		rand.Read(random) // never fails: the program ends where the system has no randomness
		if int(random[0]) < even {
			code = append(code, codeLetters[int(random[0])%len(codeLetters)])
		}
	}
	return string(code[:codeLength/2]) + "-" + string(code[codeLength/2:])
}

// plainCode returns a typed code without separators, in capitals.
func plainCode(code string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(codeLetters, r) {
			return r
		}
		return -1
	}, strings.ToUpper(code))
}
