package appliance

import (
	"path/filepath"
	"testing"

	"parley/appliance/config"
)

// The published clients of OpenAI's API use the box, with real models. What they do and
// expect is in the scripts.
func TestOpenAIsClientsSpeakTranscribeAndAsk(t *testing.T) {
	t.Parallel()
	python, js := clientFolder(t, "py-client"), clientFolder(t, "js-client")
	b := startBox(t, func(c *config.Config) { c.Engines.LanguageModel = config.LanguageModel{Pack: "llm-qwen-small"} })
	made := createKey(t, b)
	env := []string{"BOX_URL=" + b.url, "API_KEY=" + made.APIKey, "CLIENT=" + js}
	t.Run("Python", func(t *testing.T) {
		runScript(t, filepath.Join(python, "bin", "python"), filepath.Join("testdata", "openai_client.py"),
			append([]string{"PYTHONPATH=" + filepath.Join(python, "openai")}, env...)...)
	})
	t.Run("JavaScript", func(t *testing.T) {
		runScript(t, "node", filepath.Join("testdata", "openai_client.cjs"), env...)
	})
}
