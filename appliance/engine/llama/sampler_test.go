package llama

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestGreedyTakesTheLikeliest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		logits := rapid.SliceOfN(rapid.Float32Range(-50, 50), 1, 200).Draw(rt, "logits")
		got, err := (&sampler{}).next(logits)
		if err != nil || logits[got] != slices.Max(logits) {
			rt.Fatalf("token %d (%v) of %v", got, err, logits)
		}
	})
}

func TestADrawStaysInTheNucleus(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		logits := rapid.SliceOfN(rapid.Float32Range(-20, 20), 1, 200).Draw(rt, "logits")
		s := sampler{temperature: rapid.Float64Range(0.01, 3).Draw(rt, "temperature"),
			rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))}
		got, err := s.next(logits)
		if err != nil {
			rt.Fatal(err)
		}
		likelier := 0.0 // probability, among the topK, of all likelier tokens
		sorted := slices.Clone(logits)
		slices.Sort(sorted)
		slices.Reverse(sorted)
		sorted = sorted[:min(topK, len(sorted))]
		sum := 0.0
		for _, l := range sorted {
			sum += math.Exp(float64(l - sorted[0]))
			if l > logits[got] {
				likelier += math.Exp(float64(l - sorted[0]))
			}
		}
		if likelier/sum > topP+1e-9 || logits[got] < sorted[len(sorted)-1] {
			rt.Fatalf("token %d has %.3f of the probability before it", got, likelier/sum)
		}
	})
}

func TestTemperatureSpreadsTheDraws(t *testing.T) {
	logits := []float32{2, 1.5, 1, -9}
	first := func(temperature float64) (n int) {
		s := sampler{temperature: temperature, rng: rand.New(rand.NewPCG(1, 2))}
		for range 2000 {
			if got, _ := s.next(logits); got == 0 {
				n++
			}
		}
		return n
	}
	cold, warm, hot := first(0.1), first(1), first(3)
	// At 1 the three candidates have 0.51, 0.31 and 0.19 of the probability.
	if cold < 1950 || warm < 900 || warm > 1130 || hot >= warm || hot < 600 {
		t.Errorf("the likeliest of 2000: %d at 0.1, %d at 1, %d at 3", cold, warm, hot)
	}
}

func TestUselessNumbersAreAnError(t *testing.T) {
	nan := float32(math.NaN())
	for _, temperature := range []float64{0, 1} {
		s := sampler{temperature: temperature, rng: rand.New(rand.NewPCG(1, 2))}
		if _, err := s.next([]float32{nan, nan}); !errors.Is(err, errNoLogits) {
			t.Errorf("at %g: %v", temperature, err)
		}
		if got, err := s.next([]float32{nan, 1, nan}); err != nil || got != 1 {
			t.Errorf("at %g: %d, %v", temperature, got, err)
		}
	}
}

func TestPiecesAreWholeRunesAndLoseNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		var r runes
		var got string
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "cut")
			piece := r.add(rest[:n])
			if !utf8.ValidString(piece) {
				rt.Fatalf("piece %q", piece)
			}
			got += piece
			rest = rest[n:]
		}
		if got != text {
			rt.Fatalf("%q came out as %q", text, got)
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		var r runes
		for _, b := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 5)).Draw(rt, "pieces") {
			if piece := r.add(b); !utf8.ValidString(piece) || len(r.held) >= utf8.UTFMax {
				rt.Fatalf("piece %q, %d bytes held", piece, len(r.held))
			}
		}
	})
}
