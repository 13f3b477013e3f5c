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
	// keptFree is for how many accounts there is a place besides when those are
	// taken and they have none of them: 32 long texts of one account take minutes.
	keptFree = 8
	// mostWaiting is how many wait for their turn, and mostOfOne how many requests
	// one account may have, spoken and waiting: a page of a hundred prompts that
	// are asked for all at once.
	mostWaiting = 160
	mostOfOne   = 128
	// longestWait is half of the minute after which clients and proxies give up.
	longestWait = 30 * time.Second
	// turnRetry is when it is worth to try again: most requests are sentences,
	// which take less than a second each.
	turnRetry = 5 * time.Second
)

// newTurns returns what lets requests in.
func newTurns() *limit.Limiter[string] {
	return limit.New[string](limit.Rule{
		MaxActive:      atOnce,
		Reserved:       keptFree,
		MaxWaiting:     mostWaiting,
		MaxPerKeyTotal: mostOfOne,
		MaxWait:        longestWait,
	})
}

// turn waits for the turn of a request of an account; leave gives it back. A
// contract.ErrTooMany says that the account has too many, or that it takes too long.
func turn(ctx context.Context, of *limit.Limiter[string], account string) (leave func(), err error) {
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
	return nil, contract.ErrTooMany{What: why, RetryAfter: turnRetry}
}
