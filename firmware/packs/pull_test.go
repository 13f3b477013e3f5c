package packs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/internal/progress"
)

func TestPulledPackIsCompleteWithItsLicences(t *testing.T) {
	r := newRegistry(t)
	dir := filepath.Join(t.TempDir(), "packs")
	a, b := r.model("a", 5), r.model("b", 1)
	last := map[string]progress.Event{}
	if err := Pull(t.Context(), dir, []Pack{a, b}, func(e progress.Event) { last[e.Name] = e }); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Pack{a, b} {
		wantStatus(t, dir, p, true, Ready)
		if e := last[p.Name]; e.Step != progress.Done || e.Done != p.Bytes() || e.Total != p.Bytes() {
			t.Errorf("the last event of %s: %+v", p.Name, e)
		}
	}
	files := tree(t, dir)
	if !strings.Contains(files["a/LICENSE"], "Copyright nobody") ||
		!strings.Contains(files["a/CARD.md"], a.Builds["any"].Files[0].SHA256) {
		t.Errorf("papers: %q %q", files["a/LICENSE"], files["a/CARD.md"])
	}
	for name := range files {
		if strings.HasPrefix(name, stageName) {
			t.Errorf("%s was left behind", name)
		}
	}
	r.calls()
	pull(t, dir, a, b)
	if calls := r.calls(); len(calls) > 0 {
		t.Errorf("a second pull fetched %v", calls)
	}
}

func TestInterruptedPullResumesAndLeavesNoPartialPack(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	p := r.model("m", 3)
	r.hang("m-part1")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil { // until the other three are done and the one hangs
			done, _ := filepath.Glob(filepath.Join(dir, stageName, "m", "done", "*"))
			if _, err := os.Stat(filepath.Join(r.folder, "sleeper")); err == nil && len(done) == 3 {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if err := Pull(ctx, dir, []Pack{p}, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want it to be cancelled", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "m")); err == nil {
		t.Fatal("a partial pack was installed")
	}
	if s := wantStatus(t, dir, p, false, Absent); s.Mend != "parley packs pull m" {
		t.Errorf("mended by %q", s.Mend)
	}
	wantDead(t, filepath.Join(r.folder, "sleeper"))

	r.calls()
	r.hang()
	pull(t, dir, p)
	if calls := r.calls(); !slices.Equal(calls, []string{"m-part1"}) {
		t.Errorf("going on fetched %v, want only m-part1", calls)
	}
	wantStatus(t, dir, p, true, Ready)
}

// wantDead checks that the process whose id is in file has ended.
func wantDead(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err != nil ||
			strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("what the package client started is still running")
		}
	}
}

