// Package server has a fleet's NATS server: who may connect to it with which rights, the server inside the hub, and
// the configuration of a stock nats-server that takes its place.
package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"parley/internal/durable"
)

// Trust holds the keys of a fleet: the operator's, which every server of the fleet trusts, those of the accounts of hub
// and boxes, and that of the account by which servers are managed. It signs the credentials of users, which servers
// accept without being told of them, and withdraws them.
//
// The hub's account has the streams. The account of boxes has none and may use some subjects of the hub's, since a
// server does not check to which subject its answers go: in one account, a box could have an answer of its choice sent
// to the subject that deletes a stream.
type Trust struct {
	file string

	operator, account, boxes, signing, system nkeys.KeyPair

	mu      sync.Mutex
	revoked map[string]int64 // public keys of users, and when they were revoked (Unix seconds)
}

// trustFile is what is stored of a Trust: the seeds of its keys, and who was revoked.
type trustFile struct {
	Operator string           `json:"operator"`
	Account  string           `json:"account"` // of the hub
	Boxes    string           `json:"boxes"`   // the account of boxes
	Signing  string           `json:"signing"` // signs users, so that the accounts' keys sign nothing
	System   string           `json:"system"`
	Revoked  map[string]int64 `json:"revoked"`
}

// OpenTrust reads the keys in the file trust.json of a folder, or makes them.
func OpenTrust(folder string) (*Trust, error) {
	t, err := ReadTrust(folder)
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	t = &Trust{file: filepath.Join(folder, trustName), revoked: map[string]int64{}}
	return t, t.create(folder)
}

const trustName = "trust.json"

// ReadTrust reads the keys in the file trust.json of a folder. The error is fs.ErrNotExist if there is none.
func ReadTrust(folder string) (*Trust, error) {
	t := &Trust{file: filepath.Join(folder, trustName), revoked: map[string]int64{}}
	text, err := os.ReadFile(t.file)
	if err != nil {
		return nil, fmt.Errorf("the fleet's keys: %w", err)
	}
	var f trustFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("the fleet's keys in %s are not readable (%w): restore the file from a backup; "+
			"without it every box must join again", t.file, err)
	}
	for _, k := range []struct {
		pair *nkeys.KeyPair
		seed string
		name string
	}{
		{&t.operator, f.Operator, "operator"},
		{&t.account, f.Account, "account"},
		{&t.boxes, f.Boxes, "boxes"},
		{&t.signing, f.Signing, "signing"},
		{&t.system, f.System, "system"},
	} {
		if *k.pair, err = nkeys.FromSeed([]byte(k.seed)); err != nil {
			return nil, fmt.Errorf("the key %q in %s: %w: restore the file from a backup", k.name, t.file, err)
		}
	}
	maps.Copy(t.revoked, f.Revoked)
	return t, nil
}

func (t *Trust) create(folder string) error {
	var errs [5]error
	t.operator, errs[0] = nkeys.CreateOperator()
	t.account, errs[1] = nkeys.CreateAccount()
	t.signing, errs[2] = nkeys.CreateAccount()
	t.system, errs[3] = nkeys.CreateAccount()
	t.boxes, errs[4] = nkeys.CreateAccount()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return t.write(t.revoked)
}

