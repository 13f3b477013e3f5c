package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASampleOfTheSettingsIsWrittenWhereServeReadsIt(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(data, "parley.yaml")
	if code, out, errs := parley(t, "", "config", "--init", "--data", data); code != exitDone ||
		!strings.Contains(out, file) {
		t.Fatalf("code %d, %q, %q", code, out, errs)
	}
	if err := os.WriteFile(file, []byte("profile: small\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, out, _ := parley(t, "", "config", "--data", data); !strings.Contains(out, "small") ||
		!strings.Contains(out, "parley.yaml:1") {
		t.Errorf("serve does not read it: %s", out)
	}
	if code, _, errs := parley(t, "", "config", "--init", "--data", data); code != exitFailed ||
		!strings.Contains(errs, "--force") {
		t.Errorf("one that is there: code %d, %q", code, errs)
	}
	if text, _ := os.ReadFile(file); string(text) != "profile: small\n" {
		t.Errorf("it was overwritten: %q", text)
	}
	if code, _, errs := parley(t, "", "config", "--init", file, "--force"); code != exitDone {
		t.Errorf("by force: code %d, %q", code, errs)
	}
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), "#listen: 127.0.0.1:8080") {
		t.Errorf("it was not overwritten: %q", text)
	}
	// A file outside the data folder says where the data is: else serve would begin another box.
	file = filepath.Join(t.TempDir(), "parley.yaml")
	parley(t, "", "config", "--init", file, "--data", data, "--packs", "/srv/packs")
	text, err := os.ReadFile(file)
	for _, want := range []string{"data: \"" + data + "\"\n", "packs: \"/srv/packs\"\n"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("it has no %s: %v\n%s", want, err, text)
		}
	}
}

func TestOldFlagsAreTakenAndNotShown(t *testing.T) {
	_, help, _ := parley(t, "", "serve", "--help")
	if strings.Contains(help, "--retention-days") || !strings.Contains(help, "--retention-keep") {
		t.Errorf("the help has old flags: %s", help)
	}
	code, _, errs := parley(t, "", "serve", "--retention-days", "many", "--data", t.TempDir())
	if code != exitMisuse || !strings.Contains(errs, "retention.days (--retention-days)") {
		t.Errorf("an old flag: code %d, %q", code, errs)
	}
}
