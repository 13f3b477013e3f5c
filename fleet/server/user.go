package server

import (
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"parley/fleet"
)

// User is somebody who may connect to the servers of a fleet.
type User struct {
	Key  string // public, by which the user is revoked
	JWT  string // name and rights, signed by the fleet
	Seed string // the private key, which is stored nowhere else
}

// Creds returns the user as a file that NATS clients read.
func (u User) Creds() ([]byte, error) { return jwt.FormatUserConfig(u.JWT, []byte(u.Seed)) }

// Box makes credentials of a box: what it may send and hear is its own, and what is written for all boxes. The zero
// time: they do not expire.
func (t *Trust) Box(name string, until time.Time) (User, error) {
	if err := fleet.CheckName(name); err != nil {
		return User{}, err
	}
	return t.sign(name, until, jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{
			"$KV.parley_state." + name,
			"parley.facts." + name,
			"parley.sound." + name,
			// Each of these reads one stored message. None makes a consumer: the server sends what a consumer reads
			// to any subject that its maker names, also to those of other boxes.
			"$JS.API.DIRECT.GET.PARLEY_FACTS.parley.facts." + name,
			"$JS.API.DIRECT.GET.KV_parley_want.$KV.parley_want." + name + ".>",
			"$JS.API.DIRECT.GET.OBJ_parley_plugins", // the parts of a file, by their sequence
			"$JS.API.DIRECT.GET.OBJ_parley_plugins.>",
		}},
		Sub: jwt.Permission{Allow: jwt.StringList{
			"_INBOX_" + name + ".>",
			"$KV.parley_want." + name + ".head",
		}},
	}, t.signing, t.boxes)
}

// Reader makes credentials of a program that reads all facts, by the consumer of its name that the hub has made
// (bus.Hub.AddReader).
func (t *Trust) Reader(name string, until time.Time) (User, error) {
	if err := fleet.CheckName(name); err != nil {
		return User{}, err
	}
	return t.sign("reader "+name, until, jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{
			"$JS.API.STREAM.INFO.PARLEY_FACTS", // clients ask before they read
			"$JS.API.CONSUMER.INFO.PARLEY_FACTS." + name,
			"$JS.API.CONSUMER.MSG.NEXT.PARLEY_FACTS." + name,
			"$JS.ACK.PARLEY_FACTS." + name + ".>",
		}},
		Sub: jwt.Permission{Allow: jwt.StringList{"_INBOX_" + name + ".>"}},
	}, t.signing, t.account)
}

// Hub makes credentials of the hub, which may do anything in its account. They last until they are forgotten:
// the hub makes new ones at each start.
func (t *Trust) Hub() (User, error) {
	return t.sign("hub", time.Time{}, jwt.Permissions{}, t.signing, t.account)
}

// System makes credentials that may do one thing: tell a server who is revoked.
func (t *Trust) System() (User, error) {
	return t.sign("hub", time.Time{}, jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{"$SYS.REQ.CLAIMS.UPDATE"}},
		Sub: jwt.Permission{Allow: jwt.StringList{"_INBOX.>"}},
	}, t.system, nil)
}

// sign makes a user of the account issuer, or, if that is nil, of the account whose key signs.
func (t *Trust) sign(name string, until time.Time, p jwt.Permissions, by, issuer nkeys.KeyPair) (User, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return User{}, err
	}
	key, err := pair.PublicKey()
	if err != nil {
		return User{}, err
	}
	c := jwt.NewUserClaims(key)
	c.Name, c.Permissions = name, p
	if issuer != nil {
		if c.IssuerAccount, err = issuer.PublicKey(); err != nil {
			return User{}, err
		}
	}
	if !until.IsZero() {
		c.Expires = until.Unix()
	}
	token, err := c.Encode(by)
	if err != nil {
		return User{}, err
	}
	seed, err := pair.Seed()
	return User{Key: key, JWT: token, Seed: string(seed)}, err
}
