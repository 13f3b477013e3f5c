package author

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"parley/plugins/manifest"
)

// Build compiles a project with its language's own tools, puts the manifest and the
// cases in tests/ into the module, and writes it where Wasm says. What it runs, and what that says, it
// writes to out. A Build that fails leaves the former module as it was.
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

// Pack puts the project's manifest and cases into a module that was built somewhere else,
// and writes it where Wasm says.
func Pack(p Project, module string) error {
	wasm, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	tests, err := testsBeside(p)
	if err != nil {
		return err
	}
	whole, err := manifest.Embed(wasm, p.Text, tests)
	if err != nil {
		return fmt.Errorf("%s: %w", module, err)
	}
	// Whoever watches the folder never sees half a module.
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