func (t *Trust) write(revoked map[string]int64) error {
	f := trustFile{Revoked: revoked}
	for _, k := range []struct {
		pair nkeys.KeyPair
		seed *string
	}{
		{t.operator, &f.Operator},
		{t.account, &f.Account},
		{t.boxes, &f.Boxes},
		{t.signing, &f.Signing},
		{t.system, &f.System},
	} {
		seed, err := k.pair.Seed()
		if err != nil {
			return err
		}
		*k.seed = string(seed)
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(t.file, text, 0o600)
}

// Revoke withdraws the credentials of the user with a public key, for ever. A running server learns of it when it is
// given Accounts.
func (t *Trust) Revoke(key string) error {
	if !nkeys.IsValidPublicUserKey(key) {
		return fmt.Errorf("%.80q is not the public key of a user", key)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.revoked[key]; ok {
		return nil
	}
	revoked := maps.Clone(t.revoked)
	revoked[key] = time.Now().Unix()
	if err := t.write(revoked); err != nil {
		return err
	}
	t.revoked = revoked
	return nil
}

// Accounts returns the JWTs of the accounts of hub and boxes, with all that are revoked.
func (t *Trust) Accounts() ([]string, error) {
	hub, err := t.account.PublicKey()
	if err != nil {
		return nil, err
	}
	first, err := t.accountJWT(t.account, "PARLEY", func(c *jwt.AccountClaims) {
		c.Limits.JetStreamLimits = jwt.JetStreamLimits{
			MemoryStorage: jwt.NoLimit,
			DiskStorage:   jwt.NoLimit,
			Streams:       jwt.NoLimit,
			Consumer:      jwt.NoLimit,
		}
		for _, s := range shared {
			c.Exports.Add(&jwt.Export{Name: s.subject, Subject: jwt.Subject(s.subject), Type: s.kind})
		}
	})
	if err != nil {
		return nil, err
	}
	second, err := t.accountJWT(t.boxes, "BOXES", func(c *jwt.AccountClaims) {
		for _, s := range shared {
			c.Imports.Add(&jwt.Import{Name: s.subject, Subject: jwt.Subject(s.subject), Account: hub, Type: s.kind})
		}
	})
	return []string{first, second}, err
}

// shared are the subjects of the hub's account that boxes may use, each as far as its own permissions allow. To a
// service a box sends; of a stream it hears.
var shared = []struct {
	subject string
	kind    jwt.ExportType
}{
	{"parley.facts.*", jwt.Service},
	{"parley.sound.*", jwt.Service},
	{"$KV.parley_state.*", jwt.Service},
	{"$KV.parley_want.*.head", jwt.Stream},
	{"$JS.API.DIRECT.GET.PARLEY_FACTS.parley.facts.*", jwt.Service},
	{"$JS.API.DIRECT.GET.KV_parley_want.$KV.parley_want.>", jwt.Service},
	{"$JS.API.DIRECT.GET.OBJ_parley_plugins", jwt.Service},
	{"$JS.API.DIRECT.GET.OBJ_parley_plugins.>", jwt.Service},
}

func (t *Trust) systemAccount() (string, error) { return t.accountJWT(t.system, "SYS", nil) }

func (t *Trust) accountJWT(pair nkeys.KeyPair, name string, more func(*jwt.AccountClaims)) (string, error) {
	key, err := pair.PublicKey()
	if err != nil {
		return "", err
	}
	c := jwt.NewAccountClaims(key)
	c.Name = name
	if more != nil {
		signing, err := t.signing.PublicKey()
		if err != nil {
			return "", err
		}
		c.SigningKeys.Add(signing)
		t.mu.Lock()
		for key := range t.revoked {
			// Keys are never used for a second JWT, so all that were signed are revoked, also those of a hub whose
			// clock was ahead.
			c.RevokeAt(key, time.Unix(1<<40, 0))
		}
		t.mu.Unlock()
		more(c)
	}
	return c.Encode(t.operator)
}

func (t *Trust) operatorJWT() (string, error) {
	var keys [2]string
	var err error
	for i, pair := range []nkeys.KeyPair{t.operator, t.system} {
		if keys[i], err = pair.PublicKey(); err != nil {
			return "", err
		}
	}
	c := jwt.NewOperatorClaims(keys[0])
	c.Name, c.SystemAccount = "PARLEY", keys[1]
	return c.Encode(t.operator)
}

// Sign signs what boxes are to believe only their hub. They know the key from their credentials, which it signed too.
func (t *Trust) Sign(data []byte) ([]byte, error) { return t.signing.Sign(data) }
