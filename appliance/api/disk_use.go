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

// diskUse limits the data that each account stores.
type diskUse struct {
	limit    int64 // bytes; 0 means no limit
	records  *store.Store
	mu       sync.Mutex
	measured *simplelru.LRU[string, accountUsage]
}

// accountUsage is how much an account stored when it was measured, and what its
// requests have added since.
type accountUsage struct {
	bytes int64
	at    time.Time
}

const (
	// measureEvery is how often an account's usage is measured while it adds
	// data. Measuring takes 5 ms with 100,000 chats.
	measureEvery = 10 * time.Second
	// maxMeasured bounds the remembered accounts; others are measured again.
	maxMeasured = 1024
	// diskRetry is the Retry-After of a full account, which has to delete data first.
	diskRetry = time.Minute
)

func newDiskUse(l Limits, records *store.Store) *diskUse {
	known, _ := simplelru.NewLRU[string, accountUsage](maxMeasured, nil) // fails for a size below 1 only
	return &diskUse{limit: l.DiskPerAccount, records: records, measured: known}
}

// check returns a contract.ErrFull if the caller's account is full. A body of
// unknown length counts as the largest possible one until the account is measured
// again, and at most as a recording: what takes larger ones watches the limit itself.
func (d *diskUse) check(by caller, r *http.Request, largest int64) error {
	if d.limit == 0 || by.AccountID == "" {
		return nil
	}
	more := r.ContentLength
	if more < 0 {
		more = min(largest, recordingBody)
	}
	bytes, err := d.add(r.Context(), by.AccountID, more)
	if err != nil || bytes < d.limit {
		return err
	}
	return contract.ErrFull{
		What: fmt.Sprintf("this account stores %.1f MB, and may store at most %.1f MB on this box; delete "+
			"chat groups, configs, prompts, tools or batch jobs, or have the operator raise "+
			"limits.disk_per_account",
			megabytes(bytes), megabytes(d.limit)),
		RetryAfter: diskRetry,
	}
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// add returns an account's usage, and then adds more bytes to it.
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
