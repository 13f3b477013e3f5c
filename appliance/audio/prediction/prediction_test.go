package prediction

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFilterOfASignalIsEstimated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	filter := []float64{1, -1.3, 0.9, -0.2}
	x := make([]float64, 200_000)
	for n := range x {
		x[n] = random.NormFloat64()
		for k := 1; k < len(filter) && k <= n; k++ {
			x[n] -= filter[k] * x[n-k]
		}
	}
	var r, a [6]float64
	Correlate(r[:], x)
	left := Solve(a[:], r[:], 0)
	for k, got := range a {
		var want float64
		if k < len(filter) {
			want = filter[k]
		}
		if math.Abs(got-want) > 0.02 {
			t.Errorf("coefficient %d is %.3f, want %.1f", k, got, want)
		}
	}
	if each := left / float64(len(x)); math.Abs(each-1) > 0.02 {
		t.Errorf("%.3f is left of each sample's energy, want that of the noise, 1", each)
	}
}

// The remaining energy is that of the filter's output, and silence leaves nothing.
func TestCoefficientsSolveTheNormalEquations(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 300)
	for i := range x {
		x[i] = math.Sin(float64(i)/3) + 0.1*random.NormFloat64()
	}
	var r, a [19]float64
	Correlate(r[:], x)
	left := Solve(a[:], r[:], 0)
	for i := range a { // Σ a[k] r[|i-k|] is left for i = 0, and 0 for the others
		var sum float64
		for k, c := range a {
			sum += c * r[max(i-k, k-i)]
		}
		if i == 0 {
			sum -= left
		}
		if math.Abs(sum) > 1e-9*r[0] {
			t.Errorf("row %d is off by %g", i, sum)
		}
	}
	if left := Solve(a[:], make([]float64, len(a)), 1e-4); left != 0 {
		t.Errorf("%g is left of silence", left)
	}
}
