package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// What one process writes, another that asked before reads at once.
func TestMemoryOutlivesNoWriteOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	here, there := openStore(t, dir), openStore(t, dir)
	home := newAccount(t, here, "home")
	p := newPrompt(t, here, home, "p")
	key, err := here.CreateKey(t.Context(), "home", "")
	must(t, err)
	newest := Ref{KindPrompt, p.ID, Newest}
	for i := range 20 {
		for range 3 { // the first time from the disk, then from memory
			v, err := there.VersionOf(t.Context(), home, newest)
			if err != nil || v.Number != i {
				t.Fatalf("version %d, want %d (%v)", v.Number, i, err)
			}
			_, err = there.OpenKey(t.Context(), key.APIKey)
			must(t, err)
		}
		_, err := here.Keep(t.Context(), home, draft(p.ID, "", fmt.Sprint(i)))
		must(t, err)
	}
	must(t, here.Delete(t.Context(), home, KindPrompt, p.ID))
	if _, err = there.VersionOf(t.Context(), home, newest); err == nil {
		t.Error("a deleted prompt is still read")
	}
	must(t, here.RevokeKey(t.Context(), key.KeyID))
	_, err = there.OpenKey(t.Context(), key.APIKey)
	wantError(t, err, ErrNotFound)
}

// Who reads after a write was acknowledged reads it or a later one, however
// many read and write at once.
func TestMemoryNeverGoesBackUnderWrites(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	p := newPrompt(t, s, home, "p")
	newest := Ref{KindPrompt, p.ID, Newest}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			seen := 0
			for seen < 100 {
				v, err := s.VersionOf(t.Context(), home, newest)
				if err != nil || v.Number < seen {
					t.Errorf("version %d after %d (%v)", v.Number, seen, err)
					return
				}
				seen = v.Number
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for range 60 {
				kept, err := s.Keep(t.Context(), home, draft(p.ID, "", "x"))
				if err != nil {
					t.Error(err)
					return
				}
				if v, err := s.VersionOf(t.Context(), home, newest); err != nil || v.Number < kept[0].Number {
					t.Errorf("version %d was kept, %d is read (%v)", kept[0].Number, v.Number, err)
				}
			}
		})
	}
	all.Wait()
}

func TestMemoryHoldsOnlySoMuch(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	long := strings.Repeat("long ", 20_000)
	for i := range 100 {
		v := newPrompt(t, s, home, "p")
		_, err := s.Keep(t.Context(), home, draft(v.ID, "", long+fmt.Sprint(i)))
		must(t, err)
	}
	versions, _, err := s.List(t.Context(), home, ResourceFilter{Kind: KindPrompt}, Page{Size: 100})
	must(t, err)
	for _, v := range versions {
		_, err := s.VersionOf(t.Context(), home, Ref{KindPrompt, v.ID, v.Number})
		must(t, err)
		held := 0
		for _, answer := range s.memory.answers {
			held += answer.(weighty).weight()
		}
		if held != s.memory.weight || held > mostRemembered {
			t.Fatalf("it holds %d bytes and counts %d", held, s.memory.weight)
		}
	}
	if len(s.memory.answers) < 2 {
		t.Error("it remembers nothing")
	}
}
