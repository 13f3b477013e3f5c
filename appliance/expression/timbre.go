package expression

// Timbre describes a voice rather than what it says or feels, from its voiced frames: the
// mean of each number of the mel cepstrum from the second on, then their deviations; the
// 20th, 50th and 80th percentile of the pitch and its deviation, in semitones above 27.5 Hz;
// the mean of the first harmonic over the second, and of the harmonics over the noise, in dB.
type Timbre [2*(cepstra-1) + 6]float64

// leastVoiced is how many voiced frames a Timbre needs: a quarter of a second.
const leastVoiced = 25

// timbreOf describes the voice of at least one frame.
func timbreOf(frames []frame) (t Timbre, enough bool) {
	f := describe(frames)
	for k := range cepstra - 1 {
		t[k] = f[number("c", k+1)+"V_mean"]
		t[cepstra-1+k] = f[number("c", k+1)+"V_std"]
	}
	for i, name := range []string{"f0_p20", "f0_p50", "f0_p80", "f0_std", "h12_mean", "hnr_mean"} {
		t[2*(cepstra-1)+i] = f[name]
	}
	return t, f["voiced"] >= leastVoiced
}
