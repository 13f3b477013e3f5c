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

	pending []float32 // sound that was not returned yet
	emitted int       // samples returned
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
	from := len(e.pending)
	e.pending = append(e.pending, pcm...)
	for i := from; i < len(e.pending); i++ {
		if quiet(e.pending[i]) {
			continue
		}
		if !e.started {
			e.started = true
			cut := max(i-e.lead, 0)
			e.pending, e.dropped, i = e.pending[cut:], e.dropped+cut, i-cut
		}
		e.audible = i + 1
	}
	if !e.started { // keep only what may be the lead
		cut := max(len(e.pending)-e.lead, 0)
		e.pending, e.dropped = e.pending[cut:], e.dropped+cut
		return nil
	}
	sure := min(e.audible+e.tail, len(e.pending)) - e.fade
	if e.emitted == 0 && sure < e.fade { // too short for both fades
		return nil
	}
	return e.emit(max(sure, 0))
}

// end returns the rest without excess silence.
func (e *edges) end() []float32 {
	if !e.started {
		return nil
	}
	n := min(e.audible+e.tail, len(e.pending))
	fade := min(e.fade, (e.emitted+n)/2)
	if e.emitted == 0 {
		e.fadeIn(fade)
	}
	for i := range fade {
		e.pending[n-1-i] *= float32(i) / float32(fade)
	}
	e.fade = 0
	return e.emit(n)
}

// emit returns the first n held samples.
func (e *edges) emit(n int) []float32 {
	if e.emitted == 0 && e.fade > 0 {
		e.fadeIn(e.fade)
	}
	out := e.pending[:n:n]
	e.pending = append([]float32(nil), e.pending[n:]...)
	e.emitted += n
	e.audible -= n
	return out
}

func (e *edges) fadeIn(n int) {
	for i := range n {
		e.pending[i] *= float32(i) / float32(n)
	}
}

func quiet(x float32) bool { return x < audibleLevel && x > -audibleLevel }
