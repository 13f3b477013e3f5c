package author

import (
	"os"
	"path/filepath"
	"strings"
)

// findC looks for a clang with a C library for WASI: that of a WASI SDK, or the system's
// with its wasi-libc.
func findC(p Project) (compiler, error) {
	missing := ErrNoTools{Language: "C", Why: "there is no clang", Install: []string{
		"with Debian:      apt-get install clang lld wasi-libc libclang-rt-dev-wasm32",
		"with a WASI SDK:  set WASI_SDK_PATH to its folder",
	}}
	if sdk := os.Getenv("WASI_SDK_PATH"); sdk != "" {
		clang := filepath.Join(sdk, "bin", "clang")
		if why := missingForWASI(clang); why != "" {
			missing.Why = "WASI_SDK_PATH is " + sdk + ", but " + why
			return nil, missing
		}
		return compileC(clang), nil
	}
	candidates := programs("clang", "/opt/wasi-sdk/bin")
	for _, version := range []string{"21", "20", "19", "18", "17", "16", "15", "14"} {
		candidates = append(candidates, programs("clang-"+version)...)
	}
	for _, clang := range candidates {
		why := missingForWASI(clang)
		if why == "" {
			return compileC(clang), nil
		}
		missing.Why = why
	}
	return nil, missing
}

const targetC = "--target=wasm32-wasi"

// missingForWASI returns what a clang lacks for WASI; empty if nothing.
func missingForWASI(clang string) string {
	if _, err := os.Stat(clang); err != nil {
		return "there is no " + clang
	}
	// If clang does not find a file, it prints the name as given.
	for _, part := range []struct{ ask, what string }{
		{"-print-file-name=libc.a", "C library for WASI (wasi-libc)"},
		{"-print-libgcc-file-name", "compiler's library for WASI (libclang-rt-dev-wasm32)"},
		{"-print-prog-name=wasm-ld", "linker for WebAssembly (lld)"},
	} {
		path := outputOf(clang, targetC, part.ask)
		if _, err := os.Stat(path); !filepath.IsAbs(path) || err != nil {
			return clang + " has no " + part.what
		}
	}
	return ""
}

// compileC compiles all C files in the project's folder, with the flags in CFLAGS and
// LDFLAGS.
func compileC(clang string) compiler {
	return func(s *session, p Project, out string) error {
		args := append([]string{targetC, "-O2", "-Wall"}, strings.Fields(os.Getenv("CFLAGS"))...)
		sources, err := filepath.Glob(filepath.Join(p.Dir, "*.c"))
		if err != nil {
			return err
		}
		for _, source := range sources {
			args = append(args, filepath.Base(source))
		}
		args = append(args, "-o", out)
		return s.run(p.Dir, nil, nil, clang, append(args, strings.Fields(os.Getenv("LDFLAGS"))...)...)
	}
}
