package appliance

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"parley/appliance/config"
)

// Apps for the former cloud service, with the JavaScript clients of their time, work
// against the box when the host name of the service leads to it.
func TestAppsOfTheFormerServiceWorkUnchanged(t *testing.T) {
	t.Parallel()
	if !inPrivateNetwork(t) {
		return
	}
	client, react := clientFolder(t, "js-client"), clientFolder(t, "react-client")
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	_, env := startBoxUnderTheOldName(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
		c.Origins = []string{"*"} // another server serves the pages
	})
	env = slices.Clip(env)
	runScript(t, "node", filepath.Join("testdata", "former.cjs"), append(env, "CLIENT="+client)...)
	runScript(t, "node", filepath.Join("testdata", "former_hook.cjs"),
		append(env, "CLIENT="+react, "CHROMIUM="+chromium, "FOLDER="+t.TempDir())...)
}
