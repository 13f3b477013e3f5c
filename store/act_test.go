package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func recordAct(t *testing.T, s *Store, a Act) {
	t.Helper()
	must(t, s.RecordAct(t.Context(), a))
}

// actsOf returns the selected acts as text, newest first.
func actsOf(t *testing.T, s *Store, f ActFilter) string {
	t.Helper()
	var all []string
	must(t, s.Acts(t.Context(), f, func(a Act) error {
		all = append(all, fmt.Sprintf("%d %s", a.Num, a.What))
		return nil
	}))
	return strings.Join(all, ", ")
}

func TestActsAreFoundByEachFilter(t *testing.T) {
	s := openStore(t, t.TempDir())
	recordAct(t, s, Act{AtMS: 1000, What: "key.create", Who: Actor{Kind: ByUser, Name: "anna", Role: "root"},
		On: Object{"key", "4tQp", "Kiosk"}, Text: "created a key", From: "/dev/pts/1"})
	recordAct(t, s, Act{AtMS: 2000, What: "key.revoke", Who: Actor{Kind: ByKey, ID: "9xYz", Name: "office"},
		On: Object{"key", "4tQp", "Kiosk"}, Outcome: ActRefused, Why: "it is the last one"})
	recordAct(t, s, Act{AtMS: 3000, What: "keyboard", Who: Actor{Kind: ByBox}, Text: "100 % of it"})
	for _, c := range []struct {
		name string
		f    ActFilter
		want string
	}{
		{"all", ActFilter{}, "3 keyboard, 2 key.revoke, 1 key.create"},
		{"since", ActFilter{SinceMS: 2000}, "3 keyboard, 2 key.revoke"},
		{"until", ActFilter{UntilMS: 2000}, "1 key.create"},
		{"what", ActFilter{What: "key.revoke"}, "2 key.revoke"},
		{"group", ActFilter{What: "key"}, "2 key.revoke, 1 key.create"},
		{"who by name", ActFilter{Who: "ANNA"}, "1 key.create"},
		{"who by role", ActFilter{Who: "root"}, "1 key.create"},
		{"who by id", ActFilter{Who: "9xyz"}, "2 key.revoke"},
		{"who by kind", ActFilter{Who: "box"}, "3 keyboard"},
		{"actors", ActFilter{Actors: []ActorKind{ByBox, ByKey}}, "3 keyboard, 2 key.revoke"},
		{"outcomes", ActFilter{Outcomes: []Outcome{ActRefused}}, "2 key.revoke"},
		{"search", ActFilter{Search: "kiosk"}, "2 key.revoke, 1 key.create"},
		{"search address", ActFilter{Search: "pts/1"}, "1 key.create"},
		{"search without wildcards", ActFilter{Search: "100 % "}, "3 keyboard"},
		{"nothing", ActFilter{Search: "_"}, ""},
	} {
		if got := actsOf(t, s, c.f); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	page, total, err := s.ActPage(t.Context(), ActFilter{}, Page{Number: 1, Size: 2})
	must(t, err)
	if total != 3 || len(page) != 1 || page[0].Num != 1 || page[0].Who.Name != "anna" || page[0].Times != 1 ||
		page[0].Outcome != ActDone {
		t.Errorf("the second page is %+v of %d", page, total)
	}
	if page, total, err = s.ActPage(t.Context(), ActFilter{}, Page{Number: 9, Size: 2}); err != nil || len(page) != 0 ||
		total != 3 {
		t.Errorf("a page past the end is %+v of %d, %v", page, total, err)
	}
}

func TestActIsRecordedWithItsChangeOrNotAtAll(t *testing.T) {
	s := openStore(t, t.TempDir())
	ctx, pending := WithAct(t.Context(), Act{What: "key.create", On: Object{Kind: "key"}})
	made, err := s.CreateKey(ctx, NewKey{Account: "museum", Label: "Hall"})
	must(t, err)
	if _, recorded := pending.Act(); !recorded {
		t.Error("the act of a change was not recorded")
	}
	must(t, s.RevokeKey(ctx, made.KeyID)) // part of the same act
	if got := actsOf(t, s, ActFilter{Search: made.KeyID}); got != "1 key.create" {
		t.Errorf("the acts on the key are %q, want one", got)
	}

	ctx, pending = WithAct(t.Context(), Act{What: "key.revoke"})
	wantError(t, s.RevokeKey(ctx, made.KeyID), ErrNotFound)
	if _, recorded := pending.Act(); recorded || actsOf(t, s, ActFilter{}) != "1 key.create" {
		t.Error("a change that failed has recorded an act")
	}

	// The other way round: an act that cannot be recorded undoes its change.
	ctx, _ = WithAct(t.Context(), Act{What: "key.create", Outcome: "unheard of"})
	_, err = s.CreateKey(ctx, NewKey{Account: "garden"})
	wantError(t, err, ErrNotAllowed)
	if _, err = s.Account(t.Context(), "garden"); !errors.Is(err, ErrNotFound) {
		t.Error("a change was stored without its act")
	}
}

func TestActsOfManyProcessesFormOneChain(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	var writers sync.WaitGroup
	for range 4 {
		other, err := Join(t.Context(), dir)
		must(t, err)
		for _, one := range []*Store{s, other} {
			writers.Go(func() {
				for range 10 {
					if err := one.RecordAct(context.Background(), Act{What: "x"}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		t.Cleanup(func() { _ = other.Close() })
	}
	writers.Wait()
	if n, err := s.CheckActs(t.Context()); n != 80 || err != nil {
		t.Errorf("the log has %d acts, %v; want 80", n, err)
	}
}

func TestChangedLogIsNoticed(t *testing.T) {
	for name, change := range map[string]string{
		"a changed text":   `UPDATE act SET actor_name = 'berta' WHERE num = 2`,
		"a moved boundary": `UPDATE act SET id = id || substr(name, 1, 1), name = substr(name, 2) WHERE num = 2`,
		"a changed time":   `UPDATE act SET at_ms = at_ms + 1 WHERE num = 1`,
		"a deleted row":    `DELETE FROM act WHERE num = 2`,
		"the first row":    `DELETE FROM act WHERE num = 1`,
		"an inserted row": `INSERT INTO act (` + actColumns + `, hash)
			SELECT 9, ` + strings.TrimPrefix(actColumns, "num, ") + `, hash FROM act WHERE num = 3`,
	} {
		s := openStore(t, t.TempDir())
		for i := range 3 {
			recordAct(t, s, Act{What: "x", On: Object{"key", fmt.Sprint(i), "Kiosk"}})
		}
		if n, err := s.CheckActs(t.Context()); n != 3 || err != nil {
			t.Fatalf("an unchanged log of %d acts: %v", n, err)
		}
		must(t, s.change(t.Context(), "tampering", func(ctx context.Context, c conn) error {
			return execute(ctx, c, change)
		}))
		if _, err := s.CheckActs(t.Context()); !errors.Is(err, ErrActsChanged) {
			t.Errorf("%s was not noticed: %v", name, err)
		}
	}
}

func TestOldActsAreDeletedAndThatIsAnAct(t *testing.T) {
	s := openStore(t, t.TempDir())
	now := time.Now()
	old := now.Add(-ActLife)
	for _, at := range []time.Time{old.Add(-actLifeSlack), old.Add(-time.Hour), old.Add(time.Hour), now} {
		recordAct(t, s, Act{AtMS: at.UnixMilli(), What: "x"})
	}
	if n, err := s.ExpireActs(t.Context(), now.Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("before their time %d were deleted: %v", n, err)
	}
	if n, err := s.ExpireActs(t.Context(), now.Add(time.Minute)); n != 2 || err != nil {
		t.Errorf("%d were deleted, want 2: %v", n, err)
	}
	if got := actsOf(t, s, ActFilter{}); got != "5 acts.expire, 4 x, 3 x" {
		t.Errorf("the log is %q", got)
	}
	if n, err := s.CheckActs(t.Context()); n != 3 || err != nil {
		t.Errorf("the shortened log has %d acts: %v", n, err)
	}
	// Also when all are old, numbers go on.
	if n, err := s.ExpireActs(t.Context(), now.Add(ActLife+2*actLifeSlack)); n != 2 || err != nil {
		t.Errorf("%d were deleted, want 2: %v", n, err)
	}
	if got := actsOf(t, s, ActFilter{}); got != "6 acts.expire, 5 acts.expire" {
		t.Errorf("the log is %q", got)
	}
	if _, err := s.CheckActs(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNumberOfActsIsBounded(t *testing.T) {
	s := openStore(t, t.TempDir())
	recordAct(t, s, Act{What: "first"})
	must(t, s.change(t.Context(), "filling", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `
			WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO act SELECT i, ?, 'box', '', '', '', '', 'x', '', '', '', '', 'done', '', 1, x'' FROM n`,
			MaxActs+actsSlack, time.Now().UnixMilli())
	}))
	if n, err := s.ExpireActs(t.Context(), time.Now()); n != 0 || err != nil {
		t.Errorf("%d were deleted at the limit: %v", n, err)
	}
	recordAct(t, s, Act{What: "one more"})
	if n, err := s.ExpireActs(t.Context(), time.Now()); n != actsSlack+1 || err != nil {
		t.Errorf("%d were deleted, want %d: %v", n, actsSlack+1, err)
	}
	_, total, err := s.ActPage(t.Context(), ActFilter{}, Page{Size: 1})
	if total != MaxActs+1 || err != nil {
		t.Errorf("%d acts are left: %v", total, err)
	}
}

func TestTextOfAnActIsOneShortLine(t *testing.T) {
	s := openStore(t, t.TempDir())
	recordAct(t, s, Act{What: "x", Text: "a\nb\x1b[31m\u202e\xff" + strings.Repeat("é", 500)})
	page, _, err := s.ActPage(t.Context(), ActFilter{}, Page{Size: 1})
	must(t, err)
	text := page[0].Text
	if !strings.HasPrefix(text, "a b[31m?éé") || !strings.HasSuffix(text, "é…") || len(text) > maxActText {
		t.Errorf("the text is %q", text)
	}
}

func TestBackupCarriesTheAuditLog(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), databaseName)
	s := openStore(t, dir)
	recordAct(t, s, Act{What: "x"})
	if _, err := Backup(t.Context(), dir, file, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	copied := openStore(t, filepath.Dir(file))
	if got := actsOf(t, copied, ActFilter{}); got != "1 x" {
		t.Errorf("the copy has %q", got)
	}
}

func BenchmarkAct(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"change alone", "change and act"} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				ctx := b.Context()
				if name != "change alone" {
					ctx, _ = WithAct(ctx, Act{What: "x", Text: strings.Repeat("y", 100)})
				}
				if err := s.SetVoiceAlias(ctx, VoiceAlias{"a", strconv.Itoa(i)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