func TestDamagedStagedPartIsFetchedAgain(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	p := r.model("m", 2)
	r.hang("m-part1")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if done, _ := filepath.Glob(filepath.Join(dir, stageName, "m", "done", "*")); len(done) == 2 {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	_ = Pull(ctx, dir, []Pack{p}, nil)
	r.hang()
	flip(t, filepath.Join(dir, stageName, "m", "files", "model.gguf"), 3)
	err := Pull(t.Context(), dir, []Pack{p}, nil)
	if err == nil || !strings.Contains(err.Error(), "pack m is damaged: model.gguf") {
		t.Fatalf("got %v", err)
	}
	pull(t, dir, p)
	wantStatus(t, dir, p, true, Ready)
}

// flip changes one byte of a file.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		b[at] ^= 1
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnlyDamagedFilesAreFetchedAgain(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	p := r.model("m", 2)
	pull(t, dir, p)
	r.calls()
	flip(t, filepath.Join(dir, "m", "sub", "config.json"), 2)
	wantStatus(t, dir, p, false, Damaged)
	before, err := os.Stat(filepath.Join(dir, "m", "model.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	pull(t, dir, p)
	if calls := r.calls(); !slices.Equal(calls, []string{"m-config"}) {
		t.Errorf("mending fetched %v, want only m-config", calls)
	}
	after, err := os.Stat(filepath.Join(dir, "m", "model.gguf"))
	if err != nil || !os.SameFile(before, after) {
		t.Error("the file that was right is another one now")
	}
	wantStatus(t, dir, p, true, Ready)
}

func TestPackageWithAnotherChecksumIsRefused(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	for name, data := range map[string]string{
		"other":  "something else of another length",
		"empty":  "",
		"longer": strings.Repeat("m part 0\n", 1000) + "x",
	} {
		p := r.model("m", 1)
		r.publish("m-part0", []byte(data))
		err := Pull(t.Context(), dir, []Pack{p}, nil)
		if err == nil || !strings.Contains(err.Error(), "pip m-part0 1: data: it has") {
			t.Errorf("%s: got %v", name, err)
		}
		wantStatus(t, dir, p, false, Absent)
	}
}

func TestErrorOfAFailingClientIsQuoted(t *testing.T) {
	r := newRegistry(t)
	p := r.model("m", 1)
	if err := os.Remove(filepath.Join(r.folder, "m-part0.whl")); err != nil {
		t.Fatal(err)
	}
	err := Pull(t.Context(), t.TempDir(), []Pack{p}, nil)
	if err == nil || !strings.Contains(err.Error(),
		"pack m: fetching pip m-part0 1: pip3 failed: ERROR: No matching distribution found for m-part0==1") {
		t.Errorf("got %v", err)
	}
	if calls := r.calls(); len(calls) < maxTries {
		t.Errorf("it was asked for %d times, want %d", len(calls), maxTries)
	}
}

func TestMissingClientErrorSaysWhatToInstall(t *testing.T) {
	r := newRegistry(t)
	p := r.model("m", 1)
	t.Setenv("PATH", "/nowhere")
	err := Pull(t.Context(), t.TempDir(), []Pack{p}, nil)
	var e *ErrNoClient
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "apt-get install python3-pip") {
		t.Errorf("got %v", err)
	}
}

func TestSecondConcurrentPullIsRefused(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	p := r.model("m", 1)
	unlock, err := lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = Pull(t.Context(), dir, []Pack{p}, nil)
	var e *ErrLocked
	if !errors.As(err, &e) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("got %v", err)
	}
	unlock()
	pull(t, dir, p)
}

func TestPullOfCompletePacksWritesNothing(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	p := r.model("m", 1)
	pull(t, dir, p)
	unlock, err := lock(dir) // simulates a read-only folder
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	pull(t, dir, p)
}

func TestFullDiskIsReportedBeforeTheDownload(t *testing.T) {
	r := newRegistry(t)
	p := r.model("m", 1)
	b := p.Builds["any"]
	b.Sources[0].Parts[0].Bytes = 1 << 60
	err := Pull(t.Context(), t.TempDir(), []Pack{p}, nil)
	if err == nil || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("got %v", err)
	}
	if calls := r.calls(); len(calls) > 0 {
		t.Errorf("yet it fetched %v", calls)
	}
}

func TestJobIsDownloadingUntilAllOfItIsUnpacked(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "archive"), make([]byte, 30), 0o644); err != nil {
		t.Fatal(err)
	}
	j := &job{stage: &stage{pack: Pack{Name: "m"},
		build: Build{Sources: []Source{{Bytes: 100}, {Bytes: 200}, {Bytes: 300}}}}, total: 600}
	p := &puller{}
	for i := range 3 {
		p.downloads = append(p.downloads, &download{job: j, index: i})
	}
	want := func(step progress.Step, done int64, active bool) {
		t.Helper()
		e, busy := p.stateOf(j)
		if busy != active || active && (e.Step != step || e.Done != done || e.Total != 600) {
			t.Errorf("%+v, active %v; want %s, %d bytes", e, busy, step, done)
		}
	}
	want("", 0, false)
	p.downloads[0].folder.Store(&folder)
	p.downloads[1].folder.Store(&folder)
	want(progress.Downloading, 60, true)
	p.downloads[0].unpacking.Store(true)
	want(progress.Downloading, 130, true)
	p.downloads[1].unpacking.Store(true)
	want(progress.Unpacking, 300, true)
	p.downloads[0].folder.Store(nil)
	j.done.Store(100)
	want(progress.Unpacking, 300, true)
}

// Unpacking a gigabyte takes long on a slow disk: it can be cancelled within a member.
func TestUnpackingCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	endless := readerFunc(func(p []byte) (int, error) {
		if read++; read == 3 {
			cancel()
		}
		return len(p), nil
	})
	a := func(_ func(string) bool, take func(string, io.Reader) error) error { return take("data", endless) }
	err := extractParts(ctx, a, []Part{{Member: "data", File: "f", Bytes: 1 << 40}}, t.TempDir())
	if !errors.Is(err, context.Canceled) || read > 3 {
		t.Errorf("after %d pieces: %v", read, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
