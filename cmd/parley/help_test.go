package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestTheProgramAloneSaysWhatItIs(t *testing.T) {
	code, out, errs := parley(t, "")
	if code != exitDone || errs != "" {
		t.Errorf("code %d, err %q", code, errs)
	}
	for _, want := range []string{"voice service", "parley serve", "parley talk", "Run a box:", "doctor",
		"parley help --all"} {
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
	_, all, _ := parley(t, "", "help", "--all")
	for _, command := range []string{"", "serve", "keys", "keys create"} {
		words := strings.Fields(command)
		_, want, _ := parley(t, "", append(words, "--help")...)
		code, out, errs := parley(t, "", append([]string{"help"}, words...)...)
		if code != exitDone || out != want || errs != "" {
			t.Errorf("help %s: code %d, %q\n%s\nwant\n%s", command, code, errs, out, want)
		}
		if command != "" && !strings.Contains(all, want) {
			t.Errorf("help --all has no %s", command)
		}
	}
	if code, out, errs := parley(t, "", "help", "keys", "nonsense"); code != exitMisuse || out != "" ||
		!strings.Contains(errs, `"keys nonsense"`) {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}

func TestAFailureToPrintIsAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0) // runs into a full disk at the first byte
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{}, {"--help"}, {"-v"}, {"version"}, {"help", "serve"}, {"help", "--all"},
		{"help", "--man"}, {"help", "--completion", "zsh"}} {
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
	code, page, errs := parley(t, "", "help", "--man")
	if code != exitDone || errs != "" || strings.Contains(page, "%!") {
		t.Fatalf("code %d, %s", code, errs)
	}
	for _, n := range leaves(t) {
		if !n.Hidden && !strings.Contains(page, strings.ReplaceAll(n.Summary(), ".", `\&.`)) {
			t.Errorf("%s is missing", n.Summary())
		}
	}
	for _, want := range []string{".SH EXIT STATUS", "PARLEY_DATA", ".SH FILES", "130"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
	path, err := exec.LookPath("mandoc") // runs: mandoc
	if err != nil {
		t.Skip("mandoc is not installed")
	}
	cmd := exec.CommandContext(t.Context(), path, "-Tlint", "-Werror") // runs: mandoc
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAMachineWithoutHomeIsNoObstacle(t *testing.T) {
	cmd := program(t, []string{"HOME="}, "packs", "list", "--json")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "moonshine") {
		t.Errorf("%v, %q", err, out)
	}
}
