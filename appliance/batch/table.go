package batch

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

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

// row writes a prediction.
func (t *table) row(columns []column, lists ...[]contract.NamedScore) error {
	if t.line == nil {
		for _, c := range columns {
			t.line = append(t.line, c.name)
		}
		for _, list := range lists {
			for _, s := range list {
				t.scores = append(t.scores, s.Name)
			}
		}
		if err := t.csv.Write(append(t.line, t.scores...)); err != nil {
			return err
		}
	}
	t.line = t.line[:0]
	for _, c := range columns {
		t.line = append(t.line, c.cell)
	}
	next := 0
	for _, list := range lists {
		for _, s := range list {
			if next < len(t.scores) && t.scores[next] == s.Name {
				t.line = append(t.line, number(s.Score))
			}
			next++
		}
	}
	return t.csv.Write(t.line)
}

// rowsOf returns what decodes the next prediction of a model and writes its row, or nil
// for a model without a table.
func rowsOf(model string) func(d *json.Decoder, id string, t *table) error {
	switch model {
	case "face":
		return rows(func(id string, p contract.FacePrediction) ([]column, [][]contract.NamedScore) {
			return []column{
				{"id", text(id)}, {"frame", strconv.Itoa(p.Frame)}, {"time", number(p.Time)},
				{"prob", number(p.Prob)}, {"box_x", number(p.Box.X)}, {"box_y", number(p.Box.Y)},
				{"box_w", number(p.Box.W)}, {"box_h", number(p.Box.H)},
			}, [][]contract.NamedScore{p.Emotions}
		})
	case "facemesh":
		return rows(func(id string, p contract.FacemeshPrediction) ([]column, [][]contract.NamedScore) {
			return []column{{"id", text(id)}}, [][]contract.NamedScore{p.Emotions}
		})
	case "burst":
		return rows(func(id string, p contract.BurstPrediction) ([]column, [][]contract.NamedScore) {
			return []column{
				{"id", text(id)}, {"time_begin", number(p.Time.Begin)}, {"time_end", number(p.Time.End)},
			}, [][]contract.NamedScore{p.Emotions, p.Descriptions}
		})
	case "prosody":
		return rows(func(id string, p contract.ProsodyPrediction) ([]column, [][]contract.NamedScore) {
			said := ""
			if p.Text != nil {
				said = *p.Text
			}
			return append([]column{{"id", text(id)}, {"text", text(said)}},
				spoken(&p.Time, p.Confidence, p.SpeakerConfidence)...), [][]contract.NamedScore{p.Emotions}
		})
	case "language":
		return rows(func(id string, p contract.LanguagePrediction) ([]column, [][]contract.NamedScore) {
			return append([]column{
					{"id", text(id)}, {"text", text(p.Text)}, {"position_begin", strconv.Itoa(p.Position.Begin)},
					{"position_end", strconv.Itoa(p.Position.End)},
				}, spoken(p.Time, p.Confidence, p.SpeakerConfidence)...), [][]contract.NamedScore{p.Emotions,
					prefixed("sentiment_", p.Sentiment), prefixed("toxicity_", p.Toxicity)}
		})
	case "ner":
		return rows(func(id string, p contract.NERPrediction) ([]column, [][]contract.NamedScore) {
			return append([]column{
				{"id", text(id)}, {"entity", text(p.Entity)}, {"position_begin", strconv.Itoa(p.Position.Begin)},
				{"position_end", strconv.Itoa(p.Position.End)}, {"entity_confidence", number(p.EntityConfidence)},
				{"support", number(p.Support)}, {"uri", text(p.URI)}, {"link_word", text(p.LinkWord)},
			}, spoken(p.Time, p.Confidence, p.SpeakerConfidence)...), [][]contract.NamedScore{p.Emotions}
		})
	}
	return nil
}

// rows returns what decodes a prediction and writes its row, which cells describes.
func rows[P any](cells func(id string, p P) ([]column, [][]contract.NamedScore)) func(*json.Decoder, string,
	*table) error {
	return func(d *json.Decoder, id string, t *table) error {
		var p P
		if err := d.Decode(&p); err != nil {
			return err
		}
		columns, lists := cells(id, p)
		return t.row(columns, lists...)
	}
}

// spoken returns the columns of what was said in a recording. They are empty for a text.
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

// prefixed returns the scores with a prefix before their names.
func prefixed(prefix string, list []contract.NamedScore) []contract.NamedScore {
	all := make([]contract.NamedScore, len(list))
	for i, s := range list {
		all[i] = contract.NamedScore{Name: prefix + s.Name, Score: s.Score}
	}
	return all
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

// maxNameChars bounds an element of a path in an archive: file systems allow 255 bytes,
// and characters have up to four.
const maxNameChars = 60

// cleanName returns a name that every file system accepts.
func cleanName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if all := []rune(clean); len(all) > maxNameChars {
		end := []rune(path.Ext(clean))
		end = end[:min(len(end), 8)]
		clean = string(all[:maxNameChars-len(end)]) + string(end)
	}
	if clean = strings.TrimRight(strings.TrimSpace(clean), ". "); strings.Trim(clean, ".") == "" {
		return "_"
	}
	return clean
}

// cleanPath cleans each element of a path.
func cleanPath(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = cleanName(parts[i])
	}
	return path.Join(parts...)
}

// uniqueNames are the names that were given out, in small letters.
type uniqueNames map[string]bool

// next returns a name that was not given out before: the name itself, or with a number.
func (u uniqueNames) next(name string) string {
	name = cleanPath(name)
	unique := name
	for n := 2; u[strings.ToLower(unique)]; n++ {
		unique = fmt.Sprintf("%s_%d", name, n)
	}
	u[strings.ToLower(unique)] = true
	return unique
}
