package debian

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"parley/internal/bundle"
)

// Index returns the index of an apt repository with these packages, a file named Packages.
// The names of debs are relative to the repository's root.
func Index(ctx context.Context, debs []Deb) ([]byte, error) {
	var index strings.Builder
	for _, d := range debs {
		control, err := output(exec.CommandContext(ctx, "dpkg-deb", "-f", d.Path))
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(d.Path)
		if err != nil {
			return nil, err
		}
		sum, err := bundle.Hash(ctx, d.Path)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&index, "%s\nFilename: %s\nSize: %d\nSHA256: %s\n\n", strings.TrimSpace(control), d.Name,
			info.Size(), sum)
	}
	return []byte(index.String()), nil
}
