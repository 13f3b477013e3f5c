package store

import (
	"strings"
	"testing"
	"time"
)

// eventually waits for the background goroutine.
func eventually(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

func TestUsageOfAnAccountIsCounted(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, work := newAccount(t, s, "home"), newAccount(t, s, "work")
	used := func(account string) Usage {
		t.Helper()
		u, err := s.Usage(t.Context(), account)
		must(t, err)
		return u
	}
	live := startChat(t, s, home, said("12345"))
	must(t, s.AppendEvents(t.Context(), live.ID, []Event{said("1234567890")}))
	talked := int64(chatBytes + 2*eventBytes + 15)
	if got := used(home); got.RecordBytes != talked {
		t.Errorf("with a live chat it is %+v, want %d", got, talked)
	}
	must(t, s.EndChat(t.Context(), live.ID, UserEnded, 9000))
	ended := talk(t, s, home, 9000, NewChat{})
	eventually(t, "the recordings are not measured", func() bool {
		return used(home).SoundBytes == int64(2*len("sound"))
	})
	if got := used(home); got.RecordBytes != talked+chatBytes {
		t.Errorf("with two chats it is %+v", got)
	}
	p := newPrompt(t, s, home, "p")
	before := used(home).RecordBytes
	next := draft(p.ID, "", strings.Repeat("x", 1000))
	stored, err := s.AddVersions(t.Context(), home, next)
	must(t, err)
	if grown := used(home).RecordBytes - before; grown != int64(versionBytes+len(next.Description)+len(next.Content)) {
		t.Errorf("a version of 2000 bytes counts for %d", grown)
	}
	must(t, s.DeleteVersion(t.Context(), home, Ref{KindPrompt, p.ID, stored[0].Number}))
	if got := used(home).RecordBytes; got != before {
		t.Errorf("without it, it is %d, want %d", got, before)
	}
	must(t, s.Delete(t.Context(), home, KindPrompt, p.ID))
	must(t, s.DeleteChatGroup(t.Context(), home, ended.GroupID))
	must(t, s.DeleteChatGroup(t.Context(), home, live.GroupID))
	if got := used(home); got.Total() != 0 {
		t.Errorf("when all is deleted it is %+v", got)
	}
	if got := used(work); got.Total() != 0 {
		t.Errorf("another account holds %+v", got)
	}
	_, err = s.Usage(t.Context(), "nobody")
	wantError(t, err, ErrNotFound)
}

// The usage of an account is read from indexes only, however many chats there are.
func TestUsageOfAnAccountIsReadFromIndexes(t *testing.T) {
	s := openStore(t, t.TempDir())
	plan, err := query(t.Context(), s.read, func(row scanner) (detail string, err error) {
		var skip any
		return detail, row.Scan(&skip, &skip, &skip, &detail)
	}, "EXPLAIN QUERY PLAN "+accountUsage, "")
	must(t, err)
	for _, want := range []string{"COVERING INDEX chat_size", "INDEX chat_open", "COVERING INDEX resource_size"} {
		if !strings.Contains(strings.Join(plan, "; "), want) {
			t.Errorf("the plan does not use the %s: %s", want, strings.Join(plan, "; "))
		}
	}
}
