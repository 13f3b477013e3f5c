package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkAppend stores one event a call and waits for the disk each time: from one
// caller and from 16, with the store and with the same SQL on plain database/sql. Compare
// only pairs of one run, since disks vary.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("store/callers=%d", callers), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			account := newAccount(b, s, "home")
			measure(b, callers, func() func() error {
				chat := startChat(b, s, account)
				return func() error { return s.AppendEvents(b.Context(), chat.ID, []Event{said("How are you?")}) }
			})
		})
		b.Run(fmt.Sprintf("straight/callers=%d", callers), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			account := newAccount(b, s, "home")
			db := connect(s.dir, "", 1)
			defer db.Close()
			measure(b, callers, func() func() error {
				chat := startChat(b, s, account)
				return func() error { return appendStraight(b.Context(), db, chat.ID) }
			})
		})
	}
}

func appendStraight(ctx context.Context, db *sql.DB, chatID string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var chat, seq int64
	err = tx.QueryRowContext(ctx,
		`UPDATE chat SET event_count = event_count + 1 WHERE id = ? RETURNING num, event_count`,
		chatID).Scan(&chat, &seq)
	if err != nil {
		return err
	}
	e := said("How are you?")
	if _, err := tx.ExecContext(ctx, `
		INSERT INTO chat_event (chat, seq, id, at_ms, type, role, message_text) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		chat, seq, e.ID, e.AtMS, e.Type, e.Role, e.MessageText); err != nil {
		return err
	}
	return tx.Commit()
}

// measure runs b.N calls from so many callers, each with a call of its own, and reports
// their rate and latencies.
func measure(b *testing.B, callers int, newCall func() func() error) {
	calls := make([]func() error, callers)
	for i := range calls {
		calls[i] = newCall()
	}
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for _, call := range calls {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				begun := time.Now()
				if err := call(); err != nil {
					b.Error(err)
					return
				}
				took[i-1] = time.Since(begun)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	b.ReportMetric(float64(took[b.N/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[b.N*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[b.N-1].Microseconds()), "max-µs")
}

// BenchmarkOpenKey measures the lookup that begins every request.
func BenchmarkOpenKey(b *testing.B) {
	s := openStore(b, b.TempDir())
	made, err := s.CreateKey(b.Context(), NewKey{Account: "home"})
	must(b, err)
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.OpenKey(b.Context(), made.APIKey); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("straight", func(b *testing.B) {
		for b.Loop() {
			var id string
			var num int64
			var kept []byte
			if err := s.read.db.QueryRow(`SELECT a.id, k.num, k.api_hash FROM key k JOIN account a ON a.num = k.account
				WHERE k.api_hash = ? AND k.revoked_ms IS NULL`, hash(made.APIKey)).Scan(&id, &num, &kept); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkAppendInFleet stores one event a call: on a box in no fleet, and on one whose facts
// are taken and sent by another goroutine, as its agent does. Compare only pairs of one run.
func BenchmarkAppendInFleet(b *testing.B) {
	for _, member := range []bool{false, true} {
		b.Run(fmt.Sprintf("member=%v", member), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			account := newAccount(b, s, "home")
			ctx, stop := context.WithCancel(b.Context())
			var sender sync.WaitGroup
			if member {
				must(b, s.JoinFleet(ctx, Fleet{Box: "kiosk", Hub: "museum", Chats: true}))
				sender.Go(func() { sendAll(ctx, s) })
			}
			measure(b, 1, func() func() error {
				chat := startChat(b, s, account)
				return func() error { return s.AppendEvents(b.Context(), chat.ID, []Event{said("How are you?")}) }
			})
			stop()
			sender.Wait()
		})
	}
}

// sendAll takes all messages, as an agent does whose hub answers at once.
func sendAll(ctx context.Context, s *Store) {
	for num := int64(1); ; {
		m, err := s.FleetMessage(ctx)
		if err == nil {
			num++
			_ = s.FleetMessageStored(ctx, m.ID, num)
			continue
		}
		select {
		case <-s.FleetChanged():
		case <-ctx.Done():
			return
		}
	}
}
