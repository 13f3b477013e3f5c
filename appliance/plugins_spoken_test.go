package appliance

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/plugins/author"
)

// A plugin from the template of each language, built with the language's tools and
// installed while the box runs, is used in a spoken conversation: a person asks, the model
// calls the tool, and the answer has its result. Builds with each language's tools are
// tested every day; these conversations take minutes, and need PARLEY_FULL_TESTS.
func TestPluginOfEachLanguageAnswersSpeech(t *testing.T) {
	t.Parallel()
	facts := map[string]string{"go": "garden", "rust": "kitchen", "assemblyscript": "library", "c": "station"}
	languages := author.Languages()
	for _, lang := range languages {
		if facts[lang] == "" {
			t.Fatalf("%s is a language of plugins that nobody has heard", lang)
		}
	}
	if os.Getenv("PARLEY_FULL_TESTS") == "" {
		languages = languages[:1]
	}
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
		for _, lang := range languages {
			c.Plugins = append(c.Plugins, "in-"+lang)
		}
	})
	s := registryOf(t, b.cfg.Data)
	var spoken []float32
	for _, lang := range languages {
		name := "in-" + lang
		dir := filepath.Join(t.TempDir(), name)
		if _, err := author.New(dir, lang); err != nil {
			t.Fatal(err)
		}
		p, err := author.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var output strings.Builder
		if err := author.Build(t.Context(), p, io.MultiWriter(&output, testLog{t})); err != nil {
			t.Fatalf("%s: %v\n%s", lang, err, output.String())
		}
		installPlugin(t, s, p.Wasm())
		greeting := "Good morning from the " + facts[lang] + " of"
		if err := s.Set(t.Context(), name, map[string]*string{"greeting": &greeting}); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the box has "+name, func() bool {
			return strings.Contains(b.text(t, "/v0/evi/tools"), `"`+name+`"`)
		})
		c := b.call(t, linear16)
		stop := make(chan struct{})
		c.say(recordingPCM(t, question), stop)
		heard := c.until("assistant_end", 1, waitLimit)
		close(stop)
		c.conn.CloseNow()
		if call, content := toolMessages(heard); call.Name != "greet" || call.ResponseRequired ||
			!strings.Contains(content, greeting) {
			t.Errorf("%s: %+v was answered with %q", lang, call, content)
		}
		_, pcm := answer(t, heard)
		spoken = append(append(spoken, pcm...), make([]float32, engine.SpeechRateHz)...)
		if err := s.Remove(t.Context(), name); err != nil { // all plugins have a tool of that name
			t.Fatal(err)
		}
	}
	back := strings.ToLower(transcribe(t, b.cfg, spoken))
	for _, lang := range languages {
		if !strings.Contains(back, facts[lang]) {
			t.Errorf("what the plugin in %s knows is not heard in %q", lang, back)
		}
	}
}

// The same with the default language model, which must decide by itself to call the tool,
// and with which arguments. The model of the other tests is too small for that.
func TestLocalModelCallsAPlugin(t *testing.T) {
	if os.Getenv("PARLEY_FULL_TESTS") == "" {
		t.Skip("PARLEY_FULL_TESTS is not set: this takes a gigabyte more of models, and minutes")
	}
	b := startBox(t, func(c *config.Config) {
		c.Plugins = []string{"guide"}
		c.Engines.LanguageModel = config.LanguageModel{Pack: "llm-qwen"}
	})
	s := registryOf(t, b.cfg.Data)
	installPlugin(t, s, guideFile(t, "press_key", "hang", "shout", "fall"), "none")
	waitFor(t, "the box has the tool", func() bool {
		return strings.Contains(b.text(t, "/v0/evi/tools"), `"opening_hours"`)
	})
	c := b.call(t, linear16)
	stop := make(chan struct{})
	c.say(synthesize(t, b.cfg, "jenny", "When does the museum open?"), stop)
	heard := c.until("assistant_end", 1, 4*time.Minute)
	close(stop)
	call, content := toolMessages(heard)
	if call.Name != "opening_hours" || !strings.Contains(strings.ToLower(call.Parameters), "museum") ||
		!strings.Contains(content, "twenty past nine") {
		t.Fatalf("%q: %+v was answered with %q: %s", userText(heard), call, content, types(heard))
	}
	message, pcm := answer(t, heard)
	back := words(transcribe(t, b.cfg, pcm))
	if !slices.Contains(back, "nine") || !slices.Contains(back, "twenty") {
		t.Errorf("the message is %q, and the audio says %q", message, back)
	}
	if m := slices.IndexFunc(heard, func(m receivedMessage) bool {
		_, ok := m.ServerMessage.(contract.ToolErrorMessage)
		return ok
	}); m >= 0 {
		t.Errorf("%+v", heard[m])
	}
}

// synthesize returns a sentence in a voice of the box, at the rate of the ear.
func synthesize(t *testing.T, cfg config.Config, voice, sentence string) []float32 {
	t.Helper()
	e, err := engines.Open(t.Context(), cfg, engines.Speaking, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	v, err := e.Voice(t.Context(), voice)
	if err != nil {
		t.Fatal(err)
	}
	speech, err := engine.SpeakWhole(t.Context(), v, sentence, engine.SpeakOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return audio.Resample(speech.PCM, speech.RateHz, engine.SpeechRateHz)
}
