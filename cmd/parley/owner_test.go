package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
)

// ownedVariable names the data folder of the child process of the test below.
const ownedVariable = "PARLEY_TEST_OWNED_DATA"

func TestRootExaminesABoxAsTheUserToWhomItBelongs(t *testing.T) {
	if data := os.Getenv(ownedVariable); data != "" {
		if err := runAsOwner(config.Config{Data: data}, os.Environ()); err != nil {
			t.Fatal(err)
		}
		folder, _ := os.Getwd()
		groups, _ := os.Getgroups()
		fmt.Printf("runs as %d:%d %v in %s\n", os.Getuid(), os.Getgid(), groups, folder)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chmod(filepath.Dir(dir), 0o755)) // of the test, for the other user
	program, err := os.Executable()
	must(err)
	must(os.Link(program, filepath.Join(dir, "test")))
	must(os.Mkdir(filepath.Join(dir, "closed"), 0o700))
	for name, uid := range map[string]int{"of-root": 0, "of-another": 54321} {
		data := filepath.Join(dir, name)
		must(os.Mkdir(data, 0o755))
		must(os.Chown(data, uid, uid))
		c := exec.CommandContext(t.Context(), filepath.Join(dir, "test"), "-test.run", "^"+t.Name()+"$")
		c.Dir = filepath.Join(dir, "closed")
		c.Env = append(os.Environ(), ownedVariable+"="+data)
		out, err := c.CombinedOutput()
		want := fmt.Sprintf("runs as %d:%[1]d [%[1]d] in /\n", uid)
		if uid == 0 {
			want = "runs as 0:0"
		} else {
			want = strings.Replace(want, " [54321]", " []", 1)
		}
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, %s, want %s", name, err, out, want)
		}
	}
}
