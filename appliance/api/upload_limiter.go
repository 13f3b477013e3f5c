package api

import (
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
)

const (
	// maxUploads is how many recordings lie on the disk at once, while they come,
	// wait for their turn and are heard: a gigabyte at most. uploadsOfOne is how
	// many of them are of one account, however slowly it sends them.
	maxUploads        = 16
	uploadsPerAccount = 6
	// uploadRetry is when another has likely been converted.
	uploadRetry = 10 * time.Second
)

// uploadLimiter lets in the recordings that are on the disk, by account.
type uploadLimiter struct{ *limit.Limiter[string] }

func newUploadLimiter() uploadLimiter {
	return uploadLimiter{limit.New[string](limit.Rule{MaxActive: maxUploads, MaxPerKey: uploadsPerAccount})}
}

// enter lets one more in; leave is called when it is gone.
func (u uploadLimiter) enter(account string) (leave func(), err error) {
	leave, err = u.TryAcquire(account)
	switch err {
	case limit.ErrPerKey:
		return nil,
			contract.ErrTooMany{What: fmt.Sprintf("%d recordings of this account are being converted or wait for it",
				uploadsPerAccount), RetryAfter: uploadRetry}
	case limit.ErrFull:
		return nil, contract.ErrTooMany{What: fmt.Sprintf("%d recordings are being converted or wait for it",
			maxUploads), RetryAfter: uploadRetry}
	}
	return leave, err
}
