package appliance

import (
	"path/filepath"
	"testing"

	"parley/appliance/config"
	"parley/internal/packtest"
)

// Programs for the former cloud service, with the Python clients of their time and with
// those of other vendors, work against the box when the host name of the service leads to
// it.
func TestPythonProgramsOfTheFormerServiceWorkUnchanged(t *testing.T) {
	t.Parallel()
	if !inPrivateNetwork(t) {
		return
	}
	client := clientFolder(t, "py-client")
	_, env := startBoxUnderTheOldName(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	})
	for _, try := range []struct{ with, script string }{
		{"hume-0.7", "former_evi.py"},
		{"hume-0.9", "former_evi.py"},
		{"hume-0.13", "former_sessions.py"},
		{"", "former_sessions.py"}, // with the newest
		{"agents", "former_livekit.py"},
		{"agents", "former_pipecat.py"},
	} {
		t.Run(try.with+" "+try.script, func(t *testing.T) {
			t.Parallel()
			runScript(t, filepath.Join(client, "bin", "python"), filepath.Join("testdata", try.script), append([]string{
				"PYTHONPATH=" + filepath.Join(client, try.with), "QUESTION=" + packtest.Recording(t, question),
			}, env...)...)
		})
	}
}
