package packs

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"parley/internal/bundle"
)

func TestEveryPackCanBeAssembledFromItsSources(t *testing.T) {
	for _, p := range BuiltIn() {
		if p.System != nil {
			if len(p.System.Packages) == 0 || p.System.Library == "" || p.System.Data == "" {
				t.Errorf("%s: an incomplete system pack: %+v", p.Name, p.System)
			}
			continue
		}
		if _, any := p.Builds["any"]; !any {
			for _, arch := range []string{"amd64", "arm64"} {
				if _, ok := p.Builds[arch]; !ok {
					t.Errorf("%s has no build for %s", p.Name, arch)
				}
			}
		}
		for arch, b := range p.Builds {
			takes := map[string][]Part{}
			for _, s := range b.Sources {
				if !slices.Contains([]string{"pip", "npm", "go"}, s.Client) || s.Package == "" || s.Version == "" ||
					s.Bytes <= 0 {
					t.Errorf("%s %s: incomplete source %+v", p.Name, arch, s)
				}
				collect(t, takes, s.Parts)
			}
			for _, f := range b.Files {
				checkTiles(t, p.Name+" "+arch, f, takes[f.Name])
				delete(takes, f.Name)
			}
			for name := range takes {
				t.Errorf("%s %s: %s is taken, but is no file of the pack", p.Name, arch, name)
			}
		}
	}
}

func collect(t *testing.T, into map[string][]Part, takes []Part) {
	for _, k := range takes {
		if !hexSHA256.MatchString(k.SHA256) || k.Bytes <= 0 || k.Member == "" {
			t.Errorf("incomplete take %+v", k)
		}
		if k.Unpack != nil {
			collect(t, into, k.Unpack)
		} else {
			into[k.File] = append(into[k.File], k)
		}
	}
}

// checkTiles checks that the takes cover the file without gap or overlap.
func checkTiles(t *testing.T, pack string, f bundle.File, takes []Part) {
	if !hexSHA256.MatchString(f.SHA256) || path.Clean(f.Name) != f.Name || strings.HasPrefix(f.Name, "..") ||
		path.IsAbs(f.Name) || f.Name == recordName {
		t.Errorf("%s: not a file: %+v", pack, f)
	}
	slices.SortFunc(takes, func(a, b Part) int { return cmp.Compare(a.Offset, b.Offset) })
	var end int64
	for _, k := range takes {
		if k.Offset != end {
			t.Errorf("%s: %s: a part begins at %d, the one before ends at %d", pack, f.Name, k.Offset, end)
		}
		end = k.Offset + k.Bytes
	}
	if end != f.Bytes {
		t.Errorf("%s: the parts of %s have %d bytes, the file %d", pack, f.Name, end, f.Bytes)
	}
	if len(takes) == 1 && takes[0].SHA256 != f.SHA256 {
		t.Errorf("%s: %s and its only part differ in sha256", pack, f.Name)
	}
}

func TestEveryPackHasASummaryAndALicence(t *testing.T) {
	for _, p := range BuiltIn() {
		if p.Name == "" || p.Kind == "" || p.Summary == "" || p.Version == "" || p.Licence == "" || p.Bytes() <= 0 {
			t.Errorf("incomplete: %s %s %q %s %q", p.Name, p.Kind, p.Summary, p.Version, p.Licence)
		}
		if len(p.Credits) == 0 && p.Note == "" {
			t.Errorf("%s has no credits", p.Name)
		}
		if _, err := p.LicenceText(); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryProfileCanHoldAConversation(t *testing.T) {
	for _, name := range Profiles() {
		packs, err := Profile(name)
		if err != nil {
			t.Fatal(err)
		}
		have := map[Kind]int{}
		for _, p := range packs {
			have[p.Kind]++
		}
		for _, k := range []Kind{Phonemes, Transcriber, Turn, Voice, LanguageModel} {
			if have[k] == 0 {
				t.Errorf("profile %s has no %s", name, k)
			}
		}
		if have[Runtime] != 2 {
			t.Errorf("profile %s has %d runtimes, not 2", name, have[Runtime])
		}
	}
}

func TestErrorOfAnUnknownNameListsTheKnownOnes(t *testing.T) {
	_, err := Profile("huge")
	var e *ErrNoPack
	if !errors.As(err, &e) ||
		!strings.Contains(err.Error(), `profile "huge": choose one of default, small, test, full`) {
		t.Errorf("got %v", err)
	}
	_, err = Find(t.TempDir(), "voice-joe", "voice-bob")
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "voice-jenny") {
		t.Errorf("got %v", err)
	}
}
