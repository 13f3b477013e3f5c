package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func draft(id, name, text string) NewVersion {
	content, _ := json.Marshal(map[string]string{"text": text})
	return NewVersion{
		Kind:        KindPrompt,
		ID:          id,
		Name:        name,
		Description: "about " + text,
		Content:     string(content),
	}
}

// newPrompt stores a prompt with one version.
func newPrompt(t testing.TB, s *Store, account, name string) Version {
	t.Helper()
	stored, err := s.AddVersions(t.Context(), account, draft(uuid.NewString(), name, "first"))
	must(t, err)
	return stored[0]
}

func TestVersionIsReadAsWritten(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	stored := newPrompt(t, s, home, "Ärger \x00 'é")
	if stored.Number != 0 || stored.CreatedMS == 0 || stored.ModifiedMS != stored.CreatedMS {
		t.Errorf("stored %+v", stored)
	}
	for _, ref := range []Ref{{KindPrompt, stored.ID, 0}, {KindPrompt, stored.ID, Newest}} {
		got, err := s.VersionOf(t.Context(), home, ref)
		must(t, err)
		if fmt.Sprint(got) != fmt.Sprint(stored) {
			t.Errorf("read %+v, want %+v", got, stored)
		}
		found, err := s.Resolve(t.Context(), home,
			[]Ref{ref, {KindTool, stored.ID, 0}, {KindPrompt, "x", 0}, {KindPrompt, stored.ID, 7}})
		must(t, err)
		if len(found) != 1 || fmt.Sprint(found[ref]) != fmt.Sprint(stored) {
			t.Errorf("resolved %+v", found)
		}
	}
}

func TestFiftyWritersGetFiftyVersionsWithoutAGap(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	p := newPrompt(t, s, home, "p")
	const writers = 50
	got := make([]int, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			stored, err := s.AddVersions(t.Context(), home, draft(p.ID, "", fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = stored[0].Number
			v, err := s.VersionOf(t.Context(), home, Ref{KindPrompt, p.ID, stored[0].Number})
			if err != nil || v.Description != fmt.Sprint("about ", i) {
				t.Errorf("writer %d reads %+v, %v", i, v, err)
			}
		})
	}
	wg.Wait()
	slices.Sort(got)
	for i, n := range got {
		if n != i+1 {
			t.Fatalf("versions are %v", got)
		}
	}
}

func TestNewVersionsAreStoredTogetherOrNotAtAll(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, work := newAccount(t, s, "home"), newAccount(t, s, "work")
	other := newPrompt(t, s, work, "theirs")
	prompt, config := draft(uuid.NewString(), "p", "x"), draft(uuid.NewString(), "c", "x")
	config.Kind = KindConfig
	for name, uses := range map[string]Ref{
		"a prompt that is not there":     {KindPrompt, uuid.NewString(), Newest},
		"a version that is not there":    {KindPrompt, prompt.ID, 1},
		"another account's":              {KindPrompt, other.ID, Newest},
		"another account's by version":   {KindPrompt, other.ID, 0},
		"a tool with the id of a prompt": {KindTool, prompt.ID, Newest},
	} {
		config.Uses = []Ref{uses}
		_, err := s.AddVersions(t.Context(), home, prompt, config)
		wantError(t, err, ErrNotFound, string(uses.Kind), uses.ID)
		if _, total, err := s.List(t.Context(), home, ResourceFilter{Kind: KindPrompt}, Page{Size: 9}); err != nil ||
			total != 0 {
			t.Fatalf("%s: %d prompts are left (%v)", name, total, err)
		}
	}
	config.Uses = []Ref{{KindPrompt, prompt.ID, Newest}, {KindPrompt, prompt.ID, 0}}
	stored, err := s.AddVersions(t.Context(), home, prompt, config)
	if err != nil || len(stored) != 2 || stored[1].Kind != KindConfig {
		t.Errorf("stored %+v, %v", stored, err)
	}
	_, err = s.AddVersions(t.Context(), home, prompt)
	wantError(t, err, ErrConflict)
	_, err = s.AddVersions(t.Context(), "nobody", draft(uuid.NewString(), "x", "x"))
	wantError(t, err, ErrNotFound, "nobody")
	prompt.ID, prompt.Content = uuid.NewString(), "{"
	_, err = s.AddVersions(t.Context(), home, prompt)
	wantError(t, err, ErrNotAllowed, "content")
}

