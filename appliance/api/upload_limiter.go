package api

import (
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
)

const (
	// maxUploads bounds the recordings on the disk while they are received, wait
	// and are converted: a gigabyte at most. uploadsPerAccount bounds those of
	// one account, however slowly it sends them.
	maxUploads        = 16
	uploadsPerAccount = 6
	// uploadRetry is the Retry-After of answers at the limit: another recording
	// is likely converted by then.
	uploadRetry = 10 * time.Second
)

// uploadLimiter limits the recordings on the disk, by account.
type uploadLimiter struct{ *limit.Limiter[string] }

func newUploadLimiter() uploadLimiter {
	return uploadLimiter{limit.New[string](limit.Rule{MaxActive: maxUploads, MaxPerKey: uploadsPerAccount})}
}

// enter admits one more recording. leave must be called when its file is gone.
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
