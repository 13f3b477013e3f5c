package main

import (
	"slices"
	"strings"
	"testing"
)

// A command of an earlier version is translated, or the error names the new one.
func TestOldSpellings(t *testing.T) {
	for old, want := range map[string]string{
		"keys regenerate ID":                  "keys create --renew ID",
		"console --data pair sessions --json": "console --data pair --sessions --json",
		"console --json end ID":               "console --json --end ID",
		"console end --all --data D":          "console --end all --data D",
		"devices --json":                      "doctor --devices --json",
		"devices --test --json":               "doctor --sound --json",
		"packs --packs DIR export FILE NAME":  "packs --packs DIR pull --export FILE NAME",
		"kiosk --data D list":                 "keys --data D list --screens",
		"voices --account A play N":           "say --account A --voice N",
		"voices delete --account A N":         "voices list --delete --account A N",
		"plugin remove weather -y --data D":   "plugin set --remove weather -y --data D",
		"webhooks list --state dead":          "webhooks --state dead",
		"config show --json":                  "config --json",
		"config init F --data D":              "config --init F --data D",
		"completion zsh":                      "help --completion zsh",
		"keys list":                           "keys list",
		"say devices":                         "say devices",
		"packs pull verify":                   "packs pull verify",
		"webhooks":                            "webhooks",
		"":                                    "",
	} {
		got, err := translateOldCommand(strings.Fields(old))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q became %q, %v; want %q", old, got, err, want)
		}
	}
	code, _, errs := parley(t, "", "plugin", "grant", "weather", "storage")
	if code != exitMisuse || !strings.Contains(errs, "parley plugin set NAME --grant WHAT") {
		t.Errorf("code %d, %q", code, errs)
	}
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range oldCommands() {
		if wrong := unknownIn(parser.Model.Node, strings.Fields(s.now)); wrong != "" {
			t.Errorf("%s is now %s, which has no %s", s.old, s.now, wrong)
		}
		if !slices.Contains(strings.Fields(s.old), "--all") && !s.changed && strings.ToLower(s.now) != s.now {
			t.Errorf("%s cannot be carried out as %s", s.old, s.now)
		}
	}
}
