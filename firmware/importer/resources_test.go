package importer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/store"
)

func promptRecord(n, version int, name string) string {
	quoted, _ := json.Marshal(name) // a string
	return fmt.Sprintf(`{"id":"%s","version":%d,"version_type":"FIXED","name":%s,"text":"Text %d",`+
		`"created_on":%d,"modified_on":%d,"version_description":null}`, id(n), version, quoted, version, began,
		began+1000*version)
}

func toolRecord(n int, parameters string) string {
	text, _ := json.Marshal(parameters)
	return fmt.Sprintf(`{"tool_type":"FUNCTION","id":"%s","version":0,"version_type":"LATEST","name":"find",`+
		`"parameters":%s,"created_on":%d,"modified_on":%d}`, id(n), text, began, began)
}

// version returns what the box has of a version.
func (b testBox) version(kind store.Kind, n, version int) store.Version {
	b.Helper()
	v, err := b.Store.VersionOf(b.Context(), b.Account.ID, store.Ref{Kind: kind, ID: id(n), Version: version})
	b.must(err)
	return v
}

// A config refers to the versions that it did, and what it uses may come from its own
// record. The order of files does not matter.
func TestAConfigIsTakenWithWhatItUses(t *testing.T) {
	b := newBox(t)
	config := `{"id":"` + id(1) + `","version":4,"evi_version":"3","name":"Museum","prompt":` +
		promptRecord(2, 1, "P") + `,"tools":[null,` + toolRecord(3, `{"type":"object"}`) +
		`],"builtin_tools":[{"tool_type":"BUILTIN",` +
		`"name":"hang_up","fallback_content":null}],"voice":{"provider":"CUSTOM_VOICE","name":"My clone","id":"` +
		id(4) + `"},"language_model":{"model_provider":"ANTHROPIC","model_resource":"claude","temperature":1}}`
	folder := files(t, map[string]string{"a": config, "z": "[" + promptRecord(2, 0, "P") + "]"})
	r := b.load(folder)
	b.want(r, kindConfig, 1)
	b.want(r, kindPrompt, 2)
	b.want(r, kindTool, 1)
	var posted contract.PostedConfigVersion
	b.must(json.Unmarshal([]byte(b.version(store.KindConfig, 1, 4).Content), &posted))
	if *posted.Prompt.Version != 1 || posted.Prompt.ID != id(2) || posted.Tools[0].Version != nil ||
		posted.Voice.Name != "My clone" || posted.BuiltinTools[0].Name != contract.HangUp {
		t.Errorf("the config is %+v", posted)
	}
	b.wantLine(r, `voice "My clone"`)
	b.wantLine(r, `"ANTHROPIC/claude" → own`)
	b.wantLine(r, "4 of its older versions were not saved")
	if next, err := b.Store.AddVersions(t.Context(), b.Account.ID, store.NewVersion{Kind: store.KindConfig, ID: id(1),
		Content: "{}"}); err != nil || next[0].Number != 5 {
		t.Errorf("the next version is %+v, %v", next, err)
	}
	if v := b.Voices.(fakeVoices); v["My clone"] != "Joe" || v[id(4)] != "Joe" {
		t.Errorf("the aliases are %v", v)
	}
	if again := b.load(folder); again.New() != 0 || len(again.Differs) > 0 {
		t.Errorf("the second import:\n%s", lines(again))
	}
	r = b.load(files(t, map[string]string{"a": strings.Replace(config, `"temperature":1`, `"temperature":0`, 1)}))
	b.wantLine(r, "version 4 (a): the box has it with other content")
}

// A config that was saved of another box has its approved answers, word for word.
func TestAConfigIsTakenWithItsApprovedAnswers(t *testing.T) {
	b := newBox(t)
	const answers = `{"mode":"only","unknown":"Ask us.","items":[{"id":"a","ask":["When?"],"say":"At ten & <one>."}]}`
	config := `{"id":"` + id(1) + `","version":0,"evi_version":"4-mini","name":"Museum","answers":` + answers + `}`
	r := b.load(files(t, map[string]string{"a": config}))
	b.want(r, kindConfig, 1)
	v := b.version(store.KindConfig, 1, 0)
	var stored, want contract.Answers
	b.must(json.Unmarshal([]byte(v.Answers), &stored))
	b.must(json.Unmarshal([]byte(answers), &want))
	if !reflect.DeepEqual(stored, want) || strings.Contains(v.Content, "Ask us") {
		t.Errorf("the answers are %s, the rest %s", v.Answers, v.Content)
	}
	if again := b.load(files(t, map[string]string{"a": config})); again.New() != 0 || len(again.Differs) > 0 {
		t.Errorf("the second import:\n%s", lines(again))
	}
	r = b.load(files(t, map[string]string{"a": strings.Replace(config, "At ten", "At two", 1)}))
	b.wantLine(r, "version 0 (a): the box has it with other content")
}

