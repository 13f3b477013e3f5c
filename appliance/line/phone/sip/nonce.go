package sip

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

const (
	// nonceLife is how long a challenge may be answered. A telephone answers at once; one
	// that reuses a challenge gets a new one, without asking its user.
	nonceLife = 5 * time.Minute
	// maxNonces bounds the challenges whose use is counted. When there are more, old ones are
	// refused as stale, and telephones ask for new ones.
	maxNonces = 4096
	realm     = "parley"
	stampSize = 8 + 4 // when a challenge was made, and what makes it unlike others of then
	sealSize  = 16
)

// nonces makes challenges of which nothing has to be stored until they are answered.
type nonces struct {
	secret [32]byte

	mu    sync.Mutex
	since time.Time      // challenges made before are stale
	used  map[string]int // the highest count with which a challenge has been answered
}

func newNonces() *nonces {
	n := &nonces{used: map[string]int{}}
	_, _ = rand.Read(n.secret[:]) // never fails (crypto/rand)
	return n
}

// challenge returns a challenge for an address.
func (n *nonces) challenge(peer netip.Addr, now time.Time) string {
	var stamp [stampSize]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(now.UnixMilli()))
	_, _ = rand.Read(stamp[8:]) // never fails
	return hex.EncodeToString(append(stamp[:], n.seal("nonce", string(stamp[:]), peer.String())[:sealSize]...))
}

// seal returns a code that only the box can make.
func (n *nonces) seal(parts ...string) []byte {
	h := hmac.New(sha256.New, n.secret[:])
	h.Write([]byte(strings.Join(parts, "\x00")))
	return h.Sum(nil)
}

// use reports whether a challenge was made for an address, is young enough, and has not
// been answered with this count.
func (n *nonces) use(nonce string, count int, peer netip.Addr, now time.Time) bool {
	raw, err := hex.DecodeString(nonce)
	if err != nil || len(raw) != stampSize+sealSize {
		return false
	}
	made := time.UnixMilli(int64(binary.BigEndian.Uint64(raw[:8])))
	sealed := n.seal("nonce", string(raw[:stampSize]), peer.String())[:sealSize]
	if subtle.ConstantTimeCompare(raw[stampSize:], sealed) != 1 || now.Sub(made) > nonceLife || made.After(now) {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if made.Before(n.since) {
		return false
	}
	if last, seen := n.used[nonce]; seen && count <= last {
		return false
	}
	if len(n.used) >= maxNonces {
		clear(n.used)
		n.since = now
	}
	n.used[nonce] = count
	return true
}

// tag returns the tag of the box for a request: the same for its repetitions, without
// storing any.
func (e *Endpoint) tag(req *sip.Request) string {
	branch, _ := req.Via().Params.Get("branch")
	return hex.EncodeToString(e.nonces.seal("tag", string(*req.CallID()), tagOf(req.From().Params), branch,
		req.CSeq().Value())[:8])
}

// authenticate returns the trunk whose password a request shows (RFC 8760). Without one it
// returns the challenge to answer with; none if no trunk has a password.
func (e *Endpoint) authenticate(f *flow, req *sip.Request) (*trunk, []sip.Header) {
	if req.Method != sip.INVITE && req.Method != sip.OPTIONS {
		return nil, nil
	}
	peer, now := f.remote.Addr(), time.Now()
	stale := false
	for _, h := range req.GetHeaders("authorization") {
		shown, err := digest.ParseCredentials(h.Value())
		if err != nil {
			continue
		}
		t := e.trunkOf(shown, req.Method)
		if t == nil {
			return nil, nil
		}
		if e.nonces.use(shown.Nonce, shown.Nc, peer, now) {
			return t, nil
		}
		stale = true
	}
	any := false
	for _, t := range e.trunks {
		any = any || t.User != "" && t.Password != ""
	}
	if !any {
		return nil, nil
	}
	// Common telephones give up at a challenge for SHA-256, even behind one for MD5. Answers
	// with SHA-256 are taken all the same.
	c := digest.Challenge{
		Realm:     realm,
		Nonce:     e.nonces.challenge(peer, now),
		Algorithm: "MD5",
		QOP:       []string{"auth"},
		Stale:     stale,
	}
	return nil, []sip.Header{sip.NewHeader("WWW-Authenticate", c.String())}
}

// trunkOf returns the trunk with the user of credentials if they show its password.
func (e *Endpoint) trunkOf(shown *digest.Credentials, method sip.RequestMethod) *trunk {
	algorithm := strings.ToUpper(shown.Algorithm)
	if shown.Realm != realm || shown.Userhash || algorithm != "" && algorithm != "MD5" && algorithm != "SHA-256" {
		return nil
	}
	c := &digest.Challenge{Realm: realm, Nonce: shown.Nonce, Algorithm: shown.Algorithm}
	if shown.QOP != "" {
		c.QOP = []string{"auth"}
	}
	for _, t := range e.trunks {
		if t.User == "" || t.Password == "" || t.User != shown.Username {
			continue
		}
		wanted, err := digest.Digest(c, digest.Options{
			Method:   string(method),
			URI:      shown.URI,
			Count:    shown.Nc,
			Username: t.User,
			Password: t.Password,
			Cnonce:   shown.Cnonce,
		})
		answer := []byte(strings.ToLower(shown.Response))
		if err == nil && subtle.ConstantTimeCompare([]byte(wanted.Response), answer) == 1 {
			return t
		}
	}
	return nil
}