// For an account, a resource of another account does not exist.
func TestResourceOfAnotherAccountIsNotFound(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, work := newAccount(t, s, "home"), newAccount(t, s, "work")
	p := newPrompt(t, s, home, "secret")
	ref := Ref{KindPrompt, p.ID, 0}
	for name, attack := range map[string]func() error{
		"read": func() error { _, err := s.VersionOf(t.Context(), work, ref); return err },
		"read newest": func() error {
			_, err := s.VersionOf(t.Context(), work, Ref{KindPrompt, p.ID, Newest})
			return err
		},
		"versions": func() error {
			_, _, err := s.Versions(t.Context(), work, KindPrompt, p.ID, true, Page{Size: 9})
			return err
		},
		"add":            func() error { _, err := s.AddVersions(t.Context(), work, draft(p.ID, "", "x")); return err },
		"rename":         func() error { return s.Rename(t.Context(), work, KindPrompt, p.ID, "mine") },
		"describe":       func() error { _, err := s.Describe(t.Context(), work, ref, "mine"); return err },
		"delete version": func() error { return s.DeleteVersion(t.Context(), work, ref) },
		"delete":         func() error { return s.Delete(t.Context(), work, KindPrompt, p.ID) },
		"other kind":     func() error { return s.Delete(t.Context(), home, KindTool, p.ID) },
	} {
		if err := attack(); err == nil || !strings.Contains(err.Error(), p.ID) {
			t.Errorf("%s: %v", name, err)
		} else {
			wantError(t, err, ErrNotFound)
		}
	}
	for _, f := range []ResourceFilter{{Kind: KindPrompt}, {Kind: KindPrompt, Name: "secret"},
		{Kind: KindPrompt, AllVersions: true}} {
		if rows, total, err := s.List(t.Context(), work, f, Page{Size: 9}); err != nil || total != 0 || len(rows) != 0 {
			t.Errorf("%+v lists %v (%v)", f, rows, err)
		}
	}
	if found, err := s.Resolve(t.Context(), work, []Ref{ref}); err != nil || len(found) != 0 {
		t.Errorf("resolved %v, %v", found, err)
	}
	got, err := s.VersionOf(t.Context(), home, ref)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(p) {
		t.Errorf("it is now %+v (%v), and was %+v", got, err, p)
	}
}

// modelResource is the expected state of a prompt.
type modelResource struct {
	id, name string
	next     int
	versions []int // those that are left
}

// Any sequence of creations, versions, renamings and deletions gives the lists of a
// simple model: numbers increase by one, and none is used again.
func TestRandomChangesOfResourcesMatchTheModel(t *testing.T) {
	s := openStore(t, t.TempDir())
	serial := 0
	rapid.Check(t, func(r *rapid.T) {
		serial++
		account := newAccount(t, s, fmt.Sprint("a", serial))
		var model []*modelResource
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			if len(model) == 0 || rapid.IntRange(0, 4).Draw(r, "create") == 0 {
				v := newPrompt(t, s, account, rapid.SampledFrom([]string{"x", "y", "X"}).Draw(r, "name"))
				model = append(model, &modelResource{v.ID, v.Name, 1, []int{0}})
				continue
			}
			i := rapid.IntRange(0, len(model)-1).Draw(r, "which")
			m := model[i]
			number := rapid.IntRange(0, m.next).Draw(r, "version")
			switch rapid.IntRange(0, 3).Draw(r, "step") {
			case 0:
				stored, err := s.AddVersions(t.Context(), account, draft(m.id, "", "x"))
				must(t, err)
				if stored[0].Number != m.next || stored[0].Name != m.name {
					r.Fatalf("version %d of %q, want %d of %q", stored[0].Number, stored[0].Name, m.next, m.name)
				}
				m.versions = append(m.versions, m.next)
				m.next++
			case 1:
				m.name = rapid.SampledFrom([]string{"x", "y", "z"}).Draw(r, "new name")
				must(t, s.Rename(t.Context(), account, KindPrompt, m.id, m.name))
			case 2:
				err := s.DeleteVersion(t.Context(), account, Ref{KindPrompt, m.id, number})
				if there := slices.Contains(m.versions, number); there != (err == nil) {
					r.Fatalf("deleting version %d of %v: %v", number, m.versions, err)
				}
				m.versions = slices.DeleteFunc(m.versions, func(n int) bool { return n == number })
			case 3:
				if rapid.IntRange(0, 3).Draw(r, "whole") == 0 {
					must(t, s.Delete(t.Context(), account, KindPrompt, m.id))
					model = slices.Delete(model, i, i+1)
				}
			}
		}
		f := ResourceFilter{Kind: KindPrompt, AllVersions: rapid.Bool().Draw(r, "all"),
			Name: rapid.SampledFrom([]string{"", "x", "y"}).Draw(r, "filter")}
		size := rapid.IntRange(1, 7).Draw(r, "size")
		want := expected(model, f)
		var got []string
		for number := 0; ; number++ {
			rows, total, err := s.List(t.Context(), account, f, Page{Number: number, Size: size})
			must(t, err)
			if total != len(want) {
				r.Fatalf("%d rows in all, want %d", total, len(want))
			}
			if len(rows) == 0 {
				break
			}
			for _, v := range rows {
				got = append(got, fmt.Sprint(v.ID, v.Number, v.Name))
			}
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%+v lists\n%v, want\n%v", f, got, want)
		}
		for _, m := range model {
			rows, total, err := s.Versions(t.Context(), account, KindPrompt, m.id, true, Page{Size: 100})
			must(t, err)
			if total != len(m.versions) || len(rows) != total {
				r.Fatalf("%d versions, want %v", total, m.versions)
			}
		}
	})
}

