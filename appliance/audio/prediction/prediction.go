// Package prediction says how each sample of a signal follows from those before it:
// linear prediction (Makhoul, 1975), by the autocorrelation method.
package prediction

// Correlate writes the autocorrelation of x into r, for lags from 0 on.
func Correlate(r, x []float64) {
	for lag := range r {
		r[lag] = 0
		for i := lag; i < len(x); i++ {
			r[lag] += x[i] * x[i-lag]
		}
	}
}

// Solve finds the coefficients a, of which a[0] is 1, that leave the least of a signal
// with the autocorrelation r, as long as a: the sum of a[k]·x[n-k] (Levinson and
// Durbin). It is solved as if there were as much noise as a share of the signal, with
// which the filter stays stable. left is what remains of the energy; 0 where the signal
// has none to go by.
func Solve(a, r []float64, noise float64) (left float64) {
	clear(a)
	a[0], left = 1, r[0]*(1+noise)
	for i := 1; i < len(a) && left > 0; i++ {
		var sum float64
		for j := range i {
			sum += a[j] * r[i-j]
		}
		reflection := -sum / left
		for j := 0; 2*j <= i; j++ { // from both ends
			a[j], a[i-j] = a[j]+reflection*a[i-j], a[i-j]+reflection*a[j]
		}
		left *= 1 - reflection*reflection
	}
	return max(left, 0)
}
