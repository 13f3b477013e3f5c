package api

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
)

// A search of ten thousand chats takes a second. An account may run
// searchesPerAccount at once, which leaves database connections for other
// accounts. Further searches wait, because a person who searches again before the
// answer came expects an answer and no error. maxSearchWait is how long
// maxWaitingSearches take on a somewhat slower machine. Beyond that the answer is
// 429 with Retry-After, after which clients try again by themselves.
const (
	searchesPerAccount = 2
	maxWaitingSearches = 6
	maxSearchWait      = 5 * time.Second
	searchRetry        = 2 * time.Second
)

// searchLimiter limits the searches under way of each account.
type searchLimiter struct{ *limit.Limiter[string] }

func newSearchLimiter() searchLimiter {
	return searchLimiter{limit.New[string](limit.Rule{
		MaxPerKey:      searchesPerAccount,
		MaxPerKeyTotal: searchesPerAccount + maxWaitingSearches,
		MaxWait:        maxSearchWait,
	})}
}

// enter waits until an account may start one more search. leave must be called
// when the search is done. The error is a contract.ErrTooMany if too many
// searches wait or the wait is too long, or the error of ctx.
func (s searchLimiter) enter(ctx context.Context, account string) (leave func(), err error) {
	leave, err = s.Acquire(ctx, account)
	if err == limit.ErrPerKey || err == limit.ErrTimeout {
		err = contract.ErrTooMany{
			What: fmt.Sprintf("more searches at once than the %d that the box runs for one account",
				searchesPerAccount),
			RetryAfter: searchRetry,
		}
	}
	return leave, err
}
