package api

import (
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"
)

// recentCredentials remembers, by their hashes, which credentials were valid
// lately, and for which account. They are still looked up each time, but count
// against the rate of their account instead of their address. So an attacker does
// not lock out other clients at the same address.
type recentCredentials struct {
	accounts *lru.Cache[[sha256.Size]byte, string]
}

// maxRecent bounds the stored hashes, 150 bytes each. A credential that was
// dropped counts once against its address.
const maxRecent = 8192

func newRecentCredentials() recentCredentials {
	accounts, _ := lru.New[[sha256.Size]byte, string](maxRecent) // fails for a size below 1 only
	return recentCredentials{accounts}
}

// accountOf returns the account of a credential that was valid lately. It is
// empty for a credential that was issued and not used yet.
func (k recentCredentials) accountOf(credential string) (id string, ok bool) {
	return k.accounts.Get(sha256.Sum256([]byte(credential)))
}

func (k recentCredentials) remember(credential, account string) {
	k.accounts.Add(sha256.Sum256([]byte(credential)), account)
}

func (k recentCredentials) forget(credential string) {
	k.accounts.Remove(sha256.Sum256([]byte(credential)))
}
