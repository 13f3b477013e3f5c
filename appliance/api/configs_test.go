package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// fullConfig is a config with every field, and its record.
const fullConfig = `{"name":"all","evi_version":"3","version_description":"d","voice":{"name":"joe",` +
	`"provider":"HUME_AI"},
	"prompt":{"id":"%[1]s","version":0,"prompt_expansion":{"enabled":false}},"prompt_expansion":"ZERO",
	"language_model":{"model_provider":"ANTHROPIC","model_resource":"claude-sonnet-4-5-20250929","temperature":0.7},
	"ellm_model":{"allow_short_responses":false},"tools":[{"id":"%[2]s"},null,{"id":"%[3]s","version":1}],
	"builtin_tools":[{"name":"hang_up","fallback_content":"Bye"},{"name":"web_search"}],
	"event_messages":{"on_new_chat":{"enabled":true,"text":"Hi"},"on_inactivity_timeout":{"enabled":true,` +
	`"text":"There?"},"on_max_duration_timeout":{"enabled":false,"text":"Over."}},
	"timeouts":{"inactivity":{"enabled":true,"duration_secs":31},"max_duration":{"enabled":false,"duration_secs":1799}},
	"turn_detection":{"end_of_turn_silence_ms":501,"speech_detection_threshold":0.25,"prefix_padding_ms":1},
	"interruption":{"min_interruption_ms":51},"nudges":{"enabled":true,"interval_secs":9},
	"webhooks":[{"url":"https://example.com/hook?x=1&y=<2>","events":["chat_started","chat_ended","tool_call"]}]}`

func TestAConfigIsReturnedWithAllThatWasPosted(t *testing.T) {
	c := startRest(t, "home")[0]
	prompt := c.ask("POST", "/v0/evi/prompts", `{"name":"p","text":"t"}`, 201)
	one := c.ask("POST", "/v0/evi/tools", `{"name":"one","parameters":"{}"}`, 201)
	two := c.ask("POST", "/v0/evi/tools", `{"name":"two","parameters":"{}"}`, 201)
	c.ask("POST", fmt.Sprint("/v0/evi/tools/", two["id"]), `{"parameters":"{}","description":"second"}`, 201)
	posted := fmt.Sprintf(fullConfig, prompt["id"], one["id"], two["id"])
	made := c.ask("POST", "/v0/evi/configs", posted, 201)

	var want record
	if err := json.Unmarshal([]byte(posted), &want); err != nil {
		t.Fatal(err)
	}
	want["voice"] = record{"id": "voice-joe", "name": "joe", "provider": "HUME_AI"}
	want["builtin_tools"] = []any{
		record{"name": "hang_up", "fallback_content": "Bye", "tool_type": "BUILTIN"},
		record{"name": "web_search", "tool_type": "BUILTIN"},
	}
	for _, field := range []string{"prompt", "tools"} {
		delete(want, field)
	}
	for field, value := range want {
		if fmt.Sprint(made[field]) != fmt.Sprint(value) {
			t.Errorf("%s: %v, want %v", field, made[field], value)
		}
	}
	p := made["prompt"].(record)
	if p["id"] != prompt["id"] || p["text"] != "t" || p["version_type"] != "FIXED" ||
		p["prompt_expansion"].(record)["enabled"] != false {
		t.Errorf("prompt: %v", p)
	}
	tools := made["tools"].([]any)
	if len(tools) != 2 {
		t.Fatalf("tools: %v", tools)
	}
	first, second := tools[0].(record), tools[1].(record)
	if first["name"] != "one" || first["version_type"] != "LATEST" || first["version"] != 0.0 ||
		first["tool_type"] != "FUNCTION" ||
		second["name"] != "two" || second["version_type"] != "FIXED" || second["version"] != 1.0 ||
		second["description"] != "second" {
		t.Errorf("tools: %v", tools)
	}
	if got := c.ask("GET", fmt.Sprintf("/v0/evi/configs/%v/version/0", made["id"]), "",
		200); fmt.Sprint(got) != fmt.Sprint(made) {
		t.Errorf("read %v, made %v", got, made)
	}
}

