package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	scheme  = regexp.MustCompile(`^[a-z]+:`)
	block   = regexp.MustCompile("(?ms)^```.*?^```$")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	words   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`) // of a link
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the headings of a page as link targets, named as GitHub does.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(block.ReplaceAllString(page, ""), -1) {
		name := strings.ToLower(words.ReplaceAllString(m[1], "$1"))
		all[strings.ReplaceAll(noSlug.ReplaceAllString(name, ""), " ", "-")] = true
	}
	return all
}

// Every link of a page to another file of the repository, or to a heading, has a target.
func TestLinksLeadSomewhere(t *testing.T) {
	pages, links := map[string]string{}, 0
	files(t, func(name string, text []byte) {
		if path.Ext(name) == ".md" && !strings.Contains(name, "/testdata/") {
			pages[name] = string(text)
		}
	})
	for name, text := range pages {
		for _, m := range link.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
			if scheme.MatchString(m[1]) {
				continue
			}
			links++
			file, place, _ := strings.Cut(m[1], "#")
			to := path.Join(path.Dir(name), file)
			if file == "" {
				to = name
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if other, ours := pages[to]; ours && place != "" && !anchors(other)[place] {
				t.Errorf("%s links to %s, and %s has no such heading", name, m[1], to)
			}
		}
	}
	if links < 200 {
		t.Errorf("%d links were found", links)
	}
}

// The map in docs/architecture.md has every package, and none that is gone.
func TestTheMapHasEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## The map")
	section, _, _ = strings.Cut(section, "\n## ")
	drawn := strings.Split(section, "```")[1]
	there := map[string]bool{}
	for _, p := range packages(t) {
		for name := strings.TrimPrefix(p.ImportPath, module); name != "."; name = path.Dir(name) {
			there[name] = true
		}
	}
	mapped := onMap(drawn)
	for name := range there {
		if !mapped[name] {
			t.Errorf("%s is not on the map", name)
		}
	}
	for name := range mapped {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("%s is on the map and not in the repository", name)
		}
	}
}

var (
	folder = regexp.MustCompile(`^( *)([a-z][a-z/-]*)/ `)
	inText = regexp.MustCompile(`(?:^|[ ;,])([a-z/]+[a-z])/ `)
)

// onMap returns the folders on the map: that of each line, below the one that it is
// indented under, and those below it that its text names.
func onMap(drawn string) map[string]bool {
	all := map[string]bool{}
	var above []string // by how deep
	last := ""
	for line := range strings.Lines(drawn) {
		text := line
		m := folder.FindStringSubmatch(line)
		if m != nil && len(m[1])/2 <= len(above) { // else it continues the previous line
			depth := len(m[1]) / 2
			above = append(above[:min(depth, len(above))], m[2])
			last = path.Join(above...)
			text = line[len(m[0]):]
			for name := last; name != "."; name = path.Dir(name) {
				all[name] = true
			}
		}
		for _, m := range inText.FindAllStringSubmatch(text, -1) {
			all[path.Join(last, m[1])] = true
		}
	}
	return all
}
