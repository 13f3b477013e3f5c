package packs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"parley/internal/durable"
)

//go:embed licences/*.txt
var licences embed.FS

// writeLicenceAndCard writes a pack's licences and its description into folder, for those
// who distribute it.
func writeLicenceAndCard(p Pack, folder string) error {
	licence, err := p.LicenceText()
	if err != nil {
		return err
	}
	if licence != "" {
		if err := durable.WriteFile(filepath.Join(folder, "LICENSE"), []byte(licence), 0o644); err != nil {
			return err
		}
	}
	return durable.WriteFile(filepath.Join(folder, "CARD.md"), []byte(card(p)), 0o644)
}

// LicenceText returns the licences of all works in the pack, each once. It is empty for a pack without credits.
func (p Pack) LicenceText() (string, error) {
	var out strings.Builder
	seen := map[string]bool{}
	for _, c := range p.Credits {
		fmt.Fprintf(&out, "%s: %s\n%s\n\n", c.Work, c.SPDX, c.Copyright)
	}
	for _, c := range p.Credits {
		if seen[c.SPDX] {
			continue
		}
		seen[c.SPDX] = true
		text, err := licences.ReadFile("licences/" + c.SPDX + ".txt")
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("pack %s: the text of the licence %s is missing", p.Name, c.SPDX)
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "---- %s ----\n\n%s\n", c.SPDX, text)
	}
	return out.String(), nil
}

// card describes the contents of the folder and their origin for people.
func card(p Pack) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s.\n\nLicence: %s\n", p.Name, p.Summary, p.Licence)
	if p.Note != "" {
		fmt.Fprintf(&out, "\n%s\n", p.Note)
	}
	build, _ := p.Build()
	out.WriteString("\nFrom:\n")
	for _, s := range build.Sources {
		fmt.Fprintf(&out, "- %s\n", s)
	}
	out.WriteString("\nFiles:\n")
	for _, f := range build.Files {
		fmt.Fprintf(&out, "- %s, %d bytes, sha256 %s\n", f.Name, f.Bytes, f.SHA256)
	}
	return out.String()
}
