package api

import (
	"fmt"
	"strings"
	"testing"

	"parley/appliance/contract"
)

// pluginTools are tools of plugins, which a test can change.
type pluginTools struct {
	all []contract.ReturnUserDefinedTool
}

func (p *pluginTools) PluginTools() []contract.ReturnUserDefinedTool { return p.all }

const hoursID = "0b5ec1fa-0000-5000-8000-000000000001"

func hoursTool() contract.ReturnUserDefinedTool {
	return contract.ReturnUserDefinedTool{
		ToolType:           contract.RecordFunction,
		ID:                 hoursID,
		VersionType:        contract.VersionFixed,
		Name:               "opening_hours",
		Plugin:             "hours",
		Parameters:         `{"type":"object"}`,
		Description:        "When a place is open.",
		VersionDescription: "Of the plugin hours 1.2.0.",
		CreatedOn:          1,
		ModifiedOn:         2,
	}
}

func TestToolsOfPluginsFollowTheAccountsTools(t *testing.T) {
	p := &pluginTools{}
	for i := range 3 {
		tool := hoursTool()
		tool.ID, tool.Name = fmt.Sprintf("0b5ec1fa-0000-5000-8000-00000000000%d", i+1), fmt.Sprint("plugged_", i)
		p.all = append(p.all, tool)
	}
	c := startRestWith(t, p, "museum")[0]
	for i := range 4 {
		c.ask("POST", "/v0/evi/tools", fmt.Sprintf(`{"name":"own_%d","parameters":"{}"}`, i), 201)
	}
	var names []string
	for n := range 4 {
		page := c.ask("GET", fmt.Sprintf("/v0/evi/tools?page_size=3&page_number=%d", n), "", 200)
		if page["total_pages"] != 3.0 {
			t.Fatalf("%v", page)
		}
		for _, one := range page["tools_page"].([]any) {
			names = append(names, one.(record)["name"].(string))
		}
	}
	if got := strings.Join(names, " "); !strings.HasSuffix(got, "plugged_0 plugged_1 plugged_2") || len(names) != 7 ||
		strings.Count(got, "own_") != 4 {
		t.Errorf("the pages have %s", got)
	}
	if found := c.ask("GET", "/v0/evi/tools?name=plugged_1", "", 200)["tools_page"].([]any); len(found) != 1 ||
		found[0].(record)["plugin"] != "hours" {
		t.Errorf("%v", found)
	}
}

func TestAToolOfAPluginIsReadOnly(t *testing.T) {
	c := startRestWith(t, &pluginTools{[]contract.ReturnUserDefinedTool{hoursTool()}}, "museum")[0]
	one := "/v0/evi/tools/" + hoursID
	if got := c.ask("GET", one+"/version/0", "", 200); got["name"] != "opening_hours" || got["plugin"] != "hours" ||
		!strings.Contains(got["version_description"].(string), "1.2.0") {
		t.Errorf("%v", got)
	}
	if got := c.ask("GET", one, "", 200)["tools_page"].([]any); len(got) != 1 {
		t.Errorf("%v", got)
	}
	c.ask("GET", one+"/version/1", "", 404)
	for _, try := range [][3]string{
		{"POST", one, `{"parameters":"{}"}`}, {"PATCH", one, `{"name":"mine"}`}, {"DELETE", one, ""},
		{"PATCH", one + "/version/0", `{"version_description":"mine"}`}, {"DELETE", one + "/version/0", ""},
	} {
		got := c.ask(try[0], try[1], try[2], 403)
		if said := got["message"].(string); !strings.Contains(said, `"hours"`) ||
			!strings.Contains(said, "parley plugin") {
			t.Errorf("%s %s: %q", try[0], try[1], said)
		}
	}
}

// A config uses the tool by its id, in the installed version, until the plugin is
// removed.
func TestAConfigUsesAToolOfAPlugin(t *testing.T) {
	p := &pluginTools{[]contract.ReturnUserDefinedTool{hoursTool()}}
	c := startRestWith(t, p, "museum")[0]
	uses := func(tools string) string {
		return `{"name":"Desk","evi_version":"4-mini","tools":[` + tools + `]}`
	}
	made := c.ask("POST", "/v0/evi/configs", uses(`{"id":"`+hoursID+`"}`), 201)
	tools := func() []any {
		got, _ := c.ask("GET", fmt.Sprintf("/v0/evi/configs/%s/version/0", made["id"]), "", 200)["tools"].([]any)
		return got
	}
	if got := tools(); len(got) != 1 || got[0].(record)["plugin"] != "hours" ||
		got[0].(record)["version_type"] != "LATEST" {
		t.Errorf("%v", got)
	}
	c.ask("POST", "/v0/evi/configs", uses(`{"id":"`+hoursID+`","version":0}`), 201)
	c.ask("POST", "/v0/evi/configs", uses(`{"id":"`+hoursID+`","version":3}`), 404)
	own := c.ask("POST", "/v0/evi/tools", `{"name":"opening_hours","parameters":"{}"}`, 201)
	if got := c.ask("POST", "/v0/evi/configs", uses(`{"id":"`+hoursID+`"},{"id":"`+own["id"].(string)+`"}`),
		400); !strings.Contains(got["message"].(string), "opening_hours") {
		t.Errorf("%v", got)
	}
	p.all = nil
	if got := tools(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	c.ask("POST", "/v0/evi/configs", uses(`{"id":"`+hoursID+`"}`), 404)
}
