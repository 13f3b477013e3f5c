package author

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// findRust looks for a cargo whose rustc has the library for WASI: that of rustup, or
// Debian's, which has an older name for the target.
func findRust(p Project) (compiler, error) {
	missing := ErrNoTools{Language: "Rust", Why: "there is no cargo", Install: []string{
		"with rustup:  rustup target add wasm32-wasip1",
		"with Debian:  apt-get install cargo libstd-rust-dev-wasm32 lld",
	}}
	home, _ := os.UserHomeDir()
	for _, cargo := range programs("cargo", filepath.Join(home, ".cargo", "bin"), "/usr/bin") {
		rustc := filepath.Join(filepath.Dir(cargo), "rustc")
		for _, target := range []string{"wasm32-wasip1", "wasm32-wasi"} {
			folder := outputOf(rustc, "--print", "target-libdir", "--target", target)
			if std, _ := filepath.Glob(filepath.Join(folder, "libstd-*.rlib")); folder == "" || len(std) == 0 {
				missing.Why = rustc + " has no library for WASI (wasm32-wasip1)"
				continue
			}
			linker, ok := linkerOf(rustc, target)
			if !ok {
				missing.Why = rustc + " has no linker for WebAssembly (lld)"
				continue
			}
			return func(s *session, p Project, out string) error {
				return cargoBuild(s, p, cargo, append(linker, "RUSTC="+rustc), target, out)
			}, nil
		}
	}
	return nil, missing
}

// linkerOf returns the variables that name the linker to cargo, and whether there is one.
// No variables are needed if rustc finds its own, rust-lld, in its libraries or in PATH.
// Debian 13 has that in a separate package; wasm-ld of lld is the same program under
// another name.
func linkerOf(rustc, target string) (vars []string, ok bool) {
	variable := "CARGO_TARGET_" + strings.ToUpper(strings.ReplaceAll(target, "-", "_")) + "_LINKER"
	homes, _ := filepath.Glob(filepath.Join(outputOf(rustc, "--print", "sysroot"), "lib", "rustlib", "*", "bin"))
	if os.Getenv(variable) != "" || len(programs("rust-lld", homes...)) > 0 {
		return nil, true
	}
	if found := programs("wasm-ld"); len(found) > 0 {
		return []string{variable + "=" + found[0]}, true
	}
	return nil, false
}

func cargoBuild(s *session, p Project, cargo string, vars []string, target, out string) error {
	var messages bytes.Buffer
	err := s.run(p.Dir, vars, &messages, cargo,
		"build", "--release", "--target", target, "--message-format", "json-render-diagnostics")
	if err != nil {
		return err
	}
	var made []string
	for line := range bytes.Lines(messages.Bytes()) {
		var m struct{ Reason, Executable string }
		if json.Unmarshal(line, &m) == nil && m.Reason == "compiler-artifact" && m.Executable != "" {
			made = append(made, m.Executable)
		}
	}
	switch len(made) {
	case 0:
		return errors.New("cargo built no program: a plugin has src/main.rs")
	case 1:
		return copyFile(out, made[0])
	}
	return errors.New("cargo built several programs, and a plugin is one: " + strings.Join(made, ", "))
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
