package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"parley/appliance/contract"
	"parley/store"
)

// rooms holds each account to its room on the disk.
type rooms struct {
	most    int64 // bytes; 0 for no limit
	records *store.Store
	mu      sync.Mutex
	known   *simplelru.LRU[string, held]
}

// held is how much an account holds: as it was measured, and what has come
// since.
type held struct {
	bytes    int64
	measured time.Time
}

const (
	// measureEvery is how often what an account holds is measured while it adds
	// to it. It takes 5 ms where there are 100,000 chats.
	measureEvery = 10 * time.Second
	// maxRooms are remembered; what is forgotten is measured again.
	maxRooms = 1024
	// roomRetry is when it is worth to try again: somebody has to delete
	// something first.
	roomRetry = time.Minute
)

func newRooms(l Limits, records *store.Store) *rooms {
	known, _ := simplelru.NewLRU[string, held](maxRooms, nil) // fails for a size below 1 only
	return &rooms{most: l.DiskPerAccount, records: records, known: known}
}

// check refuses, with a contract.ErrFull, a request that would add to what a
// full account holds.
func (m *rooms) check(by caller, r *http.Request) error {
	if m.most == 0 || by.AccountID == "" {
		return nil
	}
	bytes, err := m.held(r.Context(), by.AccountID, max(r.ContentLength, 0))
	if err != nil || bytes < m.most {
		return err
	}
	return contract.ErrFull{
		What:       fmt.Sprintf("this account holds %.1f MB, and %.1f MB is all that it may hold on this box; delete chat groups, configs, prompts or tools, or have the operator raise limits.disk_per_account", megabytes(bytes), megabytes(m.most)),
		RetryAfter: roomRetry,
	}
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// held returns how much an account holds, and notes that so many bytes more are
// about to come.
func (m *rooms) held(ctx context.Context, account string, more int64) (int64, error) {
	m.mu.Lock()
	h, known := m.known.Get(account)
	m.mu.Unlock()
	if now := time.Now(); !known || now.Sub(h.measured) > measureEvery {
		usage, err := m.records.Usage(ctx, account)
		if err != nil {
			return 0, fmt.Errorf("measuring an account: %w", err)
		}
		h = held{usage.Total(), now}
	}
	before := h.bytes
	h.bytes += more
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known.Add(account, h)
	return before, nil
}
