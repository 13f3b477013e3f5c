package api

import (
	"fmt"
	"sync"
	"time"

	"parley/appliance/contract"
)

const (
	// mostUploads is how many recordings lie on the disk at once, while they come,
	// wait for their turn and are heard: a gigabyte at most. uploadsOfOne is how
	// many of them are of one account, however slowly it sends them.
	mostUploads  = 16
	uploadsOfOne = 6
	// uploadRetry is when another has likely been converted.
	uploadRetry = 10 * time.Second
)

// uploads counts the recordings that are on the disk, by account.
type uploads struct {
	mu  sync.Mutex
	all int
	of  map[string]int
}

// enter lets one more in; leave is called when it is gone.
func (u *uploads) enter(account string) (leave func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.of[account] >= uploadsOfOne:
		return nil,
			contract.ErrTooMany{What: fmt.Sprintf("%d recordings of this account are being converted or wait for it",
				uploadsOfOne), RetryAfter: uploadRetry}
	case u.all >= mostUploads:
		return nil, contract.ErrTooMany{What: fmt.Sprintf("%d recordings are being converted or wait for it",
			mostUploads), RetryAfter: uploadRetry}
	}
	u.all++
	u.of[account]++
	return sync.OnceFunc(func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.all--
		if u.of[account]--; u.of[account] == 0 {
			delete(u.of, account)
		}
	}), nil
}
