package store

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// The free space is read from the file system each time.
func TestFullDiskIsReported(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.Writable(t.Context()))
	for _, c := range []struct {
		disk  unix.Statfs_t
		want  error
		words string
	}{
		{unix.Statfs_t{Bsize: 4096, Bavail: minFree / 4096}, nil, ""},
		{unix.Statfs_t{Bsize: 4096, Bavail: minFree/4096 - 1}, ErrFull, "16.8 MB are needed"},
		{unix.Statfs_t{Bsize: 4096, Bfree: 1 << 20}, ErrFull, "0.0 MB are left"}, // there is some, for root
		{unix.Statfs_t{Bsize: 4096, Bavail: 1 << 30, Flags: unix.ST_RDONLY}, ErrReadOnly, "read-only"},
	} {
		if err := checkFreeSpace(c.disk); c.want != nil {
			wantError(t, err, c.want, c.words)
		} else {
			must(t, err)
		}
	}
}

// A disk fault of a write is reported until a write succeeds again, also if nothing is
// written meanwhile.
func TestFailedWriteIsReportedUntilOneSucceeds(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	readOnly := func(on int) {
		_, err := s.w.conn.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA query_only = %d`, on))
		must(t, err)
	}
	readOnly(1)
	must(t, s.Writable(t.Context())) // as far as anybody knows
	wantError(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("hi")}), ErrReadOnly)
	for range 2 {
		wantError(t, s.Writable(t.Context()), ErrReadOnly)
	}
	readOnly(0)
	must(t, s.Writable(t.Context()))
	if s.w.failing.Load() {
		t.Error("the fault is still remembered")
	}
	// What is wrong with one write only is no fault of the disk.
	wantError(t, s.AppendEvents(t.Context(), uuid.NewString(), []Event{said("hi")}), ErrNotFound)
	if s.w.failing.Load() {
		t.Error("a write to a chat that is not there counts as a fault of the disk")
	}
}
