package appliance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
)

// The page of docs/apps.md, in a real browser with a recording for a microphone,
// talks to a real box over WebRTC. The language model answers by a script.
func TestThePageOfTheDocumentationCalls(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	text, err := os.ReadFile("../docs/apps.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "```html\n")
	page, _, found := strings.Cut(page, "```")
	if lines := strings.Count(page, "\n"); !found || lines > 50 {
		t.Fatalf("docs/apps.md has a page of %d lines", lines)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	model := config.LanguageModel{OpenAI: scripted(t), Model: "script"}
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = model
		c.Origins = []string{"*"} // the page is of a server of its own
	})
	key := keyOf(t, b)
	runs(t, "node", filepath.Join("testdata", "call.cjs"), "BOX_URL="+b.url, "API_KEY="+key.APIKey, "SECRET_KEY="+key.SecretKey, "PAGE="+file,
		"CLIENT="+installed(t, "react-client"), "CHROMIUM="+chromium, "MICROPHONE="+microphone(t), "SHOT="+filepath.Join(t.ArtifactDir(), "page.png"))
}
