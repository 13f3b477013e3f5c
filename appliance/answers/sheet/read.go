package sheet

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/contract"
)

// Read reads a sheet as a spreadsheet saves it: separated by commas, semicolons or tabs, with
// columns in any order. Rows of the same id are one answer. A row without id belongs to the
// answer above it; if it says something else, it begins a new answer, whose id is made from its
// question. Several lines in a cell of ask are several ways to ask. The warnings are for the
// person who wrote the sheet. The error is Problems if cells are not allowed: all of them, or those up to a row where
// there are mostProblems.
func Read(data []byte) (items []contract.AnswerItem, warnings []string, err error) {
	text, warning, err := decode(data)
	if err != nil {
		return nil, nil, err
	}
	t, columns, err := open(text)
	if err != nil {
		return nil, nil, err
	}
	r := reader{byID: map[string]*answer{}}
	r.warn(warning)
	var ignored []string
	known := map[string]bool{} // in ignored
	for {
		if len(r.problems) >= mostProblems {
			return nil, nil, r.problems
		}
		cells, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil { // what follows cannot be told apart
			r.problems = append(r.problems, asProblem(err))
			break
		}
		row, others, err := columns.row(t.number, cells)
		if err != nil {
			r.problems = append(r.problems, asProblem(err))
			continue
		}
		for _, name := range others {
			if !known[name] {
				known[name] = true
				ignored = append(ignored, fmt.Sprintf("%.80q", name))
			}
		}
		r.add(row)
	}
	r.warn(severalOf(ignored, "not a column of a sheet, and ignored: "))
	items = r.finish()
	if len(r.problems) > 0 {
		return nil, nil, r.problems
	}
	return items, r.warnings, nil
}

// mostProblems is from how many problems on the rest of a sheet is not read: it is none, or nobody corrects it row by
// row. A stranger's sheet of 8 MB could have a million.
const mostProblems = 1000

func asProblem(err error) Problem {
	p, _ := err.(Problem)
	return p
}

// reader makes answers of rows.
type reader struct {
	answers  []*answer
	byID     map[string]*answer // by the id as idOf returns it, or as written
	current  *answer            // that of the row above
	problems Problems
	warnings []string
	full     bool // there are too many answers
}

// answer is an answer with the rows that it comes from.
type answer struct {
	contract.AnswerItem
	written string // the id in the sheet
	row     int    // its first
	sayRow  int
	full    bool // it has too many ways to ask
}

func (r *reader) warn(text string) {
	if text != "" {
		r.warnings = append(r.warnings, text)
	}
}

func (r *reader) refuse(row int, column, why string, args ...any) {
	r.problems = append(r.problems, Problem{row, column, fmt.Sprintf(why, args...)})
}

func (r *reader) add(row row) {
	if row.id == "" && row.ask == "" && row.say == "" {
		return
	}
	a := r.answerOf(row)
	if a == nil {
		return
	}
	r.current = a
	r.setSay(a, row)
	for line := range strings.SplitSeq(row.ask, "\n") {
		if isFull(line) {
			r.addWay(a, row.number, line)
		}
	}
}

// answerOf returns the answer to which a row belongs, or nil if there are too many.
func (r *reader) answerOf(row row) *answer {
	key := idOf(row.id)
	if key == "" {
		key = row.id
	}
	switch same := r.byID[key]; {
	case row.id != "" && same != nil:
		return same
	case row.id == "" && r.current != nil && (row.say == "" || r.current.Say == "" || r.current.says(row)):
		return r.current
	}
	if len(r.answers) == contract.MaxAnswerItems {
		if !r.full {
			r.refuse(row.number, "", "begins answer %d; at most %d are allowed", len(r.answers)+1,
				contract.MaxAnswerItems)
		}
		r.full, r.current = true, nil
		return nil
	}
	a := &answer{written: row.id, row: row.number}
	a.ID = idOf(row.id)
	if n := len(a.ID); n > contract.MaxAnswerIDChars {
		r.refuse(row.number, columnID, "%.80q has %d characters; at most %d are allowed", row.id, n,
			contract.MaxAnswerIDChars)
	}
	r.answers = append(r.answers, a)
	if row.id != "" {
		r.byID[key] = a
	}
	return a
}