// What the interface refuses of a config is changed as little as possible, and each change
// is reported.
func TestWhatTheInterfaceRefusesIsMended(t *testing.T) {
	for _, c := range []struct{ fields, said string }{
		{`"timeouts":{"inactivity":{"enabled":true,"duration_secs":5000}}`, "duration_secs: 5000 is out of range"},
		{`"turn_detection":{"end_of_turn_silence_ms":10}`, "it is 500"},
		{`"language_model":{"model_provider":"UNHEARD_OF","model_resource":"x"}`, `"UNHEARD_OF" is not allowed`},
		{`"language_model":"gpt"`, "expected an object"},
		{`"webhooks":[{"url":"ftp://x","events":["chat_started"]}]`, "webhooks[0] is left out"},
		{`"webhooks":[{"url":"https://example.org/a","events":["new_kind"]}]`, `webhooks[0].events`},
		{`"version_description":"` + strings.Repeat("x", 300) + `"`, "at most 255 are allowed; it is"},
		{`"evi_version":"9"`, "evi_version"},
		{`"evi_version":"3"`, "speaks with the voice of the box"},
		{`"new_thing":{"a":1}`, "new_thing.a: the box does not know this field"},
		{`"builtin_tools":[{"name":"fly_away"},{"name":"hang_up"}]`, "fly_away"},
		{`"nudges":{"enabled":true,"interval_secs":0}`, "interval_secs"},
		{`"prompt":{"id":"` + id(7) + `","version":3}`, "neither in the files nor on the box"},
		{`"prompt":{"id":"` + id(7) + `","version":3,"text":"x","name":"n"},"language_model":{"model_provider":` +
			`"CUSTOM_LANGUAGE_MODEL","model_resource":"https://example.org/m"}`, "not allowed with a custom"},
	} {
		t.Run(c.said, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			config := `{"id":"` + id(1) + `","version":0,"name":"N","language_model":null,` + c.fields +
				`,"ellm_model":{}}`
			if !strings.Contains(c.fields, "evi_version") {
				config = strings.Replace(config, `"name"`, `"evi_version":"4-mini","name"`, 1)
			}
			if strings.Contains(c.fields, "language_model") {
				config = strings.Replace(config, `"language_model":null,`, "", 1)
			}
			folder := files(t, map[string]string{"a": config})
			r := b.load(folder)
			b.want(r, kindConfig, 1)
			b.wantLine(r, c.said)
			content := b.version(store.KindConfig, 1, 0).Content
			if _, err := contract.Parse[contract.PostedConfigVersion]([]byte(content)); err != nil {
				t.Errorf("the interface refuses %s: %v", content, err)
			}
			if again := b.load(folder); again.New() != 0 || len(again.Differs) > 0 {
				t.Errorf("the second import:\n%s", lines(again))
			}
		})
	}
}

// Names, texts and schemas that the interface refuses are mended or left out.
func TestNamesAndSchemas(t *testing.T) {
	b := newBox(t)
	r := b.load(files(t, map[string]string{"a": "[" + strings.Join([]string{
		promptRecord(1, 0, strings.Repeat("ö", 100)), promptRecord(2, 0, "bad\u0007name\u200b"),
		promptRecord(3, 0, "\t"), strings.Replace(promptRecord(4, 0, "n"), "Text 0", " ", 1),
		strings.Replace(promptRecord(5, 0, "n"), id(5), "x", 1),
		strings.Replace(promptRecord(6, 0, "n"), `"version":0`, `"version":-1`, 1),
		toolRecord(11, `{"type":"object"}`), toolRecord(12, `not a schema`),
		strings.Replace(toolRecord(13, "@"), `"@"`, `{"type":"object","properties":{"aB":{"type":"string"}}}`, 1),
	}, ",") + "]"}))
	b.want(r, kindPrompt, 3)
	b.want(r, kindTool, 2)
	for n, name := range map[int]string{1: strings.Repeat("ö", 74), 2: "badname", 3: "prompt 0193c0de"} {
		if got := b.version(store.KindPrompt, n, 0).Name; got != name {
			t.Errorf("prompt %d is named %q", n, got)
		}
	}
	if got := b.version(store.KindTool, 13, 0).Content; !strings.Contains(got, "aB") {
		t.Errorf("a parsed schema became %s", got)
	}
}
