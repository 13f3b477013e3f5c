package analysis

import (
	"os"
	"slices"
	"strings"
	"testing"

	"parley/appliance/contract"
)

// marked returns the sentences of a file, and their entities, which are in brackets.
func marked(t testing.TB) (texts []string, wanted [][]Span) {
	t.Helper()
	data, err := os.ReadFile("testdata/entities.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var text strings.Builder
		var spans []Span
		for _, r := range strings.TrimSpace(line) {
			switch r {
			case '[':
				spans = append(spans, Span{From: text.Len()})
			case ']':
				spans[len(spans)-1].To = text.Len()
			default:
				text.WriteRune(r)
			}
		}
		texts, wanted = append(texts, text.String()), append(wanted, spans)
	}
	return texts, wanted
}

// Of sentences that the rules were not written with, most entities are found, from the first to the last letter.
func TestEntitiesAreFound(t *testing.T) {
	texts, wanted := marked(t)
	var right, found, all [2]int
	for i, text := range texts {
		var got []Span
		runes := []rune(text)
		models := contract.BatchModels{NER: &contract.BatchNER{}}
		for _, group := range reported(t, written(text), models).NER.GroupedPredictions {
			for _, p := range group.Predictions {
				from := len(string(runes[:p.Position.Begin]))
				got = append(got, Span{from, from + len(p.Entity)})
				at := p.Position
				if string(runes[at.Begin:at.End]) != p.Entity || !strings.Contains(p.Entity, p.LinkWord) ||
					p.Support != 1 || p.Emotions.Len() != 53 {
					t.Errorf("%q in %q: %+v", p.Entity, text, p)
				}
			}
		}
		half := i % 2
		found[half], all[half] = found[half]+len(got), all[half]+len(wanted[i])
		for _, s := range got {
			if slices.Contains(wanted[i], s) {
				right[half]++
			} else {
				t.Logf("%q is not wanted in %q", text[s.From:s.To], text)
			}
		}
		for _, s := range wanted[i] {
			if !slices.Contains(got, s) {
				t.Logf("%q is missing in %q", text[s.From:s.To], text)
			}
		}
	}
	for half, name := range [...]string{"in sight", "put away"} {
		precision, recall := float64(right[half])/float64(found[half]), float64(right[half])/float64(all[half])
		t.Logf("%s: precision %.2f, recall %.2f of %d", name, precision, recall, all[half])
		if precision < 0.8 || recall < 0.8 {
			t.Errorf("%s: precision %.2f, recall %.2f", name, precision, recall)
		}
	}
}

// A name counts as often as the text has it, in any case.
func TestSupportCountsAName(t *testing.T) {
	models := contract.BatchModels{NER: &contract.BatchNER{}}
	found := reported(t, written("We went to Oslo. I like Oslo because of its light."), models).NER
	if len(found.GroupedPredictions) != 1 || len(found.GroupedPredictions[0].Predictions) != 2 ||
		found.GroupedPredictions[0].Predictions[1].Support != 2 {
		t.Errorf("%+v", found.GroupedPredictions)
	}
}

// Of a language that is not English, nothing is known.
func TestNamesAreFoundInEnglishOnly(t *testing.T) {
	models := contract.BatchModels{NER: &contract.BatchNER{}}
	text := "Gestern war ich mit meiner Schwester in Berlin und habe dort ein neues Kleid gekauft."
	if found := reported(t, written(text), models).NER; len(found.GroupedPredictions) != 0 {
		t.Errorf("%+v", found.GroupedPredictions)
	}
}
