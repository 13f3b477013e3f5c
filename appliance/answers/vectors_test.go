package answers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/engine/enginetest"
)

func randomVector(r *rand.Rand) []float32 {
	v := make([]float32, width)
	for d := range v {
		v[d] = float32(r.NormFloat64())
	}
	length := float32(math.Sqrt(float64(dotFloats(v, v))))
	for d := range v {
		v[d] /= length
	}
	return v
}

func TestABytePerNumberHardlyChangesACosine(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 31))
	v := newVectors([]int{0, 1})
	for range 2000 {
		a, b := randomVector(r), randomVector(r)
		for d := range b { // from unrelated to nearly equal
			b[d] += float32(r.IntN(4)) * a[d]
		}
		length := float32(math.Sqrt(float64(dotFloats(b, b))))
		for d := range b {
			b[d] /= length
		}
		p, ok := unpack(pack(a).bytes())
		if !ok {
			t.Fatal("a stored vector cannot be read")
		}
		v.set(0, p)
		if got, want := v.cosines(b)[0], dotFloats(a, b); math.Abs(float64(got-want)) > 0.004 {
			t.Fatalf("the cosine is %.4f, not %.4f", got, want)
		}
	}
}

func TestVectorsAtTheLimitsDoNotOverflow(t *testing.T) {
	v := newVectors([]int{0, 2})
	flat, peak := make([]float32, width), make([]float32, width)
	for d := range flat {
		flat[d] = float32(1 / math.Sqrt(width))
	}
	peak[7] = -1
	v.set(0, pack(flat))
	v.set(1, pack(peak))
	for i, own := range [][]float32{flat, peak} {
		if c := v.cosines(own)[i]; math.Abs(float64(c)-1) > 0.001 {
			t.Errorf("vector %d: the cosine with itself is %v", i, c)
		}
	}
	zero := make([]float32, width)
	v.set(0, pack(zero))
	if c := v.cosines(flat)[0]; c != 0 {
		t.Errorf("the cosine with zeros is %v", c)
	}
}

// largest returns answers of the largest size that a config may have.
func largest() contract.Answers {
	var a contract.Answers
	for i := range contract.MaxAnswerItems {
		item := contract.AnswerItem{ID: fmt.Sprint("item-", i), Say: "Yes."}
		for w := range contract.MaxWaysToAsk {
			item.Ask = append(item.Ask, fmt.Sprintf("where do I find object %d in way %d of the museum", i, w))
		}
		a.Items = append(a.Items, item)
	}
	return a
}

func BenchmarkSearchInTheLargestSet(b *testing.B) {
	f := newFinder(b, Parts{Embedder: with(enginetest.WordEmbedder{})})
	s := ready(b, f, largest())
	v, _ := s.embed(b.Context(), "where do I find object 77", nil)
	for b.Loop() {
		s.likenesses(v)
	}
}

func BenchmarkConflictsOfTheLargestSet(b *testing.B) {
	s := ready(b, newFinder(b, Parts{Embedder: with(enginetest.WordEmbedder{})}), largest())
	for b.Loop() {
		s.Conflicts()
	}
}

func BenchmarkOpenTheLargestSet(b *testing.B) {
	stored := openStore(b, b.TempDir())
	a := largest()
	ready(b, newFinder(b, Parts{Embedder: with(enginetest.WordEmbedder{}), Vectors: stored}), a)
	b.Run("from the store", func(b *testing.B) {
		for b.Loop() {
			ready(b, newFinder(b, Parts{Embedder: with(enginetest.WordEmbedder{}), Vectors: stored}), a)
		}
	})
	b.Run("cached", func(b *testing.B) {
		f := newFinder(b, Parts{Embedder: with(enginetest.WordEmbedder{}), Vectors: stored})
		for b.Loop() {
			ready(b, f, a)
		}
	})
}
