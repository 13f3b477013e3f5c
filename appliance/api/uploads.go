package api

import (
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
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

// uploads lets in the recordings that are on the disk, by account.
type uploads struct{ *limit.Limiter[string] }

func newUploads() uploads {
	return uploads{limit.New[string](limit.Rule{MaxActive: mostUploads, MaxPerKey: uploadsOfOne})}
}

// enter lets one more in; leave is called when it is gone.
func (u uploads) enter(account string) (leave func(), err error) {
	leave, err = u.TryAcquire(account)
	switch err {
	case limit.ErrPerKey:
		return nil,
			contract.ErrTooMany{What: fmt.Sprintf("%d recordings of this account are being converted or wait for it",
				uploadsOfOne), RetryAfter: uploadRetry}
	case limit.ErrFull:
		return nil, contract.ErrTooMany{What: fmt.Sprintf("%d recordings are being converted or wait for it",
			mostUploads), RetryAfter: uploadRetry}
	}
	return leave, err
}
