package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without a terminal, an import needs --yes; before, it only reports.
func TestImportReportsBeforeItImports(t *testing.T) {
	data, saved := beginData(t), filepath.Join(t.TempDir(), "prompt.json")
	record := `{"id":"0193c0de-0000-4000-8000-000000000001","version":0,"name":"Guide","text":"Be brief.",` +
		`"created_on":1760000000000,"modified_on":1760000000000}`
	if err := os.WriteFile(saved, []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := parley(t, "", "import", saved, "--data", data)
	if code != exitMisuse || !strings.Contains(errs, "parley keys create --account default") {
		t.Errorf("without an account: %d %s", code, errs)
	}
	if code, _, errs := parley(t, "", "keys", "create", "--data", data); code != exitDone {
		t.Fatal(errs)
	}
	for _, try := range []struct {
		args []string
		want string
	}{
		{nil, "Nothing was imported yet: pass --yes"},
		{nil, "Nothing was imported yet: pass --yes"}, // the first one has imported nothing
		{[]string{"--yes"}, "All of this was imported."},
		{[]string{"--yes"}, "There is nothing new to import."},
	} {
		code, out, errs := parley(t, "", append([]string{"import", saved, "--data", data}, try.args...)...)
		if code != exitDone || !strings.Contains(out, try.want) {
			t.Errorf("import %v: %d %s %s; want %q", try.args, code, out, errs, try.want)
		}
	}
	_, out, _ := parley(t, "", "import", saved, "--data", data, "--json")
	var report struct {
		DryRun bool `json:"dry_run"`
		Counts []struct {
			Kind string
			Here int `json:"already_here"`
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || !report.DryRun || report.Counts[0].Here != 1 {
		t.Errorf("--json: %v, %s", err, out)
	}
	if code, _, errs := parley(t, "", "import", saved+".zip", "--data", data); code != exitMisuse {
		t.Errorf("a missing file: %d %s", code, errs)
	}
}
