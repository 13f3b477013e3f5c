package api

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
)

// A search of ten thousand chats reads for a second. So one account has at most
// searchesPerAccount of them under way, which leaves connections to the database for
// everybody else. One more waits for its turn: a person who searches again
// before the answer came expects an answer, and no error. maxSearchWait is
// what maxWaitingSearches take, on a machine that is somewhat slower. Where as many
// wait already, or it takes longer, the account sends more than there will be
// room for, and 429 says so with the time after which clients try again by
// themselves.
const (
	searchesPerAccount = 2
	maxWaitingSearches = 6
	maxSearchWait      = 5 * time.Second
	searchRetry        = 2 * time.Second
)

// searchLimiter lets in those that are under way, by account.
type searchLimiter struct{ *limit.Limiter[string] }

func newSearchLimiter() searchLimiter {
	return searchLimiter{limit.New[string](limit.Rule{
		MaxPerKey:      searchesPerAccount,
		MaxPerKeyTotal: searchesPerAccount + maxWaitingSearches,
		MaxWait:        maxSearchWait,
	})}
}

// enter lets one more search of an account begin; leave is called when it is
// over. The error is a contract.ErrTooMany where there are too many, or that of
// ctx.
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
