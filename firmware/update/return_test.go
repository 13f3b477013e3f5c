package update

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/internal/progress"
)

// copyingBox is a fake box whose backup is a file.
type copyingBox struct{ fakeBox }

func (copyingBox) Backup(_ context.Context, file string, _ progress.Func) error {
	return os.WriteFile(file, nil, 0o600)
}

// readOne returns the text of the only file that matches a pattern.
func readOne(pattern string) string {
	if found, err := filepath.Glob(pattern); err == nil && len(found) == 1 {
		text, _ := os.ReadFile(found[0])
		return string(text)
	}
	return ""
}

func quietUpdater(t *testing.T) *Updater {
	t.Helper()
	return &Updater{
		Folder: t.TempDir(),
		Data:   t.TempDir(),
		Packs:  t.TempDir(),
		Box:    fakeBox{},
		Tell:   func(string) {},
		log:    io.Discard,
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestDatabaseThatOnlyTheFailedVersionMadeIsSetAsideOnce(t *testing.T) {
	u := quietUpdater(t)
	j := journal{Format: journalFormat, Data: u.Data, To: "0.1.1", Schema: true}
	must(t, u.saveDatabase(t.Context(), &j))
	j.Started = true
	must(t, u.enter(&j, Returning))
	database := filepath.Join(u.Data, "parley.db")
	put(t, database, "of the failed version")
	must(t, u.returnDatabase(&j))
	if _, err := os.Lstat(database); !os.IsNotExist(err) {
		t.Errorf("the old version finds the database of the new one: %v", err)
	}
	if text := readOne(database + "-of-0.1.1-*"); text != "of the failed version" {
		t.Errorf("set aside is %q", text)
	}
	put(t, database, "of the old version")
	again, err := u.readJournal()
	must(t, err)
	must(t, u.returnDatabase(&again)) // after a power cut
	if text := readOne(database); text != "of the old version" {
		t.Errorf("the database is %q", text)
	}
}

func TestASecondFailureKeepsTheDatabaseOfTheFirst(t *testing.T) {
	u := quietUpdater(t)
	database := filepath.Join(u.Data, "parley.db")
	for n := range 2 {
		j := journal{Format: journalFormat, Data: u.Data, To: "0.1.1", Schema: true, Started: true,
			BegunMS: time.Unix(int64(n), 0).UnixMilli()}
		put(t, database, "new")
		put(t, filepath.Join(u.Data, databaseCopy), "old")
		must(t, u.returnDatabase(&j))
	}
	if aside, err := filepath.Glob(database + "-of-0.1.1-*"); err != nil || len(aside) != 2 {
		t.Errorf("%v, %v", aside, err)
	}
}

func TestPacksReturnAlsoThoseThatTheOperatorFetchedMeanwhile(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		u := quietUpdater(t)
		j := journal{Packs: u.Packs, Replace: []string{"model"}, Add: []string{"extra", "other"}}
		in := func(name string) string { return filepath.Join(u.Packs, name, "version") }
		put(t, in("model"), "old")
		for _, name := range []string{"model", "extra", "other"} {
			put(t, in(newPacks+"/"+name), "new")
		}
		must(t, os.MkdirAll(filepath.Join(u.Packs, oldPacks), 0o755))
		put(t, in("extra"), "of the operator")
		if replaced {
			must(t, u.replacePacks(&j))
			if text := readOne(in("extra")) + readOne(in("model")) + readOne(in("other")); text != "newnewnew" {
				t.Errorf("in place is %q", text)
			}
		}
		for range 2 {
			must(t, u.returnPacks(&j))
			text := readOne(in("extra")) + readOne(in("model")) + readOne(in("other"))
			if text != "of the operatorold" {
				t.Errorf("replaced: %v: %q", replaced, text)
			}
		}
	}
}

func TestBackupsStayTwoInAFolderOfAnyName(t *testing.T) {
	u := quietUpdater(t)
	folder := filepath.Join(t.TempDir(), "back[up")
	put(t, filepath.Join(u.Data, "parley.db"), "1")
	u.Box = copyingBox{}
	for _, at := range []string{"20250101T000000Z", "20250102T000000Z"} {
		put(t, filepath.Join(folder, "parley-before-0.0.9-"+at+".tar.zst"), at)
	}
	must(t, u.backup(t.Context(), folder, "0.1.1"))
	if left, err := os.ReadDir(folder); err != nil || len(left) != storedBackups {
		t.Errorf("%v, %v", left, err)
	}
}
