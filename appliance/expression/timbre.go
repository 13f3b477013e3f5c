package expression

// Timbre describes a voice rather than what it says or feels: the means of the mel cepstrum
// from its second number on, over voiced frames, and then the pitch, in semitones above
// 27.5 Hz: its 20th, 50th and 80th percentile.
type Timbre [cepstra - 1 + 3]float64

// leastVoiced is how many voiced frames a Timbre needs: a quarter of a second.
const leastVoiced = 25

// Timbre describes the voice that was heard so far, and reports whether it was enough.
func (s *Sound) Timbre() (t Timbre, enough bool) {
	if len(s.frames)+len(s.samples) == 0 {
		return t, false
	}
	return timbreOf(s.all())
}

// timbreOf describes the voice of at least one frame.
func timbreOf(frames []frame) (t Timbre, enough bool) {
	f := describe(frames)
	for k := range cepstra - 1 {
		t[k] = f[number("c", k+1)+"V_mean"]
	}
	copy(t[cepstra-1:], []float64{f["f0_p20"], f["f0_p50"], f["f0_p80"]})
	return t, f["voiced"] >= leastVoiced
}
