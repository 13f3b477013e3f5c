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

// edges takes the silence off the beginning and the end of a stream of sound
// and lets it begin and end at zero, so that nothing clicks. What may still be
// silence at the end it keeps back until more comes.
type edges struct {
	lead, tail, fade int // samples

	held    []float32 // what was not given yet
	given   int       // samples
	dropped int       // samples before the first that is audible, of which lead are kept
	heard   bool      // something was audible
	audible int       // behind the last audible sample, counted from held's first
}

func newEdges(rateHz int) *edges {
	return &edges{lead: rateHz * leadMS / 1000, tail: rateHz * tailMS / 1000, fade: rateHz * fadeMS / 1000}
}

// add takes the next sound and returns what can be played of it: nothing that
// could be the silence or the fade at the end. It keeps pcm.
func (e *edges) add(pcm []float32) []float32 {
	from := len(e.held)
	e.held = append(e.held, pcm...)
	for i := from; i < len(e.held); i++ {
		if quiet(e.held[i]) {
			continue
		}
		if !e.heard {
			e.heard = true
			cut := max(i-e.lead, 0)
			e.held, e.dropped, i = e.held[cut:], e.dropped+cut, i-cut
		}
		e.audible = i + 1
	}
	if !e.heard { // only as much is kept as may be the lead
		cut := max(len(e.held)-e.lead, 0)
		e.held, e.dropped = e.held[cut:], e.dropped+cut
		return nil
	}
	sure := min(e.audible+e.tail, len(e.held)) - e.fade
	if e.given == 0 && sure < e.fade { // too short to know how it begins
		return nil
	}
	return e.give(max(sure, 0))
}

// end returns what is left, without the silence that there is too much of.
func (e *edges) end() []float32 {
	if !e.heard {
		return nil
	}
	n := min(e.audible+e.tail, len(e.held))
	fade := min(e.fade, (e.given+n)/2)
	if e.given == 0 {
		e.fadeIn(fade)
	}
	for i := range fade {
		e.held[n-1-i] *= float32(i) / float32(fade)
	}
	e.fade = 0
	return e.give(n)
}

// emitPiece hands out so much of what is held.
func (e *edges) give(n int) []float32 {
	if e.given == 0 && e.fade > 0 {
		e.fadeIn(e.fade)
	}
	out := e.held[:n:n]
	e.held = append([]float32(nil), e.held[n:]...)
	e.given += n
	e.audible -= n
	return out
}

func (e *edges) fadeIn(n int) {
	for i := range n {
		e.held[i] *= float32(i) / float32(n)
	}
}

func quiet(x float32) bool { return x < audibleLevel && x > -audibleLevel }
