package api

import (
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"
)

// known remembers which credentials have lately opened the box, by their hashes.
// They are asked about in the database each time, as others are, but from an
// address whose share of requests is gone, too: a guesser does not shut out who
// shares a network with him.
type known struct {
	hashes *lru.Cache[[sha256.Size]byte, struct{}]
}

// maxKnown are remembered, 100 bytes each. One that is forgotten takes from its
// address's share once.
const maxKnown = 8192

func newKnown() known {
	hashes, _ := lru.New[[sha256.Size]byte, struct{}](maxKnown) // fails for a size below 1 only
	return known{hashes}
}

func (k known) has(credential string) bool {
	_, ok := k.hashes.Get(sha256.Sum256([]byte(credential)))
	return ok
}

// note remembers whether a credential is good.
func (k known) note(credential string, good bool) {
	if h := sha256.Sum256([]byte(credential)); good {
		k.hashes.Add(h, struct{}{})
	} else {
		k.hashes.Remove(h)
	}
}
