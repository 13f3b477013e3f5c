package answers

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"sync/atomic"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Set is the answers of a config, compiled. It is safe for concurrent use. It answers with the ways of asking that are
// embedded so far.
type Set struct {
	Answers contract.Answers // read-only

	finder   *Finder
	embedder engine.SentenceEmbedder
	vectors  *vectors
	words    wordIndex
	exact    map[string]int // the first item with a way of asking, by its normal form
	keys     []int64        // of the stored vector of each way, and then of each say
	noted    time.Time      // when the use of the stored vectors was last noted; the finder's lock guards it

	loaded chan struct{}           // closed when the stored vectors are there
	filled chan struct{}           // closed when all ways are embedded, or err is set
	stop   context.CancelCauseFunc // ends the filling
	err    error                   // why not all are embedded; read after filled is closed
	hurry  atomic.Int32            // callers that wait until all ways are embedded
}

func newSet(f *Finder, a contract.Answers, embedder engine.SentenceEmbedder) *Set {
	begins := []int{0}
	var keys []int64
	model := embedder.Model()
	for _, item := range a.Items {
		for _, text := range item.Ask {
			keys = append(keys, keyOf(model, text))
		}
		begins = append(begins, len(keys))
	}
	exact := map[string]int{}
	for i, item := range a.Items {
		keys = append(keys, keyOf(model, item.Say))
		for _, text := range item.Ask {
			if normal := Normal(text); normal != "" {
				if _, known := exact[normal]; !known {
					exact[normal] = i
				}
			}
		}
	}
	return &Set{
		Answers:  a,
		finder:   f,
		embedder: embedder,
		vectors:  newVectors(begins),
		words:    newWordIndex(a),
		exact:    exact,
		keys:     keys,
		noted:    time.Now(),
		loaded:   make(chan struct{}),
		filled:   make(chan struct{}),
	}
}

// keyOf returns the key under which the vector of a text is stored. To find another text with the same key takes 2⁶⁴
// tries.
func keyOf(model, text string) int64 {
	h := sha256.New()
	io.WriteString(h, model)
	h.Write([]byte{0})
	io.WriteString(h, text)
	return int64(binary.LittleEndian.Uint64(h.Sum(nil)))
}

// hashOf identifies answers.
func hashOf(a contract.Answers) [sha256.Size]byte {
	h := sha256.New()
	var field []byte
	write := func(text string) {
		field = binary.LittleEndian.AppendUint32(field[:0], uint32(len(text)))
		field = append(field, text...)
		h.Write(field)
	}
	write(string(a.Mode))
	write(a.Unknown)
	for _, item := range a.Items {
		write(item.ID)
		write(item.Say)
		for _, text := range item.Ask {
			write(text)
		}
		h.Write([]byte{0xff, 0xff, 0xff, 0xff}) // the end of the item: no size
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// embed returns the vector of a text that a person said.
func (s *Set) embed(ctx context.Context, text string, u *engine.Urgency) ([]float32, error) {
	return s.finder.embed(ctx, text, u)
}

// likeness compares an item with a question.
type likeness struct {
	Way       int     // the nearest way of asking; -1 if none of the item is embedded yet
	Cosine    float64 // of that way
	mean, say float64 // the mean cosine of all ways, and the cosine of the text that is said
}

// likenesses compares every item with a question. Of an item whose words are not embedded yet, the nearest way counts.
func (s *Set) likenesses(v []float32) []likeness {
	cosines := s.vectors.cosines(v)
	all := make([]likeness, len(s.Answers.Items))
	says := s.vectors.begins[len(all)]
	for i := range all {
		l := likeness{Way: -1, Cosine: -1}
		n := 0
		for j, c := range cosines[s.vectors.begins[i]:s.vectors.begins[i+1]] {
			if c != c { // a NaN is not embedded yet
				continue
			}
			n++
			l.mean += float64(c)
			if l.Way < 0 || float64(c) > l.Cosine {
				l.Way, l.Cosine = j, float64(c)
			}
		}
		l.mean /= float64(max(1, n))
		if l.say = float64(cosines[says+i]); l.say != l.say {
			l.say = l.mean
		}
		all[i] = l
	}
	return all
}
