// Package bus carries what boxes and their hub tell each other (package fleet) over NATS: a Box is the side of a box,
// a Hub that of the hub. Neither copies anything to disk: who sends keeps it until it is acknowledged.
package bus

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"parley/fleet"
)

// Join is what a box needs to join a fleet. It is one file, NAME.join, with the box's private key.
type Join struct {
	Box     string
	Hub     string   // the hub's name, for messages
	Servers []string // URLs such as tls://hub.local:4222, which are tried in this order
	JWT     string   // who the box is and what it may do, signed by the fleet
	Seed    string   // the box's private key
	// Authority is the certificate (PEM) that signed the servers'; empty: one that the system trusts.
	Authority []byte

	file string // from which it was read, for messages
}

const (
	joinBox     = "# box: "
	joinHub     = "# hub: "
	joinServers = "# servers: "
)

// Text returns the file.
func (j Join) Text() ([]byte, error) {
	creds, err := jwt.FormatUserConfig(j.JWT, []byte(j.Seed))
	if err != nil {
		return nil, err
	}
	hub := strings.Join(strings.Fields(j.Hub), " ") // on one line
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Joins the box %s to the hub %s: on the box, set fleet.join to this file's name.\n", j.Box, hub)
	b.WriteString("# It has a private key. Who reads it can pose as the box.\n#\n")
	fmt.Fprintf(&b, "%s%s\n%s%s\n%s%s\n\n", joinBox, j.Box, joinHub, hub, joinServers, strings.Join(j.Servers, " "))
	b.Write(creds)
	b.WriteByte('\n')
	b.Write(j.Authority)
	return b.Bytes(), nil
}

// ReadJoin reads a file that Text made.
func ReadJoin(path string) (Join, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Join{}, fmt.Errorf("fleet.join: %w: copy there the file that the hub made for this box "+
			"(parley hub boxes NAME --join)", err)
	}
	j, err := parseJoin(text)
	if err != nil {
		return Join{}, fmt.Errorf("fleet.join: %s %w: copy it again from the hub, or make a new one there "+
			"(parley hub boxes NAME --join)", path, err)
	}
	j.file = path
	return j, nil
}

func parseJoin(text []byte) (Join, error) {
	var j Join
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if v, ok := strings.CutPrefix(line, joinBox); ok {
			j.Box = v
		} else if v, ok := strings.CutPrefix(line, joinHub); ok {
			j.Hub = v
		} else if v, ok := strings.CutPrefix(line, joinServers); ok {
			j.Servers = strings.Fields(v)
		}
	}
	if j.Box == "" || j.Hub == "" || len(j.Servers) == 0 {
		return j, errors.New("does not name its box, hub and servers in its first lines")
	}
	if err := fleet.CheckName(j.Box); err != nil {
		return j, fmt.Errorf("names a box that cannot be: %w", err)
	}
	for _, s := range j.Servers {
		// Connections are encrypted either way.
		if u, err := url.Parse(s); err != nil || u.Scheme != "tls" && u.Scheme != "nats" || u.Host == "" {
			return j, fmt.Errorf("names the server %.100q, which is not a URL such as tls://hub.local:4222", s)
		}
	}
	var err error
	if j.JWT, err = jwt.ParseDecoratedJWT(text); err != nil {
		return j, fmt.Errorf("has no credentials: %w", err)
	}
	claims, err := j.claims()
	if err != nil {
		return j, err
	}
	pair, err := jwt.ParseDecoratedUserNKey(text)
	if err != nil {
		return j, fmt.Errorf("has no private key: %w", err)
	}
	defer pair.Wipe()
	key, err := pair.PublicKey()
	if err != nil {
		return j, fmt.Errorf("has no private key: %w", err)
	}
	if key != claims.Subject || claims.Name != j.Box {
		return j, errors.New("is put together from the files of several boxes")
	}
	seed, err := pair.Seed()
	if err != nil {
		return j, fmt.Errorf("has no private key: %w", err)
	}
	j.Seed = string(seed)
	j.Authority = certificates(text)
	return j, nil
}

// claims returns what the box's credentials say.
func (j Join) claims() (*jwt.UserClaims, error) {
	c, err := jwt.DecodeUserClaims(j.JWT)
	if err != nil {
		return nil, fmt.Errorf("has credentials that are not readable: %w", err)
	}
	return c, nil
}

// Key returns the public key of the box.
func (j Join) Key() (string, error) {
	c, err := j.claims()
	if err != nil {
		return "", err
	}
	return c.Subject, nil
}

// Expires returns when the credentials expire; zero: never.
func (j Join) Expires() time.Time {
	c, err := j.claims()
	if err != nil || c.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(c.Expires, 0)
}

// certificates returns the certificates in text.
func certificates(text []byte) []byte {
	var all []byte
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return all
		}
		if block.Type == "CERTIFICATE" {
			all = append(all, pem.EncodeToMemory(block)...)
		}
	}
}

// roots returns whom a client of the servers trusts; nil: whom the system trusts.
func roots(authority []byte) (*x509.CertPool, error) {
	if len(authority) == 0 {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, errors.New("the certificate of the hub's authority is not readable")
	}
	return pool, nil
}

// sign answers a server's challenge with the private key of a seed.
func sign(seed string) func([]byte) ([]byte, error) {
	return func(nonce []byte) ([]byte, error) {
		pair, err := nkeys.FromSeed([]byte(seed))
		if err != nil {
			return nil, err
		}
		defer pair.Wipe()
		return pair.Sign(nonce)
	}
}
