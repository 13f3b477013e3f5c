package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/cmd/parley/completion"
)

// A line is typed as far as the bar, completed, and run.
var typedLines = map[string]string{
	"parley keys revo":            "keys revoke",
	"parley serve --profile=sm":   "serve --profile=small",
	"parley serve --log-level de": "serve --log-level debug",
	"parley packs pull whis":      "packs pull whisper",
	"parley doctor --transc":      "doctor --transcriber",
	"parley hear sou":             "hear sound.wav",
	"parley doctor --data fol":    "doctor --data folder/",
	"parley help keys sig":        "help keys signing-key",
}

// completionFolder is a folder with a parley that completes with this program,
// and else says what it was called with; and with things to complete.
func completionFolder(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := fmt.Sprintf(
		"#!/bin/sh\nif [ \"$1\" = complete-line ]; then PARLEY_TEST_PROGRAM=1 exec %s \"$@\"; fi\necho \"RAN<$*>\"\n",
		self)
	for name, text := range map[string]string{"parley": program, "sound.wav": "", "folder/x": ""} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, shell := range completion.Shells() {
		code, script, errs := parley(t, "", "completion", shell)
		if code != exitDone || errs != "" {
			t.Fatalf("%s: code %d, %s", shell, code, errs)
		}
		if err := os.WriteFile(filepath.Join(dir, "parley."+shell), []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shell is a command in the folder that finds the parley there first.
func shell(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	// none is written while the folder goes
	cmd.Env = []string{"HOME=" + dir, "ZDOTDIR=" + dir, "PATH=" + dir + ":" + os.Getenv("PATH"), "TERM=dumb",
		"PS1=ready> ", "LC_ALL=C.UTF-8", "HISTFILE="}
	return cmd
}

func TestBashCompletesLines(t *testing.T) {
	dir := completionFolder(t)
	s := onScreen(t, 200, shell(t, dir, "bash", "--norc", "--noprofile", "-i"))
	if !s.shows("ready> ") {
		t.Fatal("no prompt")
	}
	s.press("source ./parley.bash\n")
	completesLines(t, s, 2)
}

func TestZshCompletesLines(t *testing.T) {
	dir := completionFolder(t)
	cmd := shell(t, dir, "zsh", "-i")
	if err := os.Rename(filepath.Join(dir, "parley.zsh"), filepath.Join(dir, "_parley")); err != nil {
		t.Fatal(err)
	}
	rc := "PS1='ready> '; fpath=(" + dir + " $fpath); autoload -Uz compinit; compinit -u\n"
	if err := os.WriteFile(filepath.Join(dir, ".zshrc"), []byte(rc), 0o644); err != nil {
		t.Fatal(err)
	}
	completesLines(t, onScreen(t, 200, cmd), 1)
}

// completesLines types the lines, the first one at this prompt of the shell's.
func completesLines(t *testing.T, s *screen, prompt int) {
	for typed, want := range typedLines {
		// What is typed before the prompt is there is not completed.
		if !s.showsTimes(prompt, "ready> ") {
			t.Fatalf("no prompt:\n%s", s.text())
		}
		prompt++
		s.press(typed + "\t\n")
		want = strings.TrimSuffix(want, "/") // zsh takes it away when the line is run
		if !s.shows("RAN<" + want) {
			t.Errorf("%q did not become %q:\n%s", typed, want, s.text())
			return
		}
	}
	s.press("exit\n")
}

func TestFishCompletesLines(t *testing.T) {
	dir := completionFolder(t)
	for typed, want := range typedLines {
		cmd := shell(t, dir, "fish", "--no-config", "-c", "source ./parley.fish; complete -C "+fmt.Sprintf("%q", typed))
		out, err := cmd.CombinedOutput()
		last := want[strings.LastIndex(want, " ")+1:]
		if err != nil || !strings.HasPrefix(string(out), last) {
			t.Errorf("%q: %v, %q; want %q", typed, err, out, last)
		}
	}
}

// What a shell offers is what the setting takes.
func TestTheWordsOfASettingAreAllowed(t *testing.T) {
	offered := 0
	for _, s := range config.Settings() {
		for _, word := range settingWords(s.Flag) {
			offered++
			sources := config.Sources{
				Flags:   map[string]string{s.Key: word},
				Environ: []string{"HOME=/"},
				Home:    t.TempDir(),
				Dir:     t.TempDir(),
			}
			if _, err := config.Load(sources); err != nil && strings.Contains(err.Error(), "not allowed") {
				t.Errorf("--%s %s: %v", s.Flag, word, err)
			}
		}
	}
	if offered < 15 {
		t.Errorf("%d words only", offered)
	}
}

func TestKeysAndAccountsAreCompleted(t *testing.T) {
	data, _ := aBox(t)
	_, out, _ := parley(t, "", "complete-line", "--", "keys", "revoke", "--data", data, "")
	if !strings.Contains(out, "\thome …") {
		t.Errorf("keys: %q", out)
	}
	if _, out, _ = parley(t, "", "complete-line", "--", "keys", "list", "--data", data, "--account",
		"h"); out != "home\n" {
		t.Errorf("accounts: %q", out)
	}
	if code, out, errs := parley(t, "", "complete-line", "--", "keys", "revoke", "--data", t.TempDir(),
		""); code != exitDone || out+errs != "" {
		t.Errorf("no box: code %d, %q, %q", code, out, errs)
	}
}
