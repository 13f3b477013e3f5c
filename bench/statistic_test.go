package bench

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestQuantilesAreValuesThatWereMeasured(t *testing.T) {
	for _, row := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{[]float64{3}, 0.5, 3},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 3, 2, 1}, 0.5, 2},
		{[]float64{1, 2, 3}, 0, 1},
		{[]float64{1, 2, 3}, 1, 3},
		{[]float64{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.95, 19},
	} {
		if got := quantile(row.values, row.q); got != row.want {
			t.Errorf("%g of %v is %g, want %g", row.q, row.values, got, row.want)
		}
	}
	if got := median([]time.Duration(nil)); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %g", got)
	}
}

func TestAQuantileHasItsShareBelowIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		before := slices.Clone(values)
		got := quantile(values, q)
		if !slices.Equal(values, before) {
			t.Fatal("the values were put in another order")
		}
		below, within := 0, 0
		for _, v := range values {
			if v < got {
				below++
			}
			if v <= got {
				within++
			}
		}
		if n := float64(len(values)); float64(within) < q*n || float64(below) > q*n {
			t.Fatalf("%g of %v is %g: %d below, %d up to it", q, values, got, below, within)
		}
	})
}
