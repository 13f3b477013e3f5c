package author

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// findGo looks for a Go that compiles for wasip1, which it does since 1.21.
func findGo(p Project) (compiler, error) {
	missing := ErrNoTools{Language: "Go", Why: "there is no Go 1.21 or later", Install: []string{
		"Go 1.21 or later from go.dev/dl, or your distribution's golang-go where it is as new (Debian 13)",
	}}
	for _, path := range programs("go", append(toolchainOfParley(), "/usr/local/go/bin")...) {
		version := strings.TrimPrefix(outputOf(path, "env", "GOVERSION"), "go1.")
		minor, _ := strconv.Atoi(version[:len(version)-len(strings.TrimLeft(version, "0123456789"))])
		if minor < 21 {
			missing.Why = path + " is version 1." + version + ", but WASI needs 1.21 or later"
			continue
		}
		return func(s *session, p Project, out string) error {
			return s.run(p.Dir, []string{"GOOS=wasip1", "GOARCH=wasm"}, nil, path,
				"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, ".")
		}, nil
	}
	return nil, missing
}

// toolchainOfParley returns the folder where Parley's build puts the Go that it downloads.
func toolchainOfParley() []string {
	cache := os.Getenv("PARLEY_CACHE")
	if home, err := os.UserHomeDir(); cache == "" && err == nil {
		cache = filepath.Join(home, ".cache", "parley")
	}
	if cache == "" {
		return nil
	}
	return []string{filepath.Join(cache, "toolchain", "bin")}
}
