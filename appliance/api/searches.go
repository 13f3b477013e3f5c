package api

import (
	"context"
	"fmt"
	"sync"
	"time"

	"parley/appliance/contract"
)

// A search of ten thousand chats reads for a second. So one account has at most
// searchesOfOne of them under way, which leaves connections to the database for
// everybody else. One more waits for its turn: a person who searches again
// before the answer came expects an answer, and no error. searchPatience is
// what searchesWaiting take, on a machine that is somewhat slower. Where as many
// wait already, or it takes longer, the account sends more than there will be
// room for, and 429 says so with the time after which clients try again by
// themselves.
const (
	searchesOfOne   = 2
	searchesWaiting = 6
	searchPatience  = 5 * time.Second
	searchRetry     = 2 * time.Second
)

// searches counts those that are under way, by account.
type searches struct {
	mu sync.Mutex
	of map[string]*searching // without those that have none
}

// searching are the searches of one account.
type searching struct {
	all   int           // under way or waiting
	slots chan struct{} // has one for each that is under way
}

// enter lets one more search of an account begin; leave is called when it is
// over. The error is a contract.ErrTooMany where there are too many, or that of
// ctx.
func (s *searches) enter(ctx context.Context, account string) (leave func(), err error) {
	mine, err := s.join(account)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(searchPatience)
	defer timer.Stop()
	select {
	case mine.slots <- struct{}{}:
		return sync.OnceFunc(func() {
			<-mine.slots
			s.quit(account, mine)
		}), nil
	case <-timer.C:
		err = tooManySearches()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.quit(account, mine)
	return nil, err
}

func (s *searches) join(account string) (*searching, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.of[account]
	if mine == nil {
		mine = &searching{slots: make(chan struct{}, searchesOfOne)}
		s.of[account] = mine
	}
	if mine.all >= searchesOfOne+searchesWaiting {
		return nil, tooManySearches()
	}
	mine.all++
	return mine, nil
}

func (s *searches) quit(account string, mine *searching) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine.all--; mine.all == 0 {
		delete(s.of, account)
	}
}

func tooManySearches() error {
	return contract.ErrTooMany{
		What:       fmt.Sprintf("more searches at once than the %d that the box runs for one account", searchesOfOne),
		RetryAfter: searchRetry,
	}
}
