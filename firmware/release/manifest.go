// Package release writes and reads the release file, which holds all that a machine
// without a network needs to become a box: the Debian package of Parley, its models, and
// the Debian packages that it depends on.
//
// A release file is a POSIX shell script with a tar archive behind it, so that sh FILE
// installs it on a machine that has nothing but a Debian:
//
//	install.sh        ScriptBytes bytes, padded with empty lines
//	manifest.json     the version and the list of the parts, with their SHA-256
//	manifest.sig      an ed25519 signature of manifest.json; may be missing
//	parley-box_….deb  the package
//	packs.tar.zst     models, as packs.Export writes them; may be missing
//	debian/Packages   the index of the apt repository that the archive is
//	debian/….deb      Debian packages that Parley depends on; may be missing
//	debian/SOURCES.txt where the sources of these are; may be missing
//
// The manifest determines every other byte of the file, so its signature covers the file.
package release

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"parley/internal/bundle"
)

// Names of parts.
const (
	PacksName = "packs.tar.zst"
	IndexName = "debian/Packages"
	// SourcesName is the text that says how to get the sources of the Debian packages.
	SourcesName = "debian/SOURCES.txt"
)

const (
	scriptName    = "install.sh"
	manifestName  = "manifest.json"
	signatureName = "manifest.sig"
)

// format is the only format so far.
const format = 1

// ScriptBytes is the size of the script, and so the offset of the tar archive.
const ScriptBytes = 32 << 10

// maxManifest bounds the manifest, which is read before the file can be trusted: twenty
// times that of a file with 200 Debian packages.
const maxManifest = 1 << 20

// maxName bounds the name of a part: a longer one would need a second tar header.
const maxName = 100

// A Manifest describes a release file. Its JSON is the only one of its content: the
// installation script reads it line by line, and other spellings are refused. Later versions
// may add fields behind these, and parts, so that older boxes can be updated to them.
type Manifest struct {
	Format  int    `json:"format"`
	Version string `json:"version"` // of Parley: semantic, such as 0.1.0
	Arch    string `json:"arch"`    // amd64 or arm64
	Suite   string `json:"suite"`   // release of Debian, such as bookworm
	Schema  int64  `json:"schema"`  // of the database of this version
	MadeMS  int64  `json:"made_ms"` // when the package was made, Unix time in milliseconds
	Commit  string `json:"commit"`  // of Parley's source; empty if unknown
	// Profile names the models of the packs; empty without packs.
	Profile string `json:"profile"`
	// PacksBytes is the size of the packs when they are installed.
	PacksBytes int64         `json:"packs_bytes"`
	Script     bundle.File   `json:"script"`
	Files      []bundle.File `json:"files"` // in the order of the file, the package first
}

// PackageName returns the name of the part that is the Debian package of a version.
func PackageName(version, arch string) string {
	return fmt.Sprintf("parley-box_%s_%s.deb", version, arch)
}

// Package returns the part that is the Debian package of Parley.
func (m Manifest) Package() bundle.File { return m.Files[0] }

// Part returns the part with a name; false if there is none.
func (m Manifest) Part(name string) (bundle.File, bool) {
	for _, f := range m.Files {
		if f.Name == name {
			return f, true
		}
	}
	return bundle.File{}, false
}

// Bytes returns the size of all parts.
func (m Manifest) Bytes() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// encode returns the manifest's JSON.
func (m Manifest) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", " ")
	return append(text, '\n'), err
}

// decode parses and checks a manifest's JSON.
func decode(text []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, fmt.Errorf("%w: its manifest is not JSON: %w", errFormat, err)
	}
	if m.Format != format {
		return Manifest{}, fmt.Errorf("the release file has format %d, and this Parley reads format %d: run sh FILE, "+
			"which needs no Parley", m.Format, format)
	}
	if err := m.check(); err != nil {
		return Manifest{}, err
	}
	again, err := m.encode()
	if err != nil {
		return Manifest{}, err
	}
	end := []byte("\n}\n")
	later, ok := bytes.CutPrefix(text, bytes.TrimSuffix(again, end))
	if !ok || !bytes.Equal(later, end) && !bytes.HasPrefix(later, []byte(",\n")) {
		return Manifest{}, fmt.Errorf("%w: its manifest has another layout", errFormat)
	}
	return m, nil
}

