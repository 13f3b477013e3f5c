package batch

import (
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"

	"parley/appliance/contract"
)

// table is the CSV file of a model for one file. Its header is written with the first row:
// the fields of the prediction, and then a column for each name that has scores.
type table struct {
	csv    *csv.Writer
	scores []string // the names of the columns with scores
	line   []string // reused
}

// column is a cell and its name.
type column struct{ name, cell string }

// scoreColumns are cells with scores. Their names have a prefix.
type scoreColumns struct {
	prefix string
	scores contract.Scores
}

// head writes the header.
func (t *table) head(columns []column, lists ...scoreColumns) error {
	for _, c := range columns {
		t.line = append(t.line, c.name)
	}
	for _, list := range lists {
		for name := range list.scores.All() {
			t.scores = append(t.scores, list.prefix+name)
		}
	}
	return t.csv.Write(append(t.line, t.scores...))
}

// row writes a prediction.
func (t *table) row(columns []column, lists ...scoreColumns) error {
	if t.line == nil {
		if err := t.head(columns, lists...); err != nil {
			return err
		}
	}
	t.line = t.line[:0]
	for _, c := range columns {
		t.line = append(t.line, c.cell)
	}
	next := 0
	for _, list := range lists {
		for name, score := range list.scores.All() {
			if next < len(t.scores) && strings.HasPrefix(t.scores[next], list.prefix) &&
				t.scores[next][len(list.prefix):] == name {
				t.line = append(t.line, number(score))
			}
			next++
		}
	}
	return t.csv.Write(t.line)
}

// close writes the header, if there was no row, and the rest of the file.
func (t *table) close(r rower) error {
	if t.line == nil {
		if err := r.header(t); err != nil {
			return err
		}
	}
	t.csv.Flush()
	return t.csv.Error()
}

// rower writes the rows of one model.
type rower struct {
	next   func(d *json.Decoder, id string, t *table) error // decodes a prediction and writes its row
	header func(t *table) error
}

// rowsOf returns the rower of a model, and false for a model without a table.
func rowsOf(model string) (rower, bool) {
	switch model {
	case "face":
		return rowerOf(func(id string, p contract.FacePrediction) ([]column, []scoreColumns) {
			return []column{
				{"id", text(id)}, {"frame", strconv.Itoa(p.Frame)}, {"time", number(p.Time)},
				{"prob", number(p.Prob)}, {"box_x", number(p.Box.X)}, {"box_y", number(p.Box.Y)},
				{"box_w", number(p.Box.W)}, {"box_h", number(p.Box.H)},
			}, []scoreColumns{{"", p.Emotions}}
		}), true
	case "facemesh":
		return rowerOf(func(id string, p contract.FacemeshPrediction) ([]column, []scoreColumns) {
			return []column{{"id", text(id)}}, []scoreColumns{{"", p.Emotions}}
		}), true
	case "burst":
		return rowerOf(func(id string, p contract.BurstPrediction) ([]column, []scoreColumns) {
			return []column{
				{"id", text(id)}, {"time_begin", number(p.Time.Begin)}, {"time_end", number(p.Time.End)},
			}, []scoreColumns{{"", p.Emotions}, {"", p.Descriptions}}
		}), true
	case "prosody":
		return rowerOf(func(id string, p contract.ProsodyPrediction) ([]column, []scoreColumns) {
			said := ""
			if p.Text != nil {
				said = *p.Text
			}
			return append([]column{{"id", text(id)}, {"text", text(said)}},
				spoken(&p.Time, p.Confidence, p.SpeakerConfidence)...), []scoreColumns{{"", p.Emotions}}
		}), true
	case "language":
		return rowerOf(func(id string, p contract.LanguagePrediction) ([]column, []scoreColumns) {
			return append([]column{
					{"id", text(id)}, {"text", text(p.Text)}, {"position_begin", strconv.Itoa(p.Position.Begin)},
					{"position_end", strconv.Itoa(p.Position.End)},
				}, spoken(p.Time, p.Confidence, p.SpeakerConfidence)...), []scoreColumns{{"", p.Emotions},
					{"sentiment_", p.Sentiment}, {"toxicity_", p.Toxicity}}
		}), true
	case "ner":
		return rowerOf(func(id string, p contract.NERPrediction) ([]column, []scoreColumns) {
			return append([]column{
				{"id", text(id)}, {"entity", text(p.Entity)}, {"position_begin", strconv.Itoa(p.Position.Begin)},
				{"position_end", strconv.Itoa(p.Position.End)}, {"entity_confidence", number(p.EntityConfidence)},
				{"support", number(p.Support)}, {"uri", text(p.URI)}, {"link_word", text(p.LinkWord)},
			}, spoken(p.Time, p.Confidence, p.SpeakerConfidence)...), []scoreColumns{{"", p.Emotions}}
		}), true
	}
	return rower{}, false
}

// rowerOf returns the rower of predictions that cells describes.
func rowerOf[P any](cells func(id string, p P) ([]column, []scoreColumns)) rower {
	write := func(t *table, id string, p P) error {
		columns, lists := cells(id, p)
		return t.row(columns, lists...)
	}
	return rower{
		next: func(d *json.Decoder, id string, t *table) error {
			var p P
			if err := d.Decode(&p); err != nil {
				return err
			}
			return write(t, id, p)
		},
		header: func(t *table) error {
			var none P
			columns, _ := cells("", none)
			return t.head(columns)
		},
	}
}

// spoken returns the columns with the time and the confidence of words. They are empty for a
// text, which nobody speaks.
func spoken(time *contract.TimeInterval, confidence, speakerConfidence *float64) []column {
	columns := []column{
		{"time_begin", ""}, {"time_end", ""}, {"confidence", optional(confidence)},
		{"speaker_confidence", optional(speakerConfidence)},
	}
	if time != nil {
		columns[0].cell, columns[1].cell = number(time.Begin), number(time.End)
	}
	return columns
}

// number writes a number with a point, whatever the language of the reader's spreadsheet.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

// text returns a cell that a spreadsheet does not run as a formula: an apostrophe comes
// before the characters that begin one.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
