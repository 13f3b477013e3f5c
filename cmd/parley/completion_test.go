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

// Each line is typed up to the bar, completed, and run.
var typedLines = map[string]string{
	"parley keys revo":            "keys revoke",
	"parley serve --profile sm":   "serve --profile small",
	"parley serve --log-level de": "serve --log-level debug",
	"parley packs pull whis":      "packs pull whisper",
	"parley doctor --transc":      "doctor --transcriber",
	"parley hear sou":             "hear sound.wav",
	"parley doctor --data fol":    "doctor --data folder/",
	"parley webhooks --state w":   "webhooks --state waiting",
}

// completionFolder returns a folder with a parley that prints its arguments, the
// completion scripts of this program, and files to complete.
func completionFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"parley": "#!/bin/sh\necho \"RAN<$*>\"\n", "sound.wav": "", "folder/x": ""}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, script, errs := parley(t, "", "help", "--completion", shell)
		if code != exitDone || errs != "" {
			t.Fatalf("%s: code %d, %s", shell, code, errs)
		}
		files["parley."+shell] = script
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shell returns a command that runs in the folder and finds the parley there first.
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
		"PS1=ready> ", "LC_ALL=C.UTF-8", "HISTFILE=", "PARLEY_TEST_PROGRAM=1"}
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
	rc := "PS1='ready> '; autoload -Uz compinit; compinit -u; source " + dir + "/parley.zsh\n"
	if err := os.WriteFile(filepath.Join(dir, ".zshrc"), []byte(rc), 0o644); err != nil {
		t.Fatal(err)
	}
	completesLines(t, onScreen(t, 200, cmd), 1)
}

// completesLines types the lines, the first one at this prompt of the shell.
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

// A shell offers the values that the setting allows.
func TestTheWordsOfASettingAreAllowed(t *testing.T) {
	offered := 0
	for _, s := range config.Settings() {
		for _, word := range allowedWords(s) {
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

func TestNamesAreCompleted(t *testing.T) {
	data, _ := aBox(t)
	_, keys, _ := parley(t, "", "keys", "list", "--data", data, "--json")
	for line, want := range map[string]string{
		"parley keys revoke ":                                     "",
		"parley keys list --account h":                            "home\n",
		"parley packs list whis":                                  "whisper\n",
		"parley keys list --data " + t.TempDir() + " --account h": "-",
	} {
		out, err := program(t, []string{"COMP_LINE=" + line, "PARLEY_DATA=" + data}).Output()
		got := strings.TrimSpace(string(out))
		if want == "" && (got == "" || !strings.Contains(keys, got)) || want == "-" && got != "" ||
			len(want) > 1 && string(out) != want || err != nil {
			t.Errorf("%q: %v, %q; want %q", line, err, out, want)
		}
	}
}
