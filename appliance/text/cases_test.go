package text

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The tables in testdata are what a person would say, with locale, written and spoken form
// separated by tabs. cases.tsv is from defects reported of systems like this one. The letter A
// is written A, and phonemes follow the words that have some.
func TestTables(t *testing.T) {
	var tables []byte
	for _, name := range []string{"spoken", "cases"} {
		data, err := os.ReadFile("testdata/" + name + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, data...)
	}
	cases := 0
	for line := range strings.Lines(string(tables)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != 3 {
			t.Fatalf("%q is not a valid case", line)
		}
		cases++
		written := strings.NewReplacer(`\n`, "\n", `\\`, `\`).Replace(row[1])
		var said strings.Builder
		for _, x := range Say(written, Options{Language: row[0]}) {
			if x.Phonemes != "" {
				x.Text = strings.TrimSpace(x.Text) + "/" + x.Phonemes + "/ "
			}
			said.WriteString(x.Text)
		}
		if got := regexp.MustCompile(`\b`+letterA+`\b`).ReplaceAllString(strings.TrimSpace(said.String()),
			"A"); got != row[2] {
			t.Errorf("%s %q\n got %q\nwant %q", row[0], written, got, row[2])
		}
	}
	if cases < 300 {
		t.Errorf("the table has %d cases", cases)
	}
}
