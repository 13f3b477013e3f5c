package rtp

import (
	"errors"
	"sync"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

const (
	// maxBacklog bounds the sound that waits to be sent: half an hour, which is the longest
	// chat. As Opus it has 7 MB, as G.711 14 MB.
	maxBacklog = 30 * time.Minute
	// reportEvery is the interval, in frames, of reports to the session on what was played.
	// The session extrapolates between them.
	reportEvery = 50
	// reportFirst is the frame by which the beginning of a sentence has surely been played.
	reportFirst = 10
)

var errBacklog = errors.New("half an hour of sound waits to be played")

// Frame is one packet of a sentence.
type Frame struct {
	Payload []byte        // empty for silence, which need not be sent
	ID      string        // of the sentence
	End     time.Duration // end of the frame, from the beginning of the sentence
	count   int           // number of frames of the sentence before it
}

// Voice is the assistant's voice on its way to the client. Play splits it into frames and
// encodes them; the goroutine that sends takes one frame at a time.
type Voice struct {
	encoders func() (Encoder, error) // returns the encoder for the next sentence
	played   func(id string, upTo time.Duration)
	delay    func() time.Duration // from the network card to the ear
	length   time.Duration        // of a frame

	encoder  Encoder // this and the next four fields are used by the goroutine that plays
	id       string
	pending  []float32 // less than a frame, of sentence id
	frames   int       // number of frames of id so far
	cutsSeen int       // value of cuts when pending came

	mu    sync.Mutex
	queue []Frame
	cuts  int           // number of calls of Cut
	empty chan struct{} // closed while nothing waits or is being sent
	busy  bool
	wake  chan struct{}
}

// NewVoice returns a voice with nothing to send. It asks encoders for the encoder of each
// sentence. It calls played with what the client has heard of a sentence, delay after it was
// sent.
func NewVoice(encoders func() (Encoder, error), f Format, played func(id string, upTo time.Duration),
	delay func() time.Duration) *Voice {
	v := &Voice{
		encoders: encoders,
		played:   played,
		delay:    delay,
		length:   f.Frame,
		empty:    make(chan struct{}),
		wake:     make(chan struct{}, 1),
	}
	close(v.empty)
	return v
}

// Play adds a piece of a sentence. A remainder of less than a frame waits for more. One
// goroutine calls Play and HeldBack.
func (v *Voice) Play(s contract.Sound) (err error) {
	if s.ID != v.id || s.Index == 0 {
		if err := v.finish(); err != nil {
			return err
		}
		v.id, v.frames = s.ID, 0
		if v.encoder, err = v.encoders(); err != nil {
			return err
		}
	}
	v.dropCut()
	v.pending = append(v.pending, s.PCM...)
	n := v.samples()
	for len(v.pending) >= n {
		if err := v.add(v.pending[:n]); err != nil {
			return err
		}
		v.pending = v.pending[n:]
	}
	v.pending = append([]float32(nil), v.pending...)
	if s.Last {
		return v.finish()
	}
	return nil
}

// samples returns the number of samples of a frame.
func (v *Voice) samples() int { return audio.Samples(v.length, contract.OutputRateHz) }

// finish encodes the remainder of a sentence, padded to a frame.
func (v *Voice) finish() error {
	v.dropCut()
	if len(v.pending) == 0 {
		return nil
	}
	last := make([]float32, v.samples())
	copy(last, v.pending)
	v.pending = nil
	return v.add(last)
}

// HeldBack returns the number of samples that wait for more.
func (v *Voice) HeldBack() int {
	v.dropCut()
	return len(v.pending)
}

// dropCut drops the remainder if it was cut.
func (v *Voice) dropCut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cuts != v.cutsSeen {
		v.pending, v.cutsSeen = nil, v.cuts
	}
}

// add encodes a frame and queues it.
func (v *Voice) add(pcm []float32) error {
	payload, err := v.encoder.Encode(pcm)
	if err != nil {
		return err
	}
	f := Frame{
		Payload: append([]byte(nil), payload...),
		ID:      v.id,
		End:     time.Duration(v.frames+1) * v.length,
		count:   v.frames,
	}
	v.frames++
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cuts != v.cutsSeen {
		return nil // it was cut meanwhile
	}
	if len(v.queue) >= int(maxBacklog/v.length) {
		return errBacklog
	}
	v.queue = append(v.queue, f)
	if !v.busy {
		v.busy = true
		v.empty = make(chan struct{})
	}
	select {
	case v.wake <- struct{}{}:
	default:
	}
	return nil
}

// Cut drops the frames that were not sent.
func (v *Voice) Cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cuts++
	v.queue = nil
}

// Drained returns a channel that is closed when nothing waits any more.
func (v *Voice) Drained() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.empty
}

// Waiting returns a channel that receives after frames were added.
func (v *Voice) Waiting() <-chan struct{} { return v.wake }

// Next returns the next frame, or false if there is none.
func (v *Voice) Next() (Frame, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.queue) == 0 {
		if v.busy {
			v.busy = false
			close(v.empty)
		}
		return Frame{}, false
	}
	f := v.queue[0]
	v.queue = v.queue[1:]
	return f, true
}

// Sent reports to the session what the client has played by now of the sentence of a frame
// that was just sent.
func (v *Voice) Sent(f Frame) {
	if f.count == 0 || f.count == reportFirst || f.count%reportEvery == 0 && f.count > 0 {
		v.played(f.ID, max(0, f.End-v.delay()))
	}
}
