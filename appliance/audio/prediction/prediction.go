// Package prediction has linear prediction (Makhoul, 1975), by the autocorrelation method.
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

// Solve finds the coefficients a, with a[0] = 1, that minimise the sum of a[k]·x[n-k] for a
// signal with the autocorrelation r (Levinson and Durbin). len(r) must be len(a). noise is a
// share of the signal's energy that is added as white noise, which makes the filter stable.
// left is the remaining energy; 0 if the signal has none.
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
