package api

import (
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"
)

// measured remembers which credentials have lately opened the box, by their hashes,
// and for which account. They are asked about in the database each time, as others
// are, but take from their account's share of requests and not from that of the
// allowAddress: a guesser does not shut out who shares a network with him.
type recentCredentials struct {
	accounts *lru.Cache[[sha256.Size]byte, string]
}

// maxRecent are remembered, 150 bytes each. One that is forgotten takes from its
// allowAddress's share once.
const maxRecent = 8192

func newRecentCredentials() recentCredentials {
	accounts, _ := lru.New[[sha256.Size]byte, string](maxRecent) // fails for a size below 1 only
	return recentCredentials{accounts}
}

// accountOf is whose a credential is, as far as the box remembers; empty where it
// was made and not used yet.
func (k recentCredentials) accountOf(credential string) (id string, ok bool) {
	return k.accounts.Get(sha256.Sum256([]byte(credential)))
}

func (k recentCredentials) remember(credential, account string) {
	k.accounts.Add(sha256.Sum256([]byte(credential)), account)
}

func (k recentCredentials) forget(credential string) {
	k.accounts.Remove(sha256.Sum256([]byte(credential)))
}
