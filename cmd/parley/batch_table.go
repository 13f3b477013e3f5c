package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"parley/appliance/contract"
)

const (
	shownNames = 3  // as many as people take in
	shownChars = 40 // of a text: a row of 120 columns has this much space for it
)

// batchTable is a table of predictions: a row for each face of a picture and for each
// utterance, and the mean of longer series.
type batchTable struct {
	words    bool // the scores of texts are for single words
	rows     [][]string
	analysed int // files with predictions
	failed   int // errors
}

func newBatchTable(job contract.BatchJob) *batchTable {
	t := &batchTable{rows: [][]string{{"FILE", "MODEL", "WHO", "WHEN", "WHAT", "HIGHEST SCORES"}}}
	if m := job.Request.Models; m != nil && m.Language != nil {
		t.words = m.Language.Granularity == contract.ByWord
	}
	return t
}

// add adds the result of a source, and reports its errors.
func (t *batchTable) add(c *console, r contract.SourceResult) {
	if r.Error != "" {
		t.failed++
		c.complain(sourceName(r.Source) + ": " + r.Error)
	}
	if r.Results == nil {
		return
	}
	for _, e := range r.Results.Errors {
		t.failed++
		c.complain(cmp.Or(e.File, sourceName(r.Source)) + ": " + e.Message)
	}
	for _, p := range r.Results.Predictions {
		t.analysed++
		before := len(t.rows)
		if t.addFile(p); len(t.rows) == before {
			t.rows = append(t.rows, []string{p.File, "", "", "", "nothing found: no face, no speech, no words", ""})
		}
	}
}

// addFile adds the rows of a file.
func (t *batchTable) addFile(p contract.InferencePrediction) {
	m := p.Models
	picture := m.Face != nil && !slices.ContainsFunc(m.Face.GroupedPredictions,
		func(g contract.Grouped[contract.FacePrediction]) bool {
			return slices.ContainsFunc(g.Predictions, func(f contract.FacePrediction) bool { return f.Frame > 0 })
		})
	addRows(t, p.File, "face", "faces", !picture, m.Face, func(f contract.FacePrediction) unit {
		what := fmt.Sprintf("%.0f×%.0f at %.0f,%.0f", f.Box.W, f.Box.H, f.Box.X, f.Box.Y)
		if picture {
			return unit{nil, what, f.Emotions}
		}
		return unit{&contract.TimeInterval{Begin: f.Time, End: f.Time}, what, f.Emotions}
	})
	if m.Face == nil { // else it says the same
		addRows(t, p.File, "facemesh", "faces", true, m.Facemesh, func(f contract.FacemeshPrediction) unit {
			return unit{nil, "", f.Emotions}
		})
	}
	addRows(t, p.File, "prosody", "parts", false, m.Prosody, func(u contract.ProsodyPrediction) unit {
		text := ""
		if u.Text != nil {
			text = *u.Text
		}
		return unit{&u.Time, text, u.Emotions}
	})
	addRows(t, p.File, "burst", "sounds", false, m.Burst, func(b contract.BurstPrediction) unit {
		return unit{&b.Time, "", b.Emotions}
	})
	addRows(t, p.File, "language", "words", t.words, m.Language, func(l contract.LanguagePrediction) unit {
		return unit{l.Time, l.Text, l.Emotions}
	})
	addRows(t, p.File, "ner", "names", false, m.NER, func(n contract.NERPrediction) unit {
		return unit{n.Time, n.Entity, n.Emotions}
	})
}

// unit is what one prediction is about.
type unit struct {
	when   *contract.TimeInterval // nil: it has no time
	what   string
	scores contract.Scores
}

// addRows adds a row for each prediction of a model, or for their mean.
func addRows[P any](t *batchTable, file, model, plural string, mean bool, m *contract.ModelPredictions[P],
	describe func(P) unit) {
	if m == nil {
		return
	}
	for _, g := range m.GroupedPredictions {
		var units []unit
		for _, p := range g.Predictions {
			units = append(units, describe(p))
		}
		if mean && len(units) > 1 {
			units = []unit{meanOf(units, plural)}
		}
		who := g.ID
		if who == contract.UnknownGroup {
			who = ""
		}
		for _, u := range units {
			t.rows = append(t.rows, []string{file, model, who, timesIn(u.when), clipped(u.what), highest(u.scores)})
		}
	}
}

// meanOf returns the mean of units, which have the same names in the same order.
func meanOf(units []unit, plural string) unit {
	mean := unit{what: fmt.Sprintf("%d %s", len(units), plural)}
	scores := units[0].scores.Named()
	for i := range scores {
		scores[i].Score = 0
	}
	for _, u := range units {
		i := 0
		for _, score := range u.scores.All() {
			if i < len(scores) {
				scores[i].Score += score / float64(len(units))
			}
			i++
		}
		switch {
		case u.when == nil:
		case mean.when == nil:
			mean.when = new(*u.when)
		default:
			mean.when.Begin, mean.when.End = min(mean.when.Begin, u.when.Begin), max(mean.when.End, u.when.End)
		}
	}
	mean.scores = contract.ScoresOf(scores...)
	return mean
}

// highest names the highest scores.
func highest(scores contract.Scores) string {
	sorted := slices.SortedStableFunc(slices.Values(scores.Named()),
		func(a, b contract.NamedScore) int { return cmp.Compare(b.Score, a.Score) })
	var words []string
	for _, s := range sorted[:min(shownNames, len(sorted))] {
		words = append(words, fmt.Sprintf("%s %.2f", s.Name, s.Score))
	}
	return strings.Join(words, ", ")
}

func timesIn(t *contract.TimeInterval) string {
	switch {
	case t == nil:
		return ""
	case t.Begin == t.End:
		return fmt.Sprintf("%.1f s", t.Begin)
	}
	return fmt.Sprintf("%.1f–%.1f s", t.Begin, t.End)
}

// clipped shortens a text for a column.
func clipped(text string) string {
	runes := []rune(text)
	if len(runes) <= shownChars {
		return text
	}
	return string(runes[:shownChars-1]) + "…"
}
