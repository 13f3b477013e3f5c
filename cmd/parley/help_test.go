package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheProgramAloneSaysWhatItIs(t *testing.T) {
	code, out, errs := parley(t, "")
	if code != exitDone || errs != "" || strings.Count(out, "\n") > 40 {
		t.Errorf("code %d, err %q, %d lines", code, errs, strings.Count(out, "\n"))
	}
	for _, want := range []string{"voice service", "parley serve", "parley talk", "Run a box:", "doctor",
		"parley help COMMAND"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestTheVersionIsSaidByWhateverNameItIsAskedFor(t *testing.T) {
	_, want, _ := parley(t, "", "version")
	for _, args := range [][]string{{"--version"}, {"-v"}, {"serve", "--version"}, {"say", "-v"}} {
		if code, out, errs := parley(t, "", args...); code != exitDone || out != want || errs != "" {
			t.Errorf("%v: code %d, %q, %q; want %q", args, code, out, errs, want)
		}
	}
}

func TestHelpShowsWhatTheFlagShows(t *testing.T) {
	for _, command := range []string{"", "serve", "keys", "keys create", "packs pull"} {
		words := strings.Fields(command)
		_, want, _ := parley(t, "", append(words, "--help")...)
		code, out, errs := parley(t, "", append([]string{"help"}, words...)...)
		if code != exitDone || out != want || errs != "" {
			t.Errorf("help %s: code %d, %q\n%s\nwant\n%s", command, code, errs, out, want)
		}
	}
	if code, out, errs := parley(t, "", "help", "keys", "nonsense"); code != exitMisuse || out != "" ||
		!strings.Contains(errs, `"keys nonsense"`) {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}

func TestHelpFitsIntoTheTerminal(t *testing.T) {
	for columns, most := range map[int]int{60: 60, 80: 80, 120: 100, 200: 100} {
		environ := []string{fmt.Sprintf("COLUMNS=%d", columns)}
		for _, c := range described(t).All() {
			args := append([]string{"help"}, strings.Fields(c.Name)[1:]...)
			code, out, _ := parleyIn(t.Context(), "", environ, args...)
			if code != exitDone {
				t.Fatalf("%v: code %d", args, code)
			}
			for line := range strings.Lines(out) {
				line = strings.TrimRight(line, "\n")
				example := strings.HasPrefix(line, "  ") && strings.Contains(c.Examples, strings.TrimSpace(line))
				if n := utf8.RuneCountInString(line); n > most && !example && len(strings.Fields(line)) > 1 {
					t.Errorf("%s at %d columns: %d in %q", c.Name, columns, n, line)
				}
			}
		}
	}
}

func TestAFailureToPrintIsAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0) // runs into a full disk at the first byte
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{}, {"--help"}, {"-v"}, {"version"}, {"help", "serve"}, {"man"},
		{"completion", "zsh"}} {
		cmd := program(t, nil, args...)
		cmd.Stdout = full
		var errs strings.Builder
		cmd.Stderr = &errs
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: code %d, %q", args, code, errs.String())
		}
	}
}

func TestTheManualPageIsWellFormed(t *testing.T) {
	code, page, errs := parley(t, "", "man")
	if code != exitDone || errs != "" {
		t.Fatalf("code %d, %s", code, errs)
	}
	for _, c := range described(t).All() {
		if !strings.Contains(page, strings.ReplaceAll(c.Name, "-", `\-`)) {
			t.Errorf("%s is missing", c.Name)
		}
	}
	for _, want := range []string{".SH \"EXIT STATUS\"", "PARLEY_DATA", ".SH \"FILES\"", "130"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
	checks := [][]string{{"groff", "-man", "-ww", "-z", "-Tutf8"}, {"mandoc", "-Tlint", "-Wwarning"}}
	for _, check := range checks {
		path, err := exec.LookPath(check[0])
		if err != nil {
			t.Logf("%s is not installed", check[0])
			continue
		}
		cmd := exec.CommandContext(t.Context(), path, check[1:]...)
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", check[0], err, out)
		}
	}
}

func TestThePageOfCommandsIsFresh(t *testing.T) {
	_, want, _ := parleyIn(t.Context(), "", nil, "man", "--markdown")
	file := filepath.Join("..", "..", "docs", "commands.md")
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("docs/commands.md is stale (%v): parley man --markdown > docs/commands.md makes it anew", err)
	}
}

func TestAMachineWithoutHomeIsNoObstacle(t *testing.T) {
	cmd := program(t, []string{"HOME="}, "packs", "list", "--json")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "moonshine") {
		t.Errorf("%v, %q", err, out)
	}
}