// says reports whether a row says what the answer says.
func (a *answer) says(row row) bool { return strings.TrimSpace(row.say) == strings.TrimSpace(a.Say) }

func (r *reader) setSay(a *answer, row row) {
	switch {
	case row.say == "" || a.Say != "" && a.says(row):
	case a.Say != "":
		r.refuse(row.number, columnSay, "differs from row %d, which has the same id %.80q: an answer says one thing",
			a.sayRow, a.written)
	default:
		a.Say, a.sayRow = row.say, row.number
		r.checkText(row.number, columnSay, row.say, contract.MaxSayChars, func(c rune) bool {
			return unicode.IsControl(c) && !unicode.IsSpace(c)
		})
	}
}

func (r *reader) addWay(a *answer, row int, way string) {
	if len(a.Ask) == contract.MaxWaysToAsk {
		if !a.full {
			r.refuse(row, columnAsk, "is way %d to ask for %.80q; at most %d are allowed", len(a.Ask)+1, a.name(),
				contract.MaxWaysToAsk)
		}
		a.full = true
		return
	}
	a.Ask = append(a.Ask, way)
	r.checkText(row, columnAsk, way, contract.MaxAskChars, unicode.IsControl)
}

// checkText refuses a text that is too long or has a character that is not allowed.
func (r *reader) checkText(row int, column, text string, most int, isWrong func(rune) bool) {
	if n := utf8.RuneCountInString(text); n > most {
		r.refuse(row, column, "has %d characters; at most %d are allowed", n, most)
	}
	if i := strings.IndexFunc(text, isWrong); i >= 0 {
		c, _ := utf8.DecodeRuneInString(text[i:])
		r.refuse(row, column, "has the control character %U", c)
	}
}

// name is how problems call an answer.
func (a *answer) name() string {
	if a.written == "" && len(a.Ask) > 0 {
		return a.Ask[0]
	}
	return a.written
}

// finish completes the answers: it makes the ids that are missing, and refuses answers that
// nobody can ask for or that say nothing.
func (r *reader) finish() []contract.AnswerItem {
	taken := map[string]bool{}
	for _, a := range r.answers {
		taken[a.ID] = true
	}
	items := make([]contract.AnswerItem, len(r.answers))
	var made, changed []string
	for i, a := range r.answers {
		if len(a.Ask) == 0 {
			r.refuse(a.row, columnAsk, "is empty: the answer %.80q needs at least one way to ask for it", a.name())
		}
		if a.Say == "" {
			r.refuse(a.row, columnSay, "is empty: nothing is said to %.80q", a.name())
		}
		if a.ID == "" && len(a.Ask) > 0 {
			a.ID = freeID(a.Ask[0], func(id string) bool { return taken[id] })
			taken[a.ID] = true
			if a.written == "" {
				made = append(made, fmt.Sprintf("%q (row %d)", a.ID, a.row))
			}
		}
		if a.written != "" && a.written != a.ID {
			changed = append(changed, fmt.Sprintf("%q is now %q (row %d)", contract.Clip(a.written), a.ID, a.row))
		}
		items[i] = a.AnswerItem
	}
	r.warn(severalOf(made, "an id is missing, and made from the question: "))
	r.warn(severalOf(changed, "an id has a to z, 0 to 9 and hyphens only: "))
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Row - b.Row })
	return items
}

// severalOf returns a warning with the first examples of what it is about.
func severalOf(examples []string, about string) string {
	const shown = 3
	if len(examples) == 0 {
		return ""
	}
	text := about + strings.Join(examples[:min(len(examples), shown)], ", ")
	if more := len(examples) - shown; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
