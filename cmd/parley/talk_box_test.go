package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/appliance/box"
)

func TestTalkFindsTheBoxThatRuns(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cmd, url := serveTest(t, data)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers(t, url+"/readyz")
	code, out, errs := parley(t, "What is your name?\n", "talk", "--text", "--data", data)
	if code != exitDone || strings.Count(out, "assistant") == 0 {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
	if _, out, _ := parley(t, "", "keys", "list", "--data", data); strings.Contains(out, "parley talk") {
		t.Errorf("the key of one talk is listed for ever:\n%s", out)
	}
	// A recording in which nobody speaks, to the real ear.
	if code, _, errs := parley(t, "", "talk", "--wav", silentWAV(t), "--data", data); code != exitFailed ||
		!strings.Contains(errs, "no speech") {
		t.Errorf("silence: code %d, %q", code, errs)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("Ctrl-C stops a box that serves, and that is no failure: %v", err)
	}
	if found, err := box.Running(data); found != "" || err != nil {
		t.Errorf("it is found after its end: %q, %v", found, err)
	}
}
