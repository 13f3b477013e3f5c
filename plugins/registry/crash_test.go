package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/store"
)

// changeEnv names the data folder in which this program, started again by a test,
// installs, upgrades and removes a plugin over and over until it is killed. The
// folders of the plugin's versions come behind it, separated by colons.
const changeEnv = "PARLEY_SHELF_TEST_CHANGE"

func TestMain(m *testing.M) {
	if all := os.Getenv(changeEnv); all != "" {
		fmt.Fprintln(os.Stderr, changeUntilKilled(strings.Split(all, ":")))
		os.Exit(1)
	}
	if data := os.Getenv(logEnv); data != "" {
		fmt.Fprintln(os.Stderr, logUntilKilled(data))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func changeUntilKilled(paths []string) error {
	ctx := context.Background()
	records, err := store.Join(ctx, paths[0])
	if err != nil {
		return err
	}
	s := Open(Parts{Records: records, Data: paths[0], Log: slog.New(slog.DiscardHandler)})
	for n := 0; ; n++ {
		p, err := Read(paths[1+n%2], "")
		if err != nil {
			return err
		}
		o, err := s.Examine(ctx, p)
		if err != nil {
			return err
		}
		switch {
		case o.Installed == nil:
			err = s.Install(ctx, o, Choice{})
		case n%5 == 4:
			err = s.Remove(ctx, "tool")
		case o.Installed.Digest != p.Digest():
			err = s.Upgrade(ctx, o, Choice{})
		}
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// After a kill at any moment, the old plugin, the new one, or none is installed, and no
// other files remain after the next start.
func TestAKilledChangeLeavesTheOldOrTheNewPlugin(t *testing.T) {
	data := t.TempDir()
	records, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	must(t, err)
	must(t, records.Close())
	versions := []string{fileOf(t, described("1.0.0"), empty),
		fileOf(t, described("2.0.0"), append(append([]byte{}, empty...), "\x00\x02\x01x"...))}
	seen := map[string]int{}
	for try := range 25 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), changeEnv+"="+strings.Join(append([]string{data}, versions...), ":"))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range 1 + try%5 {
			if !lines.Scan() {
				t.Fatal("the process changed nothing")
			}
		}
		<-time.After(time.Duration(try*7%20) * 2 * time.Millisecond) // anywhere in the next change
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		seen[wantWhole(t, data)]++
	}
	t.Log("found were", seen)
	if len(seen) < 2 {
		t.Error("every kill left the same version: the moments do not vary")
	}
}

// wantWhole opens the registry as the next start does, and returns the installed version,
// or an empty text.
func wantWhole(t *testing.T, data string) (version string) {
	t.Helper()
	records, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	must(t, err)
	s := Open(Parts{Records: records, Data: data, Log: slog.New(slog.DiscardHandler)})
	defer func() { must(t, errors.Join(s.Close(), records.Close())) }()
	must(t, s.Tidy(t.Context()))
	all, err := s.List(t.Context())
	must(t, err)
	files, err := os.ReadDir(filepath.Join(data, "plugins"))
	must(t, err)
	folders := 0
	for _, f := range files {
		if f.IsDir() {
			folders++
		}
	}
	if len(all) > 1 || folders != len(all) {
		t.Fatalf("%d plugins are installed, with %d folders: %v", len(all), folders, files)
	}
	if len(all) == 0 {
		return "nothing"
	}
	if all[0].State != Ready {
		t.Fatalf("the state is %s: %s", all[0].State, all[0].Why)
	}
	wasm, _, err := s.folder.get(all[0].Digest)
	must(t, err)
	p, err := newPackage(wasm, nil)
	must(t, err)
	if p.Manifest.Version != all[0].Version {
		t.Errorf("the files are those of %s, installed is %s", p.Manifest.Version, all[0].Version)
	}
	if _, err := s.Call(t.Context(), Origin{}, "do", nil); err != nil {
		t.Errorf("it cannot be called: %v", err)
	}
	return all[0].Version
}

// A new version that fails its own tests, or cannot be run, replaces nothing.
func TestAFailedUpgradeLeavesTheOldVersion(t *testing.T) {
	data := t.TempDir()
	failing := errors.New("case one: expected 1, got 2")
	s := box(t, data, func(p *Parts) {
		p.Check = func(_ context.Context, p Package) error {
			if p.Manifest.Version == "2.0.0" {
				return failing
			}
			return nil
		}
	})
	install(t, s, fileOf(t, described("1.0.0"), tool(t, "one")))
	next := fileOf(t, described("2.0.0"), tool(t, "two"))
	if err := upgrade(t, s, next, Choice{}); err == nil || !strings.Contains(err.Error(), failing.Error()) ||
		!strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("got %v", err)
	}
	wantSaid(t, s, "a", "one a")
	p, err := Read(fileOf(t, described("2.0.0"), []byte("\x00asm\x01\x00\x00\x00")), "")
	must(t, err)
	if _, err := s.Examine(t.Context(), p); err == nil {
		t.Error("a module without its tool was accepted")
	}
	wantSaid(t, s, "b", "one b")
	if left, err := filepath.Glob(filepath.Join(data, "plugins", "[0-9a-f]*")); err != nil || len(left) != 1 {
		t.Errorf("left is %v, %v", left, err)
	}
}

// Files that were changed after they were installed are not run.
func TestDamagedFilesAreNotRun(t *testing.T) {
	data := t.TempDir()
	s := box(t, data)
	install(t, s, fileOf(t, described("1.0.0"), empty))
	modules, err := filepath.Glob(filepath.Join(data, "plugins", "*", moduleName))
	must(t, err)
	must(t, os.WriteFile(modules[0], append(append([]byte{}, empty...), "\x00\x02\x01x"...), 0o600))
	if _, err := do(s, "", ""); err == nil || !strings.Contains(err.Error(), "not those that were installed") {
		t.Errorf("the call returned %v", err)
	}
	must(t, s.Remove(t.Context(), "tool"))
	install(t, s, fileOf(t, described("1.0.0"), empty)) // repairs it
	if _, err := do(s, "", ""); err != nil {
		t.Error(err)
	}
}
