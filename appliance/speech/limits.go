package speech

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
)

const (
	// atOnce is how many requests are spoken at once. They share the cores by
	// when each is due, and each holds a megabyte or two.
	atOnce = 32
	// reservedSlots is for how many accounts there is a place besides when those are
	// taken and they have none of them: 32 long texts of one account take minutes.
	reservedSlots = 8
	// mostWaiting is how many wait for their turn, and mostOfOne how many requests
	// one account may have, spoken and waiting: a page of a hundred prompts that
	// are asked for all at once.
	mostWaiting = 160
	mostOfOne   = 128
	// longestWait is half of the minute after which clients and proxies give up.
	longestWait = 30 * time.Second
	// retryAfter is when it is worth to try again: most requests are sentences,
	// which take less than a second each.
	retryAfter = 5 * time.Second
)

// newRequestLimiter returns what lets requests in.
func newRequestLimiter() *limit.Limiter[string] {
	return limit.New[string](limit.Rule{
		MaxActive:      atOnce,
		Reserved:       reservedSlots,
		MaxWaiting:     mostWaiting,
		MaxPerKeyTotal: mostOfOne,
		MaxWait:        longestWait,
	})
}

// enter waits for the turn of a request of an account; leave gives it back. A
// contract.ErrTooMany says that the account has too many, or that it takes too long.
func enter(ctx context.Context, of *limit.Limiter[string], account string) (leave func(), err error) {
	leave, err = of.Acquire(ctx, account)
	why := ""
	switch err {
	case limit.ErrPerKey:
		why = fmt.Sprintf("this account has %d requests for text-to-speech under way, the most it may",
			of.MaxPerKeyTotal)
	case limit.ErrFull:
		why = fmt.Sprintf("%d requests for text-to-speech wait already", of.MaxWaiting)
	case limit.ErrTimeout:
		why = fmt.Sprintf("all %d places for text-to-speech have been taken for %s", of.MaxActive, of.MaxWait)
	default:
		return leave, err
	}
	return nil, contract.ErrTooMany{What: why, RetryAfter: retryAfter}
}
