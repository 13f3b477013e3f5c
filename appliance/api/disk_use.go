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

// diskUse holds each account to its room on the disk.
type diskUse struct {
	limit    int64 // bytes; 0 for no limit
	records  *store.Store
	mu       sync.Mutex
	measured *simplelru.LRU[string, accountUsage]
}

// held is how much an account holds: as it was measured, and what has come
// since.
type accountUsage struct {
	bytes int64
	at    time.Time
}

const (
	// measureEvery is how often what an account holds is measured while it adds
	// to it. It takes 5 ms where there are 100,000 chats.
	measureEvery = 10 * time.Second
	// maxMeasured are remembered; what is forgotten is measured again.
	maxMeasured = 1024
	// diskRetry is when it is worth to try again: somebody has to delete
	// something first.
	diskRetry = time.Minute
)

func newDiskUse(l Limits, records *store.Store) *diskUse {
	known, _ := simplelru.NewLRU[string, accountUsage](maxMeasured, nil) // fails for a size below 1 only
	return &diskUse{limit: l.DiskPerAccount, records: records, measured: known}
}

// check refuses, with a contract.ErrFull, a request that would add to what a
// full account holds. A body whose length is not known beforehand counts as the
// largest that it may be, until the account is measured again.
func (d *diskUse) check(by caller, r *http.Request, largest int64) error {
	if d.limit == 0 || by.AccountID == "" {
		return nil
	}
	more := r.ContentLength
	if more < 0 {
		more = largest
	}
	bytes, err := d.add(r.Context(), by.AccountID, more)
	if err != nil || bytes < d.limit {
		return err
	}
	return contract.ErrFull{
		What: fmt.Sprintf("this account holds %.1f MB, and %.1f MB is all that it may hold on this box; delete "+
			"chat groups, configs, prompts or tools, or have the operator raise limits.disk_per_account",
			megabytes(bytes), megabytes(d.limit)),
		RetryAfter: diskRetry,
	}
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// held returns how much an account holds, and notes that so many bytes more are
// about to come.
func (d *diskUse) add(ctx context.Context, account string, more int64) (int64, error) {
	d.mu.Lock()
	h, known := d.measured.Get(account)
	d.mu.Unlock()
	if now := time.Now(); !known || now.Sub(h.at) > measureEvery {
		usage, err := d.records.Usage(ctx, account)
		if err != nil {
			return 0, fmt.Errorf("measuring an account: %w", err)
		}
		h = accountUsage{usage.Total(), now}
	}
	before := h.bytes
	h.bytes += more
	d.mu.Lock()
	defer d.mu.Unlock()
	d.measured.Add(account, h)
	return before, nil
}
