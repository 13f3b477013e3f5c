package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"parley/appliance/answers/sheet"
	"parley/appliance/contract"
)

// configBox is a box with the versions of one config, named Museum.
type configBox struct {
	t        *testing.T
	versions []contract.ReturnConfig
	hub      bool
	asked    contract.PostedTry
}

func (b *configBox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := func(status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(v); err != nil {
			b.t.Error(err)
		}
	}
	read := func(v any) {
		if err := json.NewDecoder(r.Body).Decode(v); err != nil {
			b.t.Error(err)
		}
	}
	newest := b.versions[len(b.versions)-1]
	page := newest
	page.Answers, page.AnswersOmitted = nil, true // as on a page with many
	switch r.Method + " " + r.URL.Path {
	case "GET " + configsPath:
		found := contract.ReturnPagedConfigs{}
		if name := r.URL.Query().Get("name"); name == "" || name == "Museum" {
			found.ConfigsPage = append(found.ConfigsPage, page)
		}
		reply(200, found)
	case "GET " + configsPath + "/c1":
		reply(200, contract.ReturnPagedConfigs{ConfigsPage: []contract.ReturnConfig{page}})
	case fmt.Sprintf("GET %s/c1/version/%d", configsPath, newest.Version):
		reply(200, newest)
	case "POST " + configsPath + "/c1":
		var posted contract.PostedConfigVersion
		read(&posted)
		next := posted.Record()
		next.ID, next.Name, next.Version = newest.ID, newest.Name, newest.Version+1
		next.VersionDescription = posted.VersionDescription
		b.versions = append(b.versions, next)
		reply(201, next)
	case "POST /v0/box/answers/check":
		var posted contract.PostedAnswersCheck
		read(&posted)
		reply(200, contract.ReturnAnswersCheck{Complete: !b.hub, Conflicts: []contract.AnswersConflict{{
			Items: []contract.ConflictingAnswer{{AnswerID: "a", Ask: "b"}, {AnswerID: "c", Ask: "d"}},
			Score: 1,
		}}})
	case "POST /v0/box/answers/try":
		b.asked = contract.PostedTry{}
		read(&b.asked)
		id := "cafe"
		reply(200, contract.ReturnTry{AnswerID: &id, Score: 0.98, Others: []contract.ScoredAnswer{{AnswerID: "hours"}}})
	case "GET /v0/box/answers/report":
		reply(200, contract.ReturnAnswersReport{
			ConfigID:        r.URL.Query().Get("config_id"),
			Given:           []contract.ReportedAnswer{{AnswerID: "hours", Count: 3, LastOn: 1}, {AnswerID: "cafe"}},
			UnansweredCount: 2,
			Unanswered: []contract.ReportedQuestion{
				{Text: "=who painted this", Texts: []string{"the painter?"}, Count: 2},
			},
		})
	case "GET /v0/box/fleet":
		if b.hub {
			reply(200, contract.ReturnFleet{})
			return
		}
		reply(404, map[string]string{"message": "no hub"})
	default:
		reply(404, map[string]string{"message": "no config"})
	}
}

func museumBox(t *testing.T) (*configBox, func(args ...string) (code int, out, errs string)) {
	t.Helper()
	posted := contract.PostedConfigVersion{EVIVersion: contract.EVI4Mini, Examples: []contract.Example{{User: "u"}}}
	config := posted.Record()
	config.ID, config.Name, config.Version = "c1", "Museum", 4
	box := &configBox{t: t, versions: []contract.ReturnConfig{config}}
	server := httptest.NewServer(box)
	t.Cleanup(server.Close)
	return box, func(args ...string) (int, string, string) {
		t.Helper()
		return parley(t, "", append(append([]string{"answers"}, args...), "--url", server.URL, "--key", "right")...)
	}
}

