package sip

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

// The errors of authorize.
var (
	errNoPassword    = errors.New("the peer asks for a password, and the trunk has none in the settings")
	errWrongPassword = errors.New("the peer does not accept the user and password of the trunk")
)

// authorize adds to req the credentials that the challenge res asks for, one for each
// realm. The caller sends req again with the next CSeq. It returns errWrongPassword if
// req has already shown credentials to a realm that asks again without calling them
// stale.
func (t *trunk) authorize(req *sip.Request, res *sip.Response) error {
	if t.User == "" || t.Password == "" {
		return errNoPassword
	}
	asks, shows := "WWW-Authenticate", "Authorization"
	if res.StatusCode == sip.StatusProxyAuthRequired {
		asks, shows = "Proxy-Authenticate", "Proxy-Authorization"
	}
	var (
		challenges []*digest.Challenge
		unknown    string
	)
	for _, h := range res.GetHeaders(asks) {
		c, err := digest.ParseChallenge(h.Value())
		if err != nil {
			unknown = h.Value()
			continue
		}
		c.Algorithm = strings.ToUpper(c.Algorithm) // "md5" is seen
		for i, q := range c.QOP {
			c.QOP[i] = strings.TrimSpace(q)
		}
		if !digest.CanDigest(c) {
			unknown = h.Value()
		} else if !hasRealm(challenges, c.Realm) { // the peer prefers its first (RFC 8760, section 2.4)
			challenges = append(challenges, c)
		}
	}
	if len(challenges) == 0 {
		return fmt.Errorf("the peer asks for a proof of identity that the box cannot give: %.200q", unknown)
	}
	for _, c := range challenges {
		if err := t.show(req, shows, c); err != nil {
			return err
		}
	}
	return nil
}

func hasRealm(all []*digest.Challenge, realm string) bool {
	return slices.ContainsFunc(all, func(c *digest.Challenge) bool { return c.Realm == realm })
}

// show puts the credentials for one challenge into the header of a request, in place of
// older ones for the same realm.
func (t *trunk) show(req *sip.Request, header string, c *digest.Challenge) error {
	older := req.GetHeaders(header)
	for req.RemoveHeader(header) {
	}
	for _, h := range older {
		shown, err := digest.ParseCredentials(h.Value())
		if err != nil || shown.Realm != c.Realm {
			req.AppendHeader(h)
		} else if !c.Stale {
			return errWrongPassword
		}
	}
	credentials, err := digest.Digest(c, digest.Options{
		Method:   req.Method.String(),
		URI:      req.Recipient.String(),
		GetBody:  func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(req.Body())), nil },
		Username: t.User,
		Password: t.Password,
	})
	if err != nil {
		return err
	}
	req.AppendHeader(sip.NewHeader(header, credentials.String()))
	return nil
}
