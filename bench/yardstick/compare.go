package yardstick

import (
	"slices"
	"time"
)

// Comparison is how long two ways to do the same took.
type Comparison struct {
	Ours, Straight time.Duration // medians
	Ratio          float64       // the median of the pairs' ratios
}

// Compare runs both in turn, so many times, after a first time that does not
// count. Each goes first every other time, so that what else the machine does
// weighs on both.
func Compare(rounds int, ours, straight func() error) (c Comparison, err error) {
	both := [2]func() error{ours, straight}
	took := [2][]time.Duration{}
	var ratios []float64
	for round := range max(rounds, 1) + 1 {
		var pair [2]time.Duration
		for i := range both {
			which := (round + i) % 2
			start := time.Now()
			if err := both[which](); err != nil {
				return c, err
			}
			pair[which] = time.Since(start)
		}
		if round == 0 {
			continue
		}
		took[0], took[1] = append(took[0], pair[0]), append(took[1], pair[1])
		ratios = append(ratios, float64(pair[0])/float64(pair[1]))
	}
	return Comparison{Ours: median(took[0]), Straight: median(took[1]), Ratio: median(ratios)}, nil
}

func median[T ~int64 | ~float64](x []T) T {
	slices.Sort(x)
	return x[len(x)/2]
}
