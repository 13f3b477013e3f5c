package licences

import (
	"maps"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPartsAreDecodedAsEncoded(t *testing.T) {
	given := []Part{
		{Kind: Go, Name: "a", Version: "v1", Licence: "MIT", Copyright: []string{"Copyright 2020 A"},
			Texts: []Text{{"LICENSE", "One\ntwo.\n\nThree.\n"}, {"NOTICE", "Three.\n"}}},
		{Kind: C, Name: "b", Texts: []Text{{"b.h", "One\ntwo.\n\nFour.\n"}}},
	}
	data, err := Encode(given)
	must(t, err)
	got, err := decode(data)
	must(t, err)
	if len(got) != 2 || got[0].Name != "a" || got[0].Copyright[0] != "Copyright 2020 A" ||
		!slices.Equal(got[0].Texts, given[0].Texts) || !slices.Equal(got[1].Texts, given[1].Texts) {
		t.Errorf("%+v", got)
	}
	if strings.Count(string(data), "Three.") != 1 {
		t.Errorf("a paragraph of two texts is stored twice: %s", data)
	}
}

func TestEveryPartHasALicenceAndItsText(t *testing.T) {
	all, err := All()
	must(t, err)
	kinds := map[Kind]int{}
	for _, p := range all {
		kinds[p.Kind]++
		if p.Licence == "" || p.Name == "" || p.Version == "" && p.Kind != System {
			t.Errorf("%+v has no name, version or licence", p)
		}
		if len(p.Texts) == 0 && p.Kind != System {
			t.Errorf("%s has no text of its licence", p.Name)
		}
		if p.Package == "" && p.Kind == System {
			t.Errorf("%s has no package", p.Name)
		}
	}
	for kind, least := range map[Kind]int{Program: 1, Go: 70, C: 3, Page: 3, Pack: 13, System: 14} {
		if kinds[kind] < least {
			t.Errorf("%d parts are of the kind %s; there were %d", kinds[kind], kind, least)
		}
	}
}

// A program that was built with other modules must not show licences that nobody read.
func TestAModuleInAnotherVersionHasAnUnknownLicence(t *testing.T) {
	got := linked([]Part{{Kind: Program, Name: "Parley"}, {Kind: Go, Name: Library},
		{Kind: Go, Name: "same", Version: "v1", Licence: "MIT"},
		{Kind: Go, Name: "other", Version: "v1", Licence: "MIT"},
		{Kind: Go, Name: "absent", Version: "v1", Licence: "MIT"}},
		"go9", []*debug.Module{{Path: "same", Version: "v1"}, {Path: "other", Version: "v2"}})
	var lines []string
	for _, p := range got {
		lines = append(lines, strings.TrimSpace(p.Name+" "+p.Version+" "+p.Licence))
	}
	if want := []string{"Parley", "Go go9", "same v1 MIT", "other v2"}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

func TestWhatTheProgramUsesOfDebianIsListed(t *testing.T) {
	table, err := os.ReadFile("../../tools/setup.table")
	must(t, err)
	var listed []string
	for _, p := range OfDebian() {
		listed = append(listed, p.Package)
	}
	used := 0
	for line := range strings.Lines(string(table)) {
		row := strings.Split(line, "|")
		if strings.TrimSpace(row[0]) != "run" {
			continue
		}
		for _, name := range strings.Fields(row[2]) {
			used++
			if !slices.ContainsFunc(listed, func(one string) bool { return strings.HasPrefix(name, one) }) {
				t.Errorf("tools/setup.table has the package %s for a running box, and OfDebian lacks it", name)
			}
		}
	}
	if used < 15 {
		t.Errorf("%d packages in tools/setup.table", used)
	}
}

// Each licence of a pack and of Debian's parts stands on the page, in the row of the part if that has the same name.
func TestThePageAgrees(t *testing.T) {
	page, err := os.ReadFile("../../docs/licences.md")
	must(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 {
			rows[strings.TrimSpace(cells[1])] = cells[3]
		}
	}
	all, err := All()
	must(t, err)
	licences := strings.Join(slices.Collect(maps.Values(rows)), " ")
	for _, p := range all {
		if p.Kind != Pack && p.Kind != System || strings.HasPrefix(p.Licence, "LicenseRef-") {
			continue
		}
		for _, id := range strings.Split(p.Licence, " AND ") {
			row, ok := rows[p.Name]
			if !ok {
				row = licences
			}
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(id) + `\b`).MatchString(row) {
				t.Errorf("%s is under %s, and docs/licences.md does not say so", p.Name, id)
			}
		}
		if _, ok := rows[p.Name]; !ok && p.Kind == System {
			t.Errorf("docs/licences.md has no row for %s", p.Name)
		}
	}
}
