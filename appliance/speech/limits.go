package speech

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
)

const (
	// maxActive is how many requests are synthesised at once. They share the cores by urgency, and
	// each holds a megabyte or two.
	maxActive = 32
	// reservedSlots is how many further slots are reserved for accounts that currently hold
	// none: 32 long texts of one account take minutes.
	reservedSlots = 8
	// maxWaiting is how many requests may wait for a slot, and maxPerAccount how many one account
	// may have, running and waiting: a page of a hundred prompts, requested at once.
	maxWaiting    = 160
	maxPerAccount = 128
	// longestWait is half of the minute after which clients and proxies give up.
	longestWait = 30 * time.Second
	// retryAfter is when a retry is worthwhile: most requests are sentences, which take less
	// than a second each.
	retryAfter = 5 * time.Second
)

// newRequestLimiter returns the limiter of text-to-speech requests.
func newRequestLimiter() *limit.Limiter[string] {
	return limit.New[string](limit.Rule{
		MaxActive:      maxActive,
		Reserved:       reservedSlots,
		MaxWaiting:     maxWaiting,
		MaxPerKeyTotal: maxPerAccount,
		MaxWait:        longestWait,
	})
}

// enter waits until a request of an account is admitted; leave gives its slot back. It returns
// a contract.ErrTooMany if the account has too many requests or the wait is too long.
func enter(ctx context.Context, of *limit.Limiter[string], account string) (leave func(), err error) {
	leave, err = of.Acquire(ctx, account)
	why := ""
	switch err {
	case limit.ErrPerKey:
		why = fmt.Sprintf("this account has %d text-to-speech requests in progress, the most allowed",
			of.MaxPerKeyTotal)
	case limit.ErrFull:
		why = fmt.Sprintf("%d text-to-speech requests are waiting already", of.MaxWaiting)
	case limit.ErrTimeout:
		why = fmt.Sprintf("all %d text-to-speech slots have been in use for %s", of.MaxActive, of.MaxWait)
	default:
		return leave, err
	}
	return nil, contract.ErrTooMany{What: why, RetryAfter: retryAfter}
}
