package fourier

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// slow is the definition of the transform.
func slow(x []complex128) []complex128 {
	out := make([]complex128, len(x))
	for k := range out {
		for i, v := range x {
			out[k] += v * cmplx.Rect(1, -2*math.Pi*float64(i*k%len(x))/float64(len(x)))
		}
	}
	return out
}

func want(t *testing.T, got, want []complex128) {
	t.Helper()
	for k := range want {
		if cmplx.Abs(got[k]-want[k]) > 1e-10*float64(len(want)) {
			t.Fatalf("length %d: value %d is %v, want %v", len(want), k, got[k], want[k])
		}
	}
}

func TestForwardIsTheFourierTransform(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 4, 8, 64, 512, 1024, 25, 50, 200, 800} {
		x := make([]complex128, n)
		for i := range x {
			x[i] = complex(random.NormFloat64(), random.NormFloat64())
		}
		tr, got := New(n), append([]complex128(nil), x...)
		tr.Forward(got)
		want(t, got, slow(x))
		tr.Back(got)
		want(t, got, x)
	}
}

func TestRealSignalIsTransformedByHalf(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{4, 16, 400, 512, 2048} {
		tr, work, power := NewReal(n), make([]complex128, n/2+1), make([]float64, n/2+1)
		for _, long := range []int{n, n - 1, n / 2, 1, 0} { // the rest is silence
			x, whole := make([]float64, long), make([]complex128, n)
			for i := range x {
				x[i] = random.NormFloat64()
				whole[i] = complex(x[i], 0)
			}
			spectrum := slow(whole)[:n/2+1]
			want(t, tr.Forward(x, work), spectrum)
			tr.Power(power, x, work)
			for k, v := range spectrum {
				if d := power[k] - real(v)*real(v) - imag(v)*imag(v); math.Abs(d) > 1e-8*float64(n) {
					t.Fatalf("length %d, %d samples: power %d is off by %g", n, long, k, d)
				}
			}
		}
	}
}