func TestAConfigShowsItsPromptAndToolsAsTheyAreNow(t *testing.T) {
	c := startRest(t, "home")[0]
	made := c.ask("POST", "/v0/evi/configs", `{"name":"museum","evi_version":"4-mini","prompt":{"text":"Be kind."}}`,
		201)
	config := fmt.Sprintf("/v0/evi/configs/%v/version/0", made["id"])
	prompt := made["prompt"].(record)
	if prompt["name"] != "museum" || prompt["text"] != "Be kind." || prompt["version"] != 0.0 ||
		prompt["version_type"] != "LATEST" {
		t.Errorf("the prompt it brought: %v", prompt)
	}
	path := fmt.Sprint("/v0/evi/prompts/", prompt["id"])
	c.ask("GET", path+"/version/0", "", 200)

	c.ask("POST", path, `{"text":"Be brief."}`, 201)
	if got := c.ask("GET", config, "", 200)["prompt"].(record); got["text"] != "Be brief." || got["version"] != 1.0 {
		t.Errorf("after a new version: %v", got)
	}
	c.ask("DELETE", path+"/version/1", "", 200)
	if got := c.ask("GET", config, "", 200)["prompt"].(record); got["version"] != 0.0 {
		t.Errorf("after its deletion: %v", got)
	}
	tool := c.ask("POST", "/v0/evi/tools", `{"name":"f","parameters":"{}"}`, 201)
	next := c.ask("POST", fmt.Sprint("/v0/evi/configs/", made["id"]),
		fmt.Sprintf(`{"evi_version":"4-mini","prompt":{"text":"Another."},"tools":[{"id":"%v","version":0}]}`,
			tool["id"]), 201)
	if other := next["prompt"].(record); other["id"] == prompt["id"] || other["name"] != "museum" ||
		len(next["tools"].([]any)) != 1 {
		t.Errorf("its next version: %v", next)
	}

	// Deleted resources stay in the config.
	c.ask("DELETE", path, "", 200)
	c.ask("DELETE", fmt.Sprintf("/v0/evi/tools/%v", tool["id"]), "", 200)
	list := c.ask("GET", "/v0/evi/configs?restrict_to_most_recent=false", "", 200)["configs_page"].([]any)
	if len(list) != 2 || list[0].(record)["prompt"] != nil || len(list[1].(record)["tools"].([]any)) != 0 ||
		list[1].(record)["prompt"] == nil {
		t.Errorf("listed: %v", list)
	}
}

// A model calls tools by their names, so all names in a config differ, including
// those of the box's tools.
func TestAToolCannotTakeTheNameOfAnotherToolOfItsConfig(t *testing.T) {
	c := startRest(t, "home")[0]
	tool := func(name string) any {
		return c.ask("POST", "/v0/evi/tools", `{"name":"`+name+`","parameters":"{}"}`, 201)["id"]
	}
	one, two, apart := tool("one"), tool("two"), tool("apart")
	config := c.ask("POST", "/v0/evi/configs", fmt.Sprintf(
		`{"name":"both","evi_version":"3","voice":{"name":"joe"},"tools":[{"id":"%s"},{"id":"%s"}],`+
			`"builtin_tools":[{"name":"hang_up"}]}`, one, two), 201)
	rename := func(id any, name string, want int) {
		t.Helper()
		if status, _, text := c.send("PATCH", fmt.Sprint("/v0/evi/tools/", id), "application/json",
			`{"name":"`+name+`"}`); status != want {
			t.Errorf("%s: %d %s, want %d", name, status, text, want)
		} else if want == 400 && (!strings.Contains(text, "both") || !strings.Contains(text, name)) {
			t.Errorf("%s is refused with %s", name, text)
		}
	}
	rename(one, "two", 400)
	rename(one, "hang_up", 400)
	rename(one, "apart", 200) // another config's
	rename(apart, "two", 200) // in none
	rename(one, "one", 200)
	c.send("DELETE", fmt.Sprint("/v0/evi/configs/", config["id"]), "", "")
	rename(one, "two", 200)
}
