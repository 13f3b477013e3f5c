package webrtc

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

const (
	// maxBacklog bounds the sound that waits to be sent: half an hour, which is the longest
	// chat. As packets it has 7 MB.
	maxBacklog = 30 * time.Minute
	// maxLate is the delay, after the machine was busy, up to which frames are sent faster
	// to catch up. A longer one stays a gap: sending faster would only fill the client's
	// buffer.
	maxLate = 200 * time.Millisecond
	// playout is the size of clients' jitter buffers: browsers hold 40 to 80 ms on a quiet
	// network.
	playout = 60 * time.Millisecond
	// reportEvery is the interval, in frames, of reports to the session on what was played.
	// The session extrapolates between them.
	reportEvery = 50
	// reportFirst is the frame by which the beginning of a sentence has surely been played.
	reportFirst = 10
)

var errBacklog = errors.New("half an hour of sound waits to be played")

// frame is one packet of a sentence.
type frame struct {
	packet []byte        // empty for silence, which is not sent
	id     string        // of the sentence
	end    time.Duration // end of the frame, from the beginning of the sentence
	count  int           // number of frames of the sentence before it
}

// voice is the assistant's voice on its way to the client: split into frames, encoded as it
// comes, and sent in real time.
type voice struct {
	send   func(*rtp.Packet) error
	played func(id string, upTo time.Duration)
	delay  func() time.Duration // from the network card to the ear

	plainEncoder *audio.CallEncoder // this and the next six fields are used by the goroutine that plays
	lossyEncoder *audio.CallEncoder // nil until needed
	encoder      *audio.CallEncoder // one of the two, for this sentence
	id           string
	pending      []float32 // less than a frame, of sentence id
	frames       int       // number of frames of id so far
	cutsSeen     int       // value of cuts when pending came

	lossy atomic.Bool // the client reports packet loss

	mu    sync.Mutex
	queue []frame
	cuts  int           // number of calls of Cut
	empty chan struct{} // closed while nothing waits or is being sent
	busy  bool
	wake  chan struct{}

	sequence uint16 // used by the goroutine that sends
	base     uint32
	epoch    time.Time
	beat     batchClock // of all calls
}

func newVoice(send func(*rtp.Packet) error, played func(string, time.Duration), delay func() time.Duration,
	sequence uint16, base uint32, beat batchClock) (*voice, error) {
	encoder, err := audio.NewCallEncoder()
	if err != nil {
		return nil, err
	}
	v := &voice{
		send:         send,
		played:       played,
		delay:        delay,
		plainEncoder: encoder,
		encoder:      encoder,
		empty:        make(chan struct{}),
		wake:         make(chan struct{}, 1),
		sequence:     sequence,
		base:         base,
		epoch:        time.Now(),
		beat:         beat,
	}
	close(v.empty)
	return v, nil
}

const frameSamples = int(audio.CallFrame * audio.CallRateHz / time.Second)

// play adds a piece of a sentence. A remainder of less than a frame waits for more.
func (v *voice) play(s contract.Sound) error {
	if s.ID != v.id || s.Index == 0 {
		if err := v.finish(); err != nil {
			return err
		}
		v.id, v.frames = s.ID, 0
		if err := v.choose(); err != nil {
			return err
		}
	}
	v.dropCut()
	v.pending = append(v.pending, s.PCM...)
	for len(v.pending) >= frameSamples {
		if err := v.add(v.pending[:frameSamples]); err != nil {
			return err
		}
		v.pending = v.pending[frameSamples:]
	}
	v.pending = append([]float32(nil), v.pending...)
	if s.Last {
		return v.finish()
	}
	return nil
}

// choose chooses the encoder for a sentence; packets of both can follow each other.
func (v *voice) choose() (err error) {
	v.encoder = v.plainEncoder
	if !v.lossy.Load() {
		return nil
	}
	if v.lossyEncoder == nil {
		if v.lossyEncoder, err = audio.NewLossyCallEncoder(); err != nil {
			return err
		}
	}
	v.encoder = v.lossyEncoder
	return nil
}

// finish encodes the remainder of a sentence, padded to a frame.
func (v *voice) finish() error {
	v.dropCut()
	if len(v.pending) == 0 {
		return nil
	}
	last := make([]float32, frameSamples)
	copy(last, v.pending)
	v.pending = nil
	return v.add(last)
}

// heldSamples returns the number of samples that wait for more.
func (v *voice) heldSamples() int {
	v.dropCut()
	return len(v.pending)
}

// dropCut drops the remainder if it was cut.
func (v *voice) dropCut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cuts != v.cutsSeen {
		v.pending, v.cutsSeen = nil, v.cuts
	}
}

// add encodes a frame and queues it.
func (v *voice) add(pcm []float32) error {
	packet, err := v.encoder.Encode(pcm)
	if err != nil {
		return err
	}
	f := frame{
		packet: append([]byte(nil), packet...),
		id:     v.id,
		count:  v.frames,
		end:    time.Duration(v.frames+1) * audio.CallFrame,
	}
	v.frames++
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cuts != v.cutsSeen {
		return nil // it was cut meanwhile
	}
	if len(v.queue) >= int(maxBacklog/audio.CallFrame) {
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

// cut drops the frames that were not sent.
func (v *voice) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cuts++
	v.queue = nil
}

// drained returns a channel that is closed when nothing waits any more.
func (v *voice) drained() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.empty
}

// next returns the next frame, or false if there is none.
func (v *voice) next() (frame, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.queue) == 0 {
		if v.busy {
			v.busy = false
			close(v.empty)
		}
		return frame{}, false
	}
	f := v.queue[0]
	v.queue = v.queue[1:]
	return f, true
}

// run sends one frame every audio.CallFrame until ctx ends, and sleeps while there is none.
func (v *voice) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wake:
		}
		if !v.sendTalkspurt(ctx, timer) {
			return
		}
	}
}

// sendTalkspurt sends the waiting frames without a gap. It returns false if ctx has ended.
func (v *voice) sendTalkspurt(ctx context.Context, timer *time.Timer) bool {
	at, first := time.Now(), true
	for {
		f, ok := v.next()
		if !ok {
			return true
		}
		if late := time.Since(at); late > maxLate {
			at, first = at.Add(late), true
		}
		if len(f.packet) > 0 {
			v.write(f, at, first)
			first = false
		} else {
			first = true // silence ends a talkspurt
		}
		v.report(f)
		at = at.Add(audio.CallFrame)
		timer.Reset(time.Until(v.beat.before(at)))
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
	}
}

// write sends a frame at its time. The timestamps advance while nothing is sent (RFC 3551,
// section 4.1).
func (v *voice) write(f frame, at time.Time, first bool) {
	since := at.Sub(v.epoch)
	p := rtp.Packet{
		Header: rtp.Header{
			Version:        2,
			Marker:         first,
			SequenceNumber: v.sequence,
			Timestamp:      v.base + uint32(since*audio.CallRateHz/time.Second),
		},
		Payload: f.packet,
	}
	v.sequence++
	_ = v.send(&p) // a broken connection is detected elsewhere
}

// report reports to the session what the client has played of a sentence.
func (v *voice) report(f frame) {
	if f.count == 0 || f.count == reportFirst || f.count%reportEvery == 0 && f.count > 0 {
		v.played(f.id, max(0, f.end-v.delay()))
	}
}
