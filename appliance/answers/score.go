package answers

import (
	"cmp"
	"context"
	"math"
	"slices"

	"parley/appliance/engine"
)

// asking is one call of Decide.
type asking struct {
	Question
	judge        Judge // may be nil
	urgency      *engine.Urgency
	conversation string
}

// The likelihood that an item is the right answer is a logistic regression over the figures below. It was fitted on the
// questions of six desks (museum, vet, gym, pharmacy, library, railway station) with 20 answers each, of which the
// regression got 1, 3, 6 or 12 ways of asking, of 20, 10, 4 or 40 answers; the remaining questions, and 150 unrelated
// ones a desk, were the examples. docs/answers.md has its results for six other desks.
const (
	weightNearest    = 6.1    // of the cosine with the nearest way of asking
	weightMean       = 3      // of the mean cosine with all ways of asking of the item
	weightSay        = 8.63   // of the cosine with the text that is said
	weightCoverage   = 2.98   // of the share of the question's words that the item has
	weightWords      = 0.24   // of the number of the question's words, at most maxWords
	weightLevel      = -12.31 // of the mean likeness of the question to all other items
	weightSpread     = -51.92 // of its standard deviation
	weightBackground = -3.95  // of the greatest cosine with the background
	weightItems      = -0.23  // of the natural logarithm of the number of items
	intercept        = -0.58

	maxWords = 12
)

// A likeness to an item is the mean of its cosines with these weights. It ranks the candidates.
const (
	likenessNearest = 0.56
	likenessMean    = 0.24
	likenessSay     = 0.2
)

// The mean and spread of the likeness of a few items say little, so that usualItems with usual values count too. To a
// question in a language that the embedder does not know, all items are alike; the usual ones then make the spread
// large and the likelihood small, so that nothing is answered at random.
const (
	usualItems      = 10
	usualLikeness   = 0.16
	usualSpread     = 0.09
	usualBackground = 0.35 // of a question with the background, on the mean
)

const (
	// leastScore is the likelihood from which on an answer is given. People forgive "I don't know" sooner than a wrong
	// answer.
	leastScore = 0.5
	// mostCandidates is how many items are scored, and listed by a Decision.
	mostCandidates = 5
)

// decide returns the item that a question wants.
func (s *Set) decide(ctx context.Context, a asking) (Decision, error) {
	d, err := s.score(ctx, a)
	if err != nil || d.Item != None || !dependent(a.Question) {
		return d, err
	}
	whole := a
	whole.Text = a.BeforeUser + " " + a.Text
	joined, err := s.score(ctx, whole)
	if err != nil || joined.Item == None {
		return d, err
	}
	// The new words must have to do with the answer, not only those of the question before.
	v, err := s.embed(ctx, a.Text, a.urgency)
	if err != nil {
		return d, err
	}
	if l := s.likenesses(v)[joined.Item]; max(l.Cosine, l.say) < leastOwnCosine {
		return d, nil
	}
	return joined, nil
}

// leastOwnCosine is the least cosine of the words of a dependent question with the answer that it gets together with
// the question before it: unrelated sentences are below.
const leastOwnCosine = 0.2

// score returns the decision for the words of a question alone.
func (s *Set) score(ctx context.Context, a asking) (Decision, error) {
	if i, ok := s.exact[Normal(a.Text)]; ok && s.Answers.Items[i].ID != a.Not {
		return Decision{Item: i, Score: 1}, nil
	}
	all, err := s.candidates(ctx, a)
	if err != nil || len(all) == 0 {
		return Decision{Item: None}, err
	}
	if all, err = s.judge(ctx, a, all); err != nil {
		return Decision{Item: None}, err
	}
	d := Decision{Item: None, Score: all[0].Score}
	for _, c := range all {
		d.Others = append(d.Others, c.Candidate)
	}
	if d.Score >= leastScore {
		d.Item, d.Others = all[0].Item, d.Others[1:]
	}
	return d, nil
}

// candidate is an item with the nearest of its ways of asking.
type candidate struct {
	Candidate
	way      int
	likeness float64
}

// candidates returns the items with their likelihoods, those most like the question first.
func (s *Set) candidates(ctx context.Context, a asking) ([]candidate, error) {
	v, err := s.embed(ctx, a.Text, a.urgency)
	if err != nil {
		return nil, err
	}
	var all []candidate
	likenesses := s.likenesses(v)
	for i, l := range likenesses {
		if l.Way < 0 {
			continue // nothing of it is embedded yet
		}
		all = append(all, candidate{
			Candidate: Candidate{Item: i},
			way:       l.Way,
			likeness:  likenessNearest*l.Cosine + likenessMean*l.mean + likenessSay*l.say,
		})
	}
	words := contentWords(a.Text)
	same := weightWords*float64(min(len(words), maxWords)) + weightBackground*s.finder.backgroundLikeness(v) +
		weightItems*math.Log(float64(max(1, len(all)))) + intercept
	level := levelOf(all)
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.likeness, a.likeness) })
	all = slices.DeleteFunc(all, func(c candidate) bool { return a.Not != "" && s.Answers.Items[c.Item].ID == a.Not })
	all = all[:min(len(all), mostCandidates)]
	coverage := s.words.coverage(words)
	for i, c := range all {
		l := likenesses[c.Item]
		all[i].Score = logistic(same + level.without(c.likeness) + weightNearest*l.Cosine + weightMean*l.mean +
			weightSay*l.say + weightCoverage*coverage[c.Item])
	}
	sortByScore(all)
	return all, nil
}

// level is how many items there are, with the usual ones, and the sums of their likenesses and of the squares.
type level struct{ items, sum, squares float64 }

func levelOf(all []candidate) level {
	l := level{
		items:   usualItems,
		sum:     usualItems * usualLikeness,
		squares: usualItems * (usualSpread*usualSpread + usualLikeness*usualLikeness),
	}
	for _, c := range all {
		l.items++
		l.sum += c.likeness
		l.squares += c.likeness * c.likeness
	}
	return l
}

// without returns the weighted mean and spread of the likenesses of the items but one.
func (l level) without(likeness float64) float64 {
	n := l.items - 1
	mean := (l.sum - likeness) / n
	variance := max(0, (l.squares-likeness*likeness)/n-mean*mean)
	return weightLevel*mean + weightSpread*math.Sqrt(variance)
}

func sortByScore(all []candidate) {
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.Score, a.Score) })
}

// logistic turns a logit into a likelihood; logit does the opposite.
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
func logit(p float64) float64    { return math.Log(p / (1 - p)) }
