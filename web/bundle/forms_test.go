package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// Property tests of the console's forms, run in Node: what a form writes, it reads back.
func TestTheFormsReadWhatTheyWrite(t *testing.T) {
	packages(t)
	r := api.Build(api.BuildOptions{
		EntryPoints:     []string{"../test/forms.ts"},
		Bundle:          true,
		Format:          api.FormatESModule,
		Platform:        api.PlatformNode,
		JSX:             api.JSXAutomatic,
		JSXImportSource: "preact",
	})
	if len(r.Errors) > 0 || len(r.OutputFiles) != 1 {
		t.Fatalf("not bundled: %v", r.Errors)
	}
	file := filepath.Join(t.TempDir(), "forms.mjs")
	if err := os.WriteFile(file, r.OutputFiles[0].Contents, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "node", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "laws hold") {
		t.Errorf("%v\n%s", err, out)
	}
}
