package bench

import (
	"bytes"
	"context"
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"time"

	approved "parley/appliance/answers"
	"parley/appliance/answers/sheet"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
)

// Six desks that were put away while the finder of approved answers was made: a hotel, a town hall, a garden centre, an
// electronics shop, a swimming pool and a factory's canteen. Each has a sheet of 20 answers with 12 ways of asking,
// eight questions for each answer, and 150 that none answers. The questions and the ways were written by different
// people.
//
//go:embed desks
var putAway embed.FS

// desk is what visitors ask at a desk, and its approved answers.
type desk struct {
	name      string
	items     []contract.AnswerItem
	questions [][2]string // the ID of the right answer and the question
	unrelated []string
}

// tally counts decisions.
type tally struct {
	related, right, wrong, unrelated, given int
	times                                   []float64 // of a decision, in milliseconds
}

// Approved measures how often the right approved answer is found, a wrong one is given, and an unrelated question is
// answered, by the number of ways of asking, with the judge and without.
func Approved(ctx context.Context, o Options) (Report, error) {
	desks, err := readDesks(o.Desks)
	if err != nil {
		return Report{}, err
	}
	r := o.aboutModel("approved")
	opened, err := engines.Open(ctx, o.Config, engines.Thinking|engines.Hearing, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	if !opened.Sentences.Installed() {
		return r, approved.ErrNoPack
	}
	finder := approved.New(approved.Parts{
		Embedder:   func() (engine.SentenceEmbedder, error) { return opened.Sentences, nil },
		Background: approved.Background(),
		Log:        slog.New(slog.DiscardHandler),
	})
	defer finder.Close()
	for _, ways := range []int{1, 3, 6, 12} {
		if err := approvedWith(ctx, o, &r, finder, desks, ways, nil); err != nil {
			return r, err
		}
	}
	if judge := approved.JudgeOf(opened.Model); judge != nil && o.Judge {
		if err := approved.WarmJudge(ctx, opened.Model); err != nil {
			return r, err
		}
		return r, approvedWith(ctx, o, &r, finder, desks, 6, judge)
	}
	return r, nil
}

// approvedWith adds the figures with a number of ways of asking.
func approvedWith(ctx context.Context, o Options, r *Report, finder *approved.Finder, desks []desk, ways int,
	judge approved.Judge) error {
	var t tally
	for i, d := range desks {
		o.announce("%d ways of asking, judge %v: desk %d of %d, %s", ways, judge != nil, i+1, len(desks), d.name)
		if err := t.add(ctx, finder, d, ways, judge); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	name := fmt.Sprintf("ways_%d", ways)
	if judge != nil {
		name += "_judged"
	}
	of := func(n, all int) float64 { return 100 * float64(n) / float64(max(1, all)) }
	r.figure(name+"_right", of(t.right, t.related), "%", fmt.Sprintf("%d of %d", t.right, t.related))
	r.figure(name+"_wrong", of(t.wrong, t.related), "%", fmt.Sprintf("%d of %d", t.wrong, t.related))
	r.figure(name+"_unrelated", of(t.given, t.unrelated), "%", fmt.Sprintf("%d of %d", t.given, t.unrelated))
	slices.Sort(t.times)
	r.figure(name+"_decision", t.times[len(t.times)/2], "ms", fmt.Sprintf("median; 95th percentile %.0f ms",
		t.times[len(t.times)*95/100]))
	return nil
}

// add asks all questions of a desk.
func (t *tally) add(ctx context.Context, finder *approved.Finder, d desk, ways int, judge approved.Judge) error {
	a := contract.Answers{Items: slices.Clone(d.items)}
	for i, item := range a.Items {
		a.Items[i].Ask = item.Ask[:min(ways, len(item.Ask))]
	}
	set, err := finder.Open(ctx, a)
	if err != nil {
		return err
	}
	if err := finder.Ready(ctx, set); err != nil {
		return err
	}
	ask := func(text string) (string, error) {
		begun := time.Now()
		found, err := set.Decide(ctx, approved.Question{Text: text}, judge, engine.Live.Urgency(), "bench")
		t.times = append(t.times, float64(time.Since(begun).Microseconds())/1000)
		if err != nil || found.Item == approved.None {
			return "", err
		}
		return a.Items[found.Item].ID, nil
	}
	for _, q := range d.questions {
		id, err := ask(q[1])
		if err != nil {
			return err
		}
		t.related++
		switch id {
		case q[0]:
			t.right++
		case "":
		default:
			t.wrong++
		}
	}
	for _, text := range d.unrelated {
		id, err := ask(text)
		if err != nil {
			return err
		}
		t.unrelated++
		if id != "" {
			t.given++
		}
	}
	return nil
}

// readDesks reads the desks of a folder; without a folder, those that were put away. Each is a folder with sheet.csv
// (as parley answers imports it), questions.csv (id, ask) and unrelated.csv (ask).
func readDesks(folder string) (desks []desk, err error) {
	var files fs.FS = putAway
	root := "desks"
	if folder != "" {
		files, root = os.DirFS(folder), "."
	}
	entries, err := fs.ReadDir(files, root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		d := desk{name: e.Name()}
		data, err := fs.ReadFile(files, path.Join(root, d.name, "sheet.csv"))
		if err != nil {
			return nil, err
		}
		if d.items, _, err = sheet.Read(data); err != nil {
			return nil, fmt.Errorf("%s: sheet.csv: %w", d.name, err)
		}
		err = readRows(files, path.Join(root, d.name, "questions.csv"), 2, func(row []string) {
			d.questions = append(d.questions, [2]string(row))
		})
		if err != nil {
			return nil, err
		}
		err = readRows(files, path.Join(root, d.name, "unrelated.csv"), 1, func(row []string) {
			d.unrelated = append(d.unrelated, row[0])
		})
		if err != nil {
			return nil, err
		}
		desks = append(desks, d)
	}
	return desks, nil
}

// readRows calls each with the rows of a CSV file after its first.
func readRows(files fs.FS, name string, columns int, each func(row []string)) error {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	rows := csv.NewReader(bytes.NewReader(data))
	rows.FieldsPerRecord = columns
	for n := 0; ; n++ {
		row, err := rows.Read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case n > 0:
			each(row)
		}
	}
}