func expected(model []*modelResource, f ResourceFilter) []string {
	var rows []string
	for _, m := range model {
		versions := m.versions
		if !f.AllVersions && len(versions) > 0 {
			versions = versions[len(versions)-1:]
		}
		for _, n := range versions {
			if f.Name == "" || f.Name == m.name {
				rows = append(rows, fmt.Sprint(m.id, n, m.name))
			}
		}
	}
	return rows
}

func TestWritesUpdateTheModificationTime(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	p := newPrompt(t, s, home, "p")
	// As if it had been made long ago.
	_, err := s.w.conn.ExecContext(t.Context(), `UPDATE resource SET created_ms = 1000, renamed_ms = 1000;
		UPDATE resource_version SET created_ms = 1000, modified_ms = 1000`)
	must(t, err)
	v, err := s.Describe(t.Context(), home, Ref{KindPrompt, p.ID, 0}, "new")
	must(t, err)
	if v.Description != "new" || v.CreatedMS != 1000 || v.ModifiedMS <= 1000 {
		t.Errorf("described: %+v", v)
	}
	stored, err := s.AddVersions(t.Context(), home, draft(p.ID, "", "second"))
	must(t, err)
	if stored[0].CreatedMS != 1000 || stored[0].ModifiedMS <= 1000 {
		t.Errorf("second version: %+v", stored)
	}
	_, err = s.Describe(t.Context(), home, Ref{KindPrompt, p.ID, Newest}, "x")
	wantError(t, err, ErrNotFound)
}

// Lists are counted and read with an index, in order; skipped rows are not read.
func TestListsOfResourcesUseIndexes(t *testing.T) {
	s := openStore(t, t.TempDir())
	for index, where := range map[string]string{
		"resource_kind": ` WHERE r.newest IS NOT NULL AND r.kind = 'prompt' AND r.account = 1`,
		"resource_name": ` WHERE r.newest IS NOT NULL AND r.kind = 'prompt' AND r.account = 1 AND r.name = 'x'`,
	} {
		countNewest, newest := listNewest(where)
		countAll, all := listAll(where)
		for _, text := range []string{countNewest, newest, countAll, all} {
			plan, err := query(t.Context(), s.read, func(row scanner) (step string, err error) {
				var id, parent, unused int
				return step, row.Scan(&id, &parent, &unused, &step)
			}, `EXPLAIN QUERY PLAN `+text, make([]any, strings.Count(text, "?"))...)
			must(t, err)
			steps := strings.Join(plan, "; ")
			inOrder := strings.Contains(steps, index) || text == countNewest || text == countAll // which need none
			// which reads what it finds
			covered := strings.Contains(steps, "COVERING INDEX resource_") || text == all
			if !inOrder || !covered || strings.Contains(steps, "SCAN") || strings.Contains(steps, "B-TREE") {
				t.Errorf("%s: %s", text, steps)
			}
		}
	}
}
