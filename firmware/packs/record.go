package packs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"parley/internal/bundle"
	"parley/internal/durable"
)

// recordName is the file in a pack's folder that describes it.
const recordName = "pack.json"

// A record is the content of pack.json: a description of the pack, and the time of each
// file at its last check, so that a file is not hashed again while its size and time stay
// the same.
type record struct {
	Name    string       `json:"name"`
	Kind    Kind         `json:"kind"`
	Summary string       `json:"does"`
	Version string       `json:"version"`
	Licence string       `json:"licence"`
	Custom  bool         `json:"own,omitempty"`
	Files   []recordFile `json:"files"`
}

type recordFile struct {
	bundle.File
	ModifiedNS int64 `json:"modified_ns,omitempty"` // since 1970
}

func newRecord(p Pack) record {
	return record{
		Name:    p.Name,
		Kind:    p.Kind,
		Summary: p.Summary,
		Version: p.Version,
		Licence: p.Licence,
		Custom:  p.Custom,
	}
}

// readRecord reads pack.json in folder. It returns the zero record if that is missing or
// unreadable; all files are then hashed.
func readRecord(folder string) record {
	text, err := os.ReadFile(filepath.Join(folder, recordName))
	if err != nil {
		return record{}
	}
	var r record
	if json.Unmarshal(text, &r) != nil {
		return record{}
	}
	return r
}

// Digest returns a hash of the content of the pack in folder, as of its last check. It returns "" if the folder has
// no record of that.
func Digest(folder string) string {
	files := readRecord(folder).Files
	if len(files) == 0 {
		return ""
	}
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %d %s\n", f.Name, f.Bytes, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// write writes the record into folder, whole or not at all.
func (r record) write(folder string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(folder, recordName), append(text, '\n'), 0o644)
}

// verified reports whether f was valid with this size and time.
func (r record) verified(f bundle.File, info os.FileInfo) bool {
	return slices.Contains(r.Files, recordFile{f, info.ModTime().UnixNano()})
}

// pack returns the pack of an added model.
func (r record) pack() Pack {
	b := Build{}
	for _, f := range r.Files {
		b.Files = append(b.Files, f.File)
	}
	return Pack{
		Name:    r.Name,
		Kind:    r.Kind,
		Summary: r.Summary,
		Version: r.Version,
		Licence: r.Licence,
		Custom:  true,
		Builds:  map[string]Build{"any": b},
	}
}

// customFiles returns the files of the kinds of packs that an operator can add.
func customFiles(k Kind) ([]string, error) {
	switch k {
	case LanguageModel:
		return []string{"model.gguf"}, nil
	case Voice:
		return []string{"voice.json", "voice.onnx"}, nil
	}
	return nil, fmt.Errorf("an added pack is a %s or a %s, not a %q", LanguageModel, Voice, k)
}

var hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// checkCustom checks the record of an added pack, which may come from an untrusted file.
func (r record) checkCustom() error {
	if err := checkCustomName(r.Name); err != nil {
		return err
	}
	want, err := customFiles(r.Kind)
	if err != nil {
		return fmt.Errorf("pack %s: %w", r.Name, err)
	}
	var have []string
	for _, f := range r.Files {
		if f.Bytes <= 0 || !hexSHA256.MatchString(f.SHA256) {
			return fmt.Errorf("pack %s: %q has an invalid size %d or sha256 %q", r.Name, f.Name, f.Bytes,
				f.SHA256)
		}
		have = append(have, f.Name)
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		return fmt.Errorf("pack %s: a %s has the files %s, this one has %q", r.Name, r.Kind,
			strings.Join(want, " and "), have)
	}
	return nil
}

// Custom returns the packs that the operator added to dir, sorted by name.
func Custom(dir string) []Pack {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // no folder, no packs
	}
	var packs []Pack
	for _, e := range entries {
		r := readRecord(filepath.Join(dir, e.Name()))
		if r.Custom && r.Name == e.Name() && r.checkCustom() == nil {
			packs = append(packs, r.pack())
		}
	}
	return packs
}
