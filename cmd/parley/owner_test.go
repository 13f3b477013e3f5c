package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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
	dir, program, must := forOtherUsers(t)
	must(os.Mkdir(filepath.Join(dir, "closed"), 0o700))
	for name, uid := range map[string]int{"of-root": 0, "of-another": 54321} {
		data := filepath.Join(dir, name)
		must(os.Mkdir(data, 0o755))
		must(os.Chown(data, uid, uid))
		c := exec.CommandContext(t.Context(), program, "-test.run", "^"+t.Name()+"$")
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

// forOtherUsers returns a folder, and the program of the test in it, that other users may use.
func forOtherUsers(t *testing.T) (dir, program string, must func(error)) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	dir = t.TempDir()
	must = func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chmod(filepath.Dir(dir), 0o755)) // of the test, for the other user
	self, err := os.Executable()
	must(err)
	program = filepath.Join(dir, "parley")
	must(os.Link(self, program))
	return dir, program, must
}

func TestCommandsOfRootRunAsTheOwnerOfTheBoxWithFilesThatOnlyRootCanOpen(t *testing.T) {
	dir, self, must := forOtherUsers(t)
	closed, packs := filepath.Join(dir, "closed"), filepath.Join(dir, "packs")
	must(os.Mkdir(closed, 0o700))
	must(os.Mkdir(packs, 0o755))
	must(os.Chown(packs, 54321, 54321))
	must(os.WriteFile(filepath.Join(closed, "not.wav"), []byte("no sound"), 0o600))
	must(os.WriteFile(filepath.Join(closed, "model.gguf"), []byte("GGUF"), 0o600))
	for args, want := range map[string]string{
		"hear not.wav":                "not.wav has an unknown format",      // so it was read
		"say Hello --out said.wav":    "runtime-onnx",                       // of the empty packs folder
		"packs add not.wav":           "a model needs a name",               // so it was read
		"packs add model.gguf --as a": "the user 54321, who may not read /", // and root did not load it
		"packs remove whisper":        "pack whisper is not there",
		"packs pull runtime-onnx":     "npm",
	} {
		cmd := program(t, []string{"PARLEY_PACKS=" + packs, "PARLEY_DATA=" + filepath.Join(dir, "none")},
			strings.Fields(args)...)
		cmd.Path, cmd.Dir = self, closed
		cmd.Env = append(cmd.Env, "PATH=/nowhere") // no client fetches anything
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("parley %s: %v, %s, want %s", args, err, out, want)
		}
	}
	if _, err := os.Stat(filepath.Join(closed, "said.wav")); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(packs, ".*"))
	must(err)
	for _, file := range left {
		info, err := os.Stat(file)
		must(err)
		if owner, _ := info.Sys().(*syscall.Stat_t); owner.Uid != 54321 {
			t.Errorf("%s belongs to user %d", file, owner.Uid)
		}
	}
	if len(left) == 0 {
		t.Error("nothing ran in the packs folder")
	}
}
