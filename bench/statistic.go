package bench

import (
	"math"
	"slices"
	"time"
)

// quantile returns the smallest value that at least the share q of all values do not
// exceed (the inverse of their distribution), so that it is one of them: quantile(0.5) of
// an odd number is the median. It returns NaN without values.
func quantile[T ~int64 | ~float64](values []T, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(q*float64(len(sorted)))) - 1
	return float64(sorted[min(max(rank, 0), len(sorted)-1)])
}

// median returns the median of the values.
func median[T ~int64 | ~float64](values []T) float64 { return quantile(values, 0.5) }

// timed returns the median time of a call in milliseconds, after a first call that does
// not count.
func timed(rounds int, call func() error) (float64, error) {
	var took []time.Duration
	for i := range rounds + 1 {
		begun := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		if i > 0 {
			took = append(took, time.Since(begun))
		}
	}
	return median(took) / float64(time.Millisecond), nil
}
