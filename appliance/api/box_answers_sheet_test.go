package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestASheetHasTheAnswersOfAConfig(t *testing.T) {
	both := startRest(t, "museum", "clinic")
	c, other := both[0], both[1]
	const path = "/v0/box/answers/sheet"
	const items = `[{"id":"hours","ask":["When, please?","=opening times"],"say":"From ten\nto six."}]`
	config := c.ask("POST", "/v0/evi/configs", `{"name":"Müseum","evi_version":"4-mini","answers":{"items":`+items+`}}`,
		201)["id"].(string)
	c.ask("POST", "/v0/evi/configs/"+config, `{"evi_version":"4-mini"}`, 201)
	sheet := func(query string) string {
		t.Helper()
		status, header, body := c.send("GET", path+"?config_id="+config+query, "", "")
		if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/csv") ||
			!strings.Contains(header.Get("Content-Disposition"), "M%C3%BCseum.csv") {
			t.Fatalf("%d %v %s", status, header, body)
		}
		return body
	}
	if got := sheet(""); got != "\ufeffid,ask,say\n" {
		t.Errorf("the newest version has no answers: %q", got)
	}
	var want any
	if err := json.Unmarshal([]byte(items), &want); err != nil {
		t.Fatal(err)
	}
	if got := c.ask("POST", path, sheet("&config_version=0"), 200); !reflect.DeepEqual(got["items"], want) ||
		fmt.Sprint(got["warnings"]) != "[]" {
		t.Errorf("%v", got)
	}
	other.ask("GET", path+"?config_id="+config, "", 404)
	c.ask("GET", path, "", 400)
	c.ask("GET", path+"?config_id="+config+"&config_version=-1", "", 400)
	c.ask("GET", path+"?config_id="+config+"&config_version=2", "", 404)
	got := c.ask("POST", path, "id;ask;say\na;b;\nb;;c\n", 400)
	if want := "sheet: row 2, say: is empty: nothing is said to \"a\"\nrow 3, ask: is empty"; !strings.HasPrefix(
		got["message"].(string), want) {
		t.Errorf("%v", got)
	}
	c.ask("POST", path, strings.Repeat("x", sheetBody+1), 413)
}
