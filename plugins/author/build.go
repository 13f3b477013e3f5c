package author

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"parley/plugins/manifest"
)

// Build compiles a project with the tools of its language, adds the manifest and the test
// cases in tests/ to the module, and writes it to the path of Wasm. It shows the commands
// and their output on out. If it fails, the former module stays.
func Build(ctx context.Context, p Project, out io.Writer) error {
	l, err := p.language()
	if err != nil {
		return err
	}
	compile, err := l.find(p)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "parley-build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "plugin.wasm")
	if err := compile(&session{ctx, out}, p, made); err != nil {
		return fmt.Errorf("building %s: %w", p.Manifest.Name, err)
	}
	return Pack(p, made)
}

// Pack adds the project's manifest and test cases to a module that was built elsewhere, and
// writes it to the path of Wasm.
func Pack(p Project, module string) error {
	wasm, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	tests, err := readTests(p)
	if err != nil {
		return err
	}
	whole, err := manifest.Embed(wasm, p.Text, tests)
	if err != nil {
		return fmt.Errorf("%s: %w", module, err)
	}
	// The rename ensures that watchers of the folder never see half a module.
	part := p.Wasm() + ".part"
	if err := os.WriteFile(part, whole, 0o644); err != nil {
		return err
	}
	if err := os.Rename(part, p.Wasm()); err != nil {
		_ = os.Remove(part)
		return err
	}
	return nil
}
