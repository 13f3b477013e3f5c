package onnx

const (
	// audibleLevel is what is taken as silence at the edges of a sentence, 54 dB
	// below full scale.
	audibleLevel = 0.002
	// What is left of the silence before and behind a sentence. What is before
	// it delays every answer; what is behind it is the start of the pause.
	leadMS, tailMS = 20, 100
	// fadeMS is how long an edge takes to come from silence.
	fadeMS = 5
)

// audible returns the part of pcm that is worth playing.
func audible(pcm []float32, rateHz int) (begin, end int) {
	for begin < len(pcm) && quiet(pcm[begin]) {
		begin++
	}
	end = len(pcm)
	for end > begin && quiet(pcm[end-1]) {
		end--
	}
	return max(begin-rateHz*leadMS/1000, 0), min(end+rateHz*tailMS/1000, len(pcm))
}

func quiet(x float32) bool { return x < audibleLevel && x > -audibleLevel }

// fadeEdges lets pcm begin and end at zero, so that nothing clicks.
func fadeEdges(pcm []float32, rateHz int) {
	n := min(rateHz*fadeMS/1000, len(pcm)/2)
	for i := range n {
		k := float32(i) / float32(n)
		pcm[i] *= k
		pcm[len(pcm)-1-i] *= k
	}
}