func writeSheet(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "museum.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAnImportReplacesTheAnswersOfAConfig(t *testing.T) {
	box, run := museumBox(t)
	first := writeSheet(t, "id,ask,say\nhours,When?,From ten.\ngone,Eh?,Oh.\nsame,Hm?,Ah.\n")
	code, out, errs := run("import", first, "--config", "Museum", "--mode", "only", "--unknown", "Ask at the desk.")
	if code != exitDone || !strings.Contains(out, "Museum has a new version, 5: 3 answers with 3 ways to ask\n") ||
		!strings.Contains(errs, `conflict: "b" (a) is like "d" (c)`) {
		t.Fatalf("code %d, %q, %q", code, out, errs)
	}
	second := writeSheet(t, "id;ask;say;notes\nsame;Hm?;Ah.\nhours;When?;From nine.;x\n;open?;\nnew;Oh?;Eh.\n")
	code, out, errs = run("import", second, "--config", "c1", "--json")
	var change answersChange
	if err := json.Unmarshal([]byte(out), &change); err != nil || code != exitDone {
		t.Fatalf("code %d, %q, %q", code, out, errs)
	}
	want := answersChange{ConfigID: "c1", Version: 6, Saved: true, New: []string{"new"}, Changed: []string{"hours"},
		Gone: []string{"gone"}, Same: 1, Conflicts: change.Conflicts}
	if !reflect.DeepEqual(change, want) || len(change.Conflicts) != 1 || !strings.Contains(errs, `"notes"`) {
		t.Errorf("%+v, %q", change, errs)
	}
	got := box.versions[2]
	if a := got.Answers; a == nil || a.Mode != contract.AnswersOnly || a.Unknown != "Ask at the desk." ||
		len(a.Items) != 3 || len(got.Examples) != 1 || got.VersionDescription != "Approved answers of museum.csv" {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{second}, {first, "--dry-run"}} {
		if code, out, errs := run(append(args, "--config", "Museum")...); code == exitDone {
			t.Errorf("%d %q %q", code, out, errs)
		}
		if code, _, errs := run(append([]string{"import", "--config", "Museum"}, args...)...); code != exitDone ||
			len(box.versions) != 3 {
			t.Errorf("%v saves a version: %d, %q", args, code, errs)
		}
	}
}

// A hub stores answers, which it cannot compare itself.
func TestAnImportAtAHubGoesToTheBoxes(t *testing.T) {
	box, run := museumBox(t)
	box.hub = true
	sheet := writeSheet(t, "id,ask,say\nhours,When?,From ten.\n")
	code, out, errs := run("import", sheet, "--config", "Museum")
	if code != exitDone || len(box.versions) != 2 || !strings.Contains(out, "new version, 5") ||
		!strings.Contains(errs, atHub+"\nRoll it out: parley hub rollout config \"Museum\" --to all\n") ||
		!strings.Contains(errs, "conflict: ") || strings.Contains(errs, "embed") {
		t.Errorf("code %d, %q, %q", code, out, errs)
	}
}

func TestAWrongImportSavesNothing(t *testing.T) {
	box, run := museumBox(t)
	good := writeSheet(t, "id,ask,say\nhours,When?,From ten.\n")
	for _, row := range []struct {
		want string
		args []string
	}{
		{"row 2, say: is empty", []string{writeSheet(t, "id,ask,say\nhours,When?,\n"), "--config", "Museum"}},
		{"has 2 problems", []string{writeSheet(t, "id,ask,say\nhours,When?,\nb,,c\n"), "--config", "Museum"}},
		{"has no answers", []string{writeSheet(t, "id,ask,say\n"), "--config", "Museum"}},
		{"is a folder", []string{t.TempDir(), "--config", "Museum"}},
		{"/not/there.csv", []string{"/not/there.csv", "--config", "Museum"}},
		{`no config "Musuem"; there are Museum`, []string{good, "--config", "Musuem"}},
		{"--unknown", []string{good, "--config", "Museum", "--mode", "only"}},
		{"--config", []string{good}},
	} {
		code, out, errs := run(append([]string{"import"}, row.args...)...)
		if code != exitMisuse || out != "" || !strings.Contains(errs, row.want) || len(box.versions) != 1 {
			t.Errorf("%v: code %d, %q, %q", row.args, code, out, errs)
		}
	}
}

