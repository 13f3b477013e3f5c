package answers

import (
	"cmp"
	"context"
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

const (
	leastCosine = 0.65 // of an answer that is given
	mostOthers  = 5    // candidates that a Decision lists
)

// decide returns the item with the nearest way of asking.
func (s *Set) decide(ctx context.Context, a asking) (Decision, error) {
	v, err := s.embed(ctx, a.Text, a.urgency)
	if err != nil {
		return Decision{}, err
	}
	var all []Candidate
	for i, w := range s.nearest(v) {
		if w.Way >= 0 && (a.Not == "" || s.Answers.Items[i].ID != a.Not) {
			all = append(all, Candidate{Item: i, Score: max(0, w.Cosine)})
		}
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	all = all[:min(len(all), mostOthers)]
	if len(all) == 0 {
		return Decision{Item: None}, nil
	}
	d := Decision{
		Item:   None,
		Score:  all[0].Score,
		Others: all,
	}
	if d.Score >= leastCosine {
		d.Item, d.Others = all[0].Item, all[1:]
	}
	return d, nil
}
