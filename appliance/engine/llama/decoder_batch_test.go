package llama

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

// logitsOf decodes prompts together, in pieces as the decoder does, and returns the logits after
// each.
func logitsOf(t *testing.T, m *Model, prompts ...[]Token) [][]float32 {
	t.Helper()
	ctx, err := m.lib.openContext(m.model, Options{ContextTokens: 1024, Conversations: 4, Threads: 1}.shape())
	if err != nil {
		t.Fatal(err)
	}
	defer m.lib.free(ctx)
	b := newBatch(m.lib, stepTokensInteractive)
	defer b.close()
	out := make([][]float32, len(prompts))
	const piece = 6 // four of them are a step
	for at, more := 0, true; more; at += piece {
		more = false
		b.empty()
		ends := make(map[int]int32)
		for i, p := range prompts {
			if at >= len(p) {
				continue
			}
			part := p[at:min(at+piece, len(p))]
			last := at+len(part) == len(p)
			index := b.add(int32(i), at, part, last)
			if last {
				ends[i] = index
			}
			more = more || !last
		}
		if r := m.lib.decode(ctx, b.c); r != 0 {
			t.Fatalf("decode: %d", r)
		}
		for i, index := range ends {
			out[i] = slices.Clone(logitsAt(m, ctx, index))
		}
	}
	return out
}

func distance(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]-b[i]) * float64(a[i]-b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

func TestASequenceIsNotChangedByItsNeighbours(t *testing.T) {
	m := small(t, nil)
	var prompts [][]Token
	for _, q := range questions[:4] {
		prompts = append(prompts, tokensOf(t, m, ask(q), true))
	}
	together := logitsOf(t, m, prompts...)
	for i, p := range prompts {
		alone := logitsOf(t, m, p)[0]
		self := distance(alone, together[i])
		for j := range prompts {
			if other := distance(alone, together[j]); i != j && self > other/4 {
				t.Errorf("question %d: %.3f from itself alone, %.3f from question %d", i, self, other, j)
			}
		}
		t.Logf("question %d: %.4f from itself alone", i, self)
	}
}

func logitsAt(m *Model, ctx handle, at int32) []float32 {
	return unsafe.Slice(m.lib.getLogitsIth(ctx, at), m.template.vocab.size)
}
