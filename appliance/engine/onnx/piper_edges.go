package onnx

const (
	// audibleLevel is the level below which a sample at the edges of a sentence counts as silence,
	// 54 dB below full scale.
	audibleLevel = 0.002
	// The silence that remains before and after a sentence. The lead delays every answer; the tail
	// is the start of the pause.
	leadMS, tailMS = 20, 100
	// fadeMS is the length of the fades at the edges.
	fadeMS = 5
)

// edges trims silence from the beginning and the end of a stream of sound and fades both edges from
// and to zero to avoid clicks. It holds back what may be silence at the end until more sound
// arrives.
type edges struct {
	lead, tail, fade int // samples

	held    []float32 // sound that was not returned yet
	given   int       // samples returned
	dropped int       // samples cut from the beginning
	started bool      // something was audible
	audible int       // index after the last audible sample of held
}

func newEdges(rateHz int) *edges {
	return &edges{lead: rateHz * leadMS / 1000, tail: rateHz * tailMS / 1000, fade: rateHz * fadeMS / 1000}
}

// add takes the next sound and returns what can be played of it, without what may be the silence or
// the fade at the end. It retains pcm.
func (e *edges) add(pcm []float32) []float32 {
	from := len(e.held)
	e.held = append(e.held, pcm...)
	for i := from; i < len(e.held); i++ {
		if quiet(e.held[i]) {
			continue
		}
		if !e.started {
			e.started = true
			cut := max(i-e.lead, 0)
			e.held, e.dropped, i = e.held[cut:], e.dropped+cut, i-cut
		}
		e.audible = i + 1
	}
	if !e.started { // keep only what may be the lead
		cut := max(len(e.held)-e.lead, 0)
		e.held, e.dropped = e.held[cut:], e.dropped+cut
		return nil
	}
	sure := min(e.audible+e.tail, len(e.held)) - e.fade
	if e.given == 0 && sure < e.fade { // too short for both fades
		return nil
	}
	return e.give(max(sure, 0))
}

// end returns the rest without excess silence.
func (e *edges) end() []float32 {
	if !e.started {
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

// give returns the first n held samples.
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
