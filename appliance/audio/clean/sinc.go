package clean

import "math"

const (
	// sincSide is how many samples on each side determine a value between two.
	sincSide = 16
	// sincPhases is how many positions between two samples have exact weights; others
	// interpolate between two of them, with an error of -80 dB.
	sincPhases = 128
)

// sinc interpolates between samples, with a sinc under a Kaiser window.
type sinc struct {
	weights [sincPhases + 1][2 * sincSide]float32
}

func newSinc() *sinc {
	var s sinc
	const beta = 8 // 80 dB down
	for p := range s.weights {
		var sum float64
		w := make([]float64, 2*sincSide)
		for i := range w {
			x := float64(i-sincSide+1) - float64(p)/sincPhases
			r := x / sincSide
			w[i] = bessel(beta*math.Sqrt(max(0, 1-r*r))) / bessel(beta)
			if x != 0 {
				w[i] *= math.Sin(math.Pi*x) / (math.Pi * x)
			}
			sum += w[i]
		}
		for i, v := range w {
			s.weights[p][i] = float32(v / sum)
		}
	}
	return &s
}

// at returns the value that lies a fraction of a step after sample sincSide-1 of pcm, which has
// 2·sincSide samples.
func (s *sinc) at(pcm []float32, offset float64) float32 {
	position := offset * sincPhases
	p := min(int(position), sincPhases-1)
	fraction := float32(position) - float32(p)
	near, next := &s.weights[p], &s.weights[p+1]
	var a, b float32
	for i, v := range pcm[:2*sincSide] {
		a += v * near[i]
		b += v * next[i]
	}
	return a + (b-a)*fraction
}

// bessel returns the modified Bessel function of the first kind and order 0, by its series.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-12; k++ {
		term *= x * x / 4 / (k * k)
		sum += term
	}
	return sum
}
