package appliance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// A box with a full disk reports that, and reports when it is ready again.
func TestReadyOnceTheDiskCanBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var full atomic.Bool
		full.Store(true)
		var log bytes.Buffer
		a := &admission{stop: ctx, log: slog.New(slog.NewTextHandler(&log, nil)),
			writable: func(context.Context) error {
				if full.Load() {
					return fmt.Errorf("writing /secret/parley.db: %w", store.ErrFull)
				}
				return nil
			}}
		var told []string
		a.open(&chat.Host{}, func(why string) { told = append(told, why) }, func() { told = append(told, "ready") })
		synctest.Wait()
		time.Sleep(3 * recheckEvery)
		if got := strings.Join(told, ", "); got != "writing /secret/parley.db: "+store.ErrFull.Error() {
			t.Errorf("the operator got %q, want the cause, once", got)
		}
		if got := strings.Join(a.Missing(ctx), ""); got != store.ErrFull.Error() {
			t.Errorf("clients got %q, want the kind of fault only", got)
		}
		full.Store(false)
		time.Sleep(2 * recheckEvery)
		if got := strings.Join(told, ", "); !strings.HasSuffix(got, ", ready") || len(a.Missing(ctx)) != 0 {
			t.Errorf("got %q", got)
		}
		// Later a readiness check finds the fault first.
		full.Store(true)
		a.Missing(ctx)
		a.Missing(ctx)
		synctest.Wait()
		full.Store(false)
		time.Sleep(2 * recheckEvery)
		if n := strings.Count(log.String(), "not ready"); n != 2 || strings.Count(log.String(), "ready again") != 1 {
			t.Errorf("the log says\n%s", &log)
		}
		cancel()
		a.wait()
	})
}

// A chat that could not be stored is refused before its line is open, while HTTP can still
// tell the client when to try again.
func TestChatIsRefusedWhileTheDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var full atomic.Bool
		a := &admission{stop: ctx, log: slog.New(slog.DiscardHandler), writable: func(context.Context) error {
			if full.Load() {
				return fmt.Errorf("writing /secret/parley.db: %w", store.ErrFull)
			}
			return nil
		}}
		a.host.Store(chat.NewHost(ctx, chat.Parts{MaxChats: 1, Log: a.log}))
		full.Store(true)
		_, err := a.Reserve("first")
		if refused, ok := errors.AsType[contract.ErrUnavailable](err); !ok || refused.RetryAfter <= 0 ||
			refused.Why != store.ErrFull.Error() {
			t.Errorf("on a full disk: %v", err)
		}
		full.Store(false)
		slot, err := a.Reserve("first")
		if err != nil {
			t.Fatal(err)
		}
		slot.Release()
		cancel()
		a.wait()
	})
}

func TestStoppingBoxIsNotReady(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &admission{stop: ctx, log: slog.New(slog.DiscardHandler), writable: func(context.Context) error {
		return errors.New("full")
	}}
	a.open(&chat.Host{}, func(string) { cancel() }, func() { t.Error("it is reported as ready") })
	a.wait()
}

// The only account of a box need not leave slots to others, unless the operator has set the
// number of chats per account.
func TestAloneOnlyWithoutOtherAccounts(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	var cfg config.Config
	is := alone(t.Context(), cfg, records)
	first := createAccount(t, records, "first")
	if !is(first) {
		t.Error("the only account is not alone")
	}
	createAccount(t, records, "second")
	if is(first) {
		t.Error("an account is alone next to another")
	}
	cfg.Limits.ChatsPerAccount = 2
	if alone(t.Context(), cfg, records) != nil {
		t.Error("the setting does not apply to an account that is alone")
	}
}

func createAccount(t *testing.T, records *store.Store, name string) (id string) {
	t.Helper()
	if _, err := records.CreateKey(t.Context(), store.NewKey{Account: name}); err != nil {
		t.Fatal(err)
	}
	a, err := records.Account(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}