func TestAnswersAreExportedTriedAndReported(t *testing.T) {
	box, run := museumBox(t)
	if code, _, errs := run("export", "--config", "Museum"); code != exitFailed ||
		!strings.Contains(errs, "parley answers import") {
		t.Errorf("without answers: code %d, %q", code, errs)
	}
	items := []contract.AnswerItem{
		{ID: "hours", Ask: []string{"When?"}, Say: "From ten."},
		{ID: "cafe", Ask: []string{"Coffee?", "=café"}, Say: "Across the\nsquare."},
	}
	box.versions[0].Answers = &contract.Answers{Items: items}
	file := filepath.Join(t.TempDir(), "out.csv")
	if code, out, errs := run("export", "--config", "Museum", "-o", file); code != exitDone || out+errs != "" {
		t.Fatalf("code %d, %q, %q", code, out, errs)
	}
	text, err := os.ReadFile(file)
	if got, _, failed := sheet.Read(text); err != nil || failed != nil || !reflect.DeepEqual(got, items) {
		t.Errorf("%v, %v, %q", err, failed, text)
	}
	if _, out, _ := run("export", "--config", "c1"); out != string(text) {
		t.Errorf("printed %q", out)
	}

	code, out, errs := run("try", "--config", "Museum", "--before", "When?", "and coffee?")
	if code != exitDone || out != "says  cafe    98 %  Across the square.\nnext  hours    0 %  From ten.\n" ||
		box.asked.ConfigID != "c1" || box.asked.Before != "When?" || box.asked.Text != "and coffee?" {
		t.Errorf("code %d, %q, %q; %+v", code, out, errs, box.asked)
	}
	code, _, errs = run("try", "--file", file, "coffee?", "--json")
	if code != exitDone || box.asked.ConfigID != "" || !reflect.DeepEqual(box.asked.Answers.Items, items) {
		t.Errorf("code %d, %q; %+v", code, errs, box.asked)
	}
	for _, args := range [][]string{{"try", "x"}, {"try", " ", "--config", "Museum"},
		{"try", "x", "--config", "Museum", "--file", file}, {"report", "--config", "Museum", "--from", "2030"}} {
		if code, _, errs := run(args...); code != exitMisuse {
			t.Errorf("%v: code %d, %q", args, code, errs)
		}
	}

	code, out, errs = run("report", "--config", "Museum", "--from", "2030-01-31")
	for _, want := range []string{"hours   3", "cafe    0      never", "2 questions had no answer", "  the painter?"} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("code %d, %q, %q; want %q", code, out, errs, want)
		}
	}
	_, out, _ = run("report", "--config", "Museum", "--csv")
	if !strings.Contains(out, "who-painted-this,'=who painted this,,2,") ||
		!strings.Contains(out, "\nwho-painted-this,the painter?,,,\n") {
		t.Errorf("%q", out)
	}
	filled := strings.Replace(out, "this,,2", "this,Nobody.,2", 1)
	if got, _, err := sheet.Read([]byte(filled)); err != nil || len(got) != 1 || len(got[0].Ask) != 2 {
		t.Errorf("filled in, it is no sheet: %v %q", err, got)
	}
}

// The sheet in the examples can be copied.
func TestTheSheetOfTheMuseumIsRight(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "museum.csv"))
	if err != nil {
		t.Fatal(err)
	}
	items, warnings, err := sheet.Read(text)
	ways := map[string]string{}
	for _, item := range items {
		for _, way := range item.Ask {
			if other := ways[strings.ToLower(way)]; other != "" {
				t.Errorf("%q is in %s and in %s", way, other, item.ID)
			}
			ways[strings.ToLower(way)] = item.ID
		}
		if len(item.Ask) < 3 {
			t.Errorf("%s has %d ways to ask", item.ID, len(item.Ask))
		}
	}
	if err != nil || len(warnings) > 0 || len(items) != 20 {
		t.Errorf("%d answers, %v, %q", len(items), err, warnings)
	}
}