var (
	// versionPattern is semantic versioning 2.0.0 without build metadata.
	versionPattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){2}(-[0-9A-Za-z.-]{1,40})?$`)
	archPattern    = regexp.MustCompile(`^[a-z0-9]{1,20}$`)
	suitePattern   = regexp.MustCompile(`^[a-z]{1,20}$`)
	commitPattern  = regexp.MustCompile(`^[0-9a-z+-]{0,60}$`)
	profilePattern = regexp.MustCompile(`^[a-z]{0,20}$`)
	laterPattern   = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+$`) // parts of later versions
	debPattern     = regexp.MustCompile(`^debian/[a-z0-9][A-Za-z0-9.+~_-]*\.deb$`)
)

// check checks everything in a manifest that the program or the script relies on.
func (m Manifest) check() error {
	switch {
	case !versionPattern.MatchString(m.Version):
		return fmt.Errorf("the version %.80q of the release file is not allowed: use three numbers, such as 0.1.0",
			m.Version)
	case !archPattern.MatchString(m.Arch):
		return fmt.Errorf("the processor %.80q of the release file is not allowed: use amd64 or arm64", m.Arch)
	case !suitePattern.MatchString(m.Suite):
		return fmt.Errorf("the Debian release %.80q of the release file is not allowed: use its code name, such as "+
			"bookworm", m.Suite)
	case !commitPattern.MatchString(m.Commit), !profilePattern.MatchString(m.Profile), m.Schema < 0, m.MadeMS < 0,
		m.PacksBytes < 0:
		return fmt.Errorf("%w: its manifest has a commit, a profile or a number that is not allowed", errFormat)
	case m.Script.Name != scriptName || m.Script.Bytes != ScriptBytes:
		return fmt.Errorf("%w: its script is not %s with %d bytes", errFormat, scriptName, ScriptBytes)
	case len(m.Files) == 0 || m.Files[0].Name != PackageName(m.Version, m.Arch):
		return fmt.Errorf("%w: its first part is not %s", errFormat, PackageName(m.Version, m.Arch))
	}
	return m.checkFiles()
}

// maxPart bounds a part, and maxFile the file: ten times the largest models that such a
// machine runs.
const (
	maxPart = 1 << 40
	maxFile = 1 << 41
)

func (m Manifest) checkFiles() error {
	seen := map[string]bool{}
	var total int64
	for _, f := range append([]bundle.File{m.Script}, m.Files...) {
		sum, err := hex.DecodeString(f.SHA256)
		if err != nil || len(sum) != 32 || strings.ToLower(f.SHA256) != f.SHA256 {
			return fmt.Errorf("%w: the SHA-256 %.80q of %.80q is malformed", errFormat, f.SHA256, f.Name)
		}
		if f.Bytes < 0 || f.Bytes > maxPart || seen[f.Name] {
			return fmt.Errorf("%w: its part %.80q has a size that is not allowed, or is there twice", errFormat, f.Name)
		}
		seen[f.Name] = true
		total += f.Bytes
	}
	for _, f := range m.Files[1:] {
		known := f.Name == PacksName || f.Name == IndexName || f.Name == SourcesName ||
			debPattern.MatchString(f.Name) || laterPattern.MatchString(f.Name)
		if !known || len(f.Name) > maxName {
			return fmt.Errorf("%w: a part %.120q is not allowed", errFormat, f.Name)
		}
	}
	if total > maxFile || m.hasDebs() && !seen[IndexName] {
		return fmt.Errorf("%w: it is too large, or its Debian packages have no index", errFormat)
	}
	return nil
}

func (m Manifest) hasDebs() bool {
	for _, f := range m.Files {
		if debPattern.MatchString(f.Name) {
			return true
		}
	}
	return false
}

var errFormat = errors.New("it is not a release file of parley bundle, or it is damaged")

// An ErrUnfit means that a release file is for another kind of machine.
type ErrUnfit struct{ What, Has, Needs string }

func (e *ErrUnfit) Error() string {
	return fmt.Sprintf("the release file is for %s %s, and this machine has %s: make one for it with parley bundle",
		e.What, e.Has, e.Needs)
}

// Fits returns an *ErrUnfit if the file is not for a processor (as dpkg and Go call it) or
// a release of Debian (its code name).
func (m Manifest) Fits(arch, suite string) error {
	switch {
	case m.Arch != arch:
		return &ErrUnfit{"the processor", m.Arch, arch}
	case m.Suite != suite:
		return &ErrUnfit{"Debian's release", m.Suite, suite}
	}
	return nil
}
