package answers

import (
	"context"
	"sync"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// ways holds the vectors of the ways of asking of a set.
type ways struct {
	texts  [][]string    // by item
	filled chan struct{} // closed when all are embedded, or err is set
	err    error         // read after filled is closed

	mu      sync.RWMutex
	vectors [][][]float32 // by item and way; nil for a way that is not embedded yet
}

func newWays(a contract.Answers) *ways {
	w := &ways{filled: make(chan struct{})}
	for _, item := range a.Items {
		w.texts = append(w.texts, item.Ask)
		w.vectors = append(w.vectors, make([][]float32, len(item.Ask)))
	}
	return w
}

// fill embeds all ways, the first ones of all items first.
func (w *ways) fill(ctx context.Context, e engine.SentenceEmbedder) {
	defer close(w.filled)
	for way := 0; ; way++ {
		var items []int
		var texts []string
		for i, item := range w.texts {
			if way < len(item) {
				items, texts = append(items, i), append(texts, item[way])
			}
		}
		if len(items) == 0 {
			return
		}
		vectors, err := e.Embed(ctx, texts, engine.Batch.Urgency())
		if err != nil {
			w.err = err
			return
		}
		w.mu.Lock()
		for i, v := range vectors {
			w.vectors[items[i]][way] = v
		}
		w.mu.Unlock()
	}
}

// likeness is the way of asking of an item that is nearest to a question.
type likeness struct {
	Way    int // -1 if no way of the item is embedded yet
	Cosine float64
}

// nearest returns the nearest way of asking of every item.
func (s *Set) nearest(v []float32) []likeness {
	s.ways.mu.RLock()
	defer s.ways.mu.RUnlock()
	all := make([]likeness, len(s.ways.vectors))
	for i, item := range s.ways.vectors {
		all[i] = likeness{Way: -1, Cosine: -1}
		for j, w := range item {
			if w == nil {
				continue
			}
			if c := dot(v, w); all[i].Way < 0 || c > all[i].Cosine {
				all[i] = likeness{j, c}
			}
		}
	}
	return all
}

func dot(a, b []float32) float64 {
	var sum float32
	for i, x := range a {
		sum += x * b[i]
	}
	return float64(sum)
}

// embed returns the vector of one text.
func (s *Set) embed(ctx context.Context, text string, u *engine.Urgency) ([]float32, error) {
	vectors, err := s.embedder.Embed(ctx, []string{text}, u)
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}
