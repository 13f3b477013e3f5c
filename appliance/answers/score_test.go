package answers

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

func TestQuestionsThatNeedTheOneBefore(t *testing.T) {
	for text, want := range map[string]bool{
		"and on Sundays?":         true,
		"what about children":     true,
		"how much is it?":         true,
		"for families?":           true,
		"Who was Bach?":           false,
		"Where is the cloakroom?": false,
		"my little brother lost his jacket in the large hall": false,
		"": false,
	} {
		if got := dependent(Question{Text: text, BeforeUser: "When are you open?"}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if dependent(Question{Text: text}) {
			t.Errorf("%q depends on nothing", text)
		}
	}
}

func TestTheWordsOfAWayOfAskingAreCertain(t *testing.T) {
	s := ready(t, newFinder(t, Parts{Embedder: with(enginetest.WordEmbedder{})}), museum())
	d, err := s.Decide(t.Context(), Question{Text: " WHAT are your hours?! "}, nil, nil, "")
	if err != nil || d.Item != 0 || d.Score != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	d, err = s.Decide(t.Context(), Question{Text: "What are your hours?", Not: "hours"}, nil, nil, "")
	if err != nil || d.Item == 0 || slices.ContainsFunc(d.Others, func(c Candidate) bool { return c.Item == 0 }) {
		t.Errorf("with the answer rejected: %+v, %v", d, err)
	}
}

// letters is a judge whose choice it is.
type letters struct {
	choice string
	err    error
	wait   bool // until the context ends
	asked  *int
}

func (l letters) Choose(ctx context.Context, p engine.Prompt, choices []string) ([]float64, error) {
	*l.asked++
	if l.wait {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if l.err != nil {
		return nil, l.err
	}
	if !strings.HasPrefix(p.Messages[0].Content, "Which entry") || !slices.Contains(choices, "N") {
		return nil, errors.New("no task")
	}
	out := make([]float64, len(choices))
	for i, c := range choices {
		if c != l.choice {
			out[i] = -5
		}
	}
	return out, nil
}

func TestTheJudgeDecidesOnlyWhatIsOpen(t *testing.T) {
	s := ready(t, newFinder(t, Parts{Embedder: with(enginetest.WordEmbedder{})}), museum())
	candidates := func(scores ...float64) (all []candidate) {
		for i, p := range scores {
			all = append(all, candidate{Candidate: Candidate{Item: i, Score: p}})
		}
		return all
	}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		judge letters
		from  []candidate
		best  int
		asked int
		most  float64 // of the best score
		err   error
	}{
		"certain":     {letters{choice: "N"}, candidates(0.9, 0.1), 0, 0, 1, nil},
		"hopeless":    {letters{choice: "A"}, candidates(0.1, 0.05), 0, 0, 0.1, nil},
		"confirmed":   {letters{choice: "A"}, candidates(0.5, 0.1), 0, 1, 1, nil},
		"none":        {letters{choice: "N"}, candidates(0.6, 0.1), 0, 1, 0.3, nil},
		"another":     {letters{choice: "B"}, candidates(0.5, 0.45), 1, 1, 1, nil},
		"unsupported": {letters{err: engine.ErrUnsupported}, candidates(0.5, 0.1), 0, 1, 0.5, nil},
		"too late":    {letters{wait: true}, candidates(0.5, 0.1), 0, 1, 0.5, nil},
		"broken":      {letters{err: broken}, candidates(0.5, 0.1), 0, 1, 1, broken},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), judgeReserve+10*time.Millisecond)
		asked := 0
		c.judge.asked = &asked
		all, err := s.judge(ctx, asking{judge: c.judge}, c.from)
		cancel()
		if !errors.Is(err, c.err) || asked != c.asked {
			t.Errorf("%s: asked %d times, %v", name, asked, err)
			continue
		}
		if err == nil && (all[0].Item != c.best || all[0].Score > c.most+1e-9) {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

func TestCoverageWeighsRareWords(t *testing.T) {
	x := newWordIndex(museum())
	got := x.coverage(contentWords("Is there a cafe with parking?"))
	if got[2] <= 0 || got[0] != 0 || math.Abs(got[1]-got[2]) > 0.5 {
		t.Errorf("coverage %v", got)
	}
	if all := x.coverage(nil); slices.Max(all) != 0 {
		t.Errorf("no words cover %v", all)
	}
}
