package appliance

import (
	"path/filepath"
	"testing"

	"parley/appliance/config"
	"parley/internal/packtest"
)

// Apps for the former cloud service that measure expression in texts, recordings and pictures, with
// the clients of their time, work against the box when the host name of the service leads to it.
// The newest clients do not have this part any more.
func TestAppsThatMeasureExpressionWorkUnchanged(t *testing.T) {
	t.Parallel()
	if !inPrivateNetwork(t) {
		return
	}
	js, python := clientFolder(t, "js-client"), clientFolder(t, "py-client")
	portrait, err := filepath.Abs(filepath.Join("expression", "face", "testdata", "collins.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	packtest.File(t, "faces", "face_detector.bin")
	_, env := startBoxUnderTheOldName(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	})
	env = append(env, "RECORDING="+packtest.Recording(t, question), "PORTRAIT="+portrait)
	runScript(t, "node", filepath.Join("testdata", "former_batch.cjs"), append(env, "CLIENT="+js)...)
	for _, version := range []string{"hume-0.7", "hume-0.9", "hume-0.13"} {
		t.Run(version, func(t *testing.T) {
			runScript(t, filepath.Join(python, "bin", "python"), filepath.Join("testdata", "former_batch.py"),
				append(env, "PYTHONPATH="+filepath.Join(python, version))...)
		})
	}
}
