package main

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/firmware/licences"
)

func TestVersionPrintsEveryLicenceOnce(t *testing.T) {
	_, out, errs := parley(t, "", "version", "--licences")
	for _, want := range []string{
		"github.com/pion/webrtc/v4 ", "SQLite ", "preact ", "llm-qwen ", "ffmpeg", // parts of each kind
		"The author disclaims copyright to this source code", // SQLite
		"Copyright (c) 2015-present Jason Miller",            // preact
		"commercial use is permitted",                        // a pack's note
		"wazero authors",                                     // a NOTICE file
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing (%s)", want, errs)
		}
	}
	if n := strings.Count(out, "Version 2.0, January 2004"); n > 12 {
		t.Errorf("the Apache licence is printed %d times", n)
	}
}

func TestVersionListsThePartsAsJSON(t *testing.T) {
	_, out, _ := parley(t, "", "version", "--licences", "--json")
	var parts []licences.Part
	if err := json.Unmarshal([]byte(out), &parts); err != nil {
		t.Fatal(err)
	}
	if len(parts) < 100 || parts[0].Name != "Parley" || parts[0].Licence != "Apache-2.0" {
		t.Errorf("%d parts, the first is %+v", len(parts), parts[:1])
	}
}
