package voice

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// PARLEY_WRITE_DOCS=1 writes the vocabulary to the document.
func TestDocumentHasTheVocabulary(t *testing.T) {
	const path, begin, end = "../../docs/voices.md", "<!-- vocabulary -->\n", "<!-- end -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(raw), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the vocabulary", path)
	}
	if want := before + begin + document() + end + after; want != string(raw) {
		if os.Getenv("PARLEY_WRITE_DOCS") == "" {
			t.Fatalf("%s is not up to date: PARLEY_WRITE_DOCS=1 go test ./appliance/voice writes it", path)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// document returns the vocabulary in Markdown.
func document() string {
	var b strings.Builder
	for _, s := range vocabulary() {
		fmt.Fprintf(&b, "### %s\n\n| words | so |\n|---|---|\n", s.About)
		for _, t := range s.traits {
			fmt.Fprintf(&b, "| %s | %s |\n", t.Words, t.meaning())
		}
		b.WriteString("\n")
	}
	b.WriteString("### How much\n\n| words before them | how much of it |\n|---|---|\n")
	for _, d := range degrees() {
		fmt.Fprintf(&b, "| %s | %g × |\n", d.Words, d.times)
	}
	fmt.Fprintf(&b, "| %s | none of it, and a little of the contrary |\n\n", negations)
	return b.String()
}

// meaning returns what a trait does, in words.
func (t trait) meaning() string {
	if t.Says != "" {
		return t.Says
	}
	var parts []string
	if t.gender != "" {
		parts = append(parts, "a "+strings.ToLower(string(t.gender))+" voice")
	}
	if t.age != anyAge {
		parts = append(parts, map[age]string{child: "a child's", teen: "a teenager's", young: "young",
			middle: "middle-aged", old: "old"}[t.age])
	}
	switch {
	case strings.HasPrefix(t.accent, "en-"):
		parts = append(parts, "a voice with this accent")
	case t.accent != "":
		parts = append(parts, "a voice of this language")
	}
	return strings.Join(parts, ", ")
}
