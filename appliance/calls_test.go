package appliance

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/appliance/config"
)

// The pages of docs/apps.md talk to a real box, in a real browser with a recording for a
// microphone: one by WebRTC, the others with the published clients. The language model
// follows a script.
func TestDocumentedPagesTalk(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	text, err := os.ReadFile("../docs/apps.md")
	if err != nil {
		t.Fatal(err)
	}
	model := config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = model
		c.Origins = []string{"*"} // another server serves the pages
	})
	key := createKey(t, b)
	env := []string{"BOX_URL=" + b.url, "API_KEY=" + key.APIKey, "SECRET_KEY=" + key.SecretKey, "CHROMIUM=" + chromium,
		"MICROPHONE=" + microphone(t),
		"CLIENT=" + clientFolder(t, "react-client"),
		"CLIENTS=" + clientFolder(t, "react-client") + " " + clientFolder(t, "js-client")}
	for _, language := range []string{"html", "jsx", "js"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			_, page, _ := strings.Cut(string(text), "```"+language+"\n")
			page, _, found := strings.Cut(page, "```")
			if lines := strings.Count(page, "\n"); !found || lines > 40 {
				t.Fatalf("docs/apps.md has a page of %d lines, want 40 at most", lines)
			}
			file := filepath.Join(t.TempDir(), "page."+language)
			if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
			runScript(t, "node", filepath.Join("testdata", "call.cjs"),
				append(slices.Clip(env), "PAGE="+file, "SHOT="+filepath.Join(t.ArtifactDir(), "page.png"))...)
		})
	}
}
