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
	// maxBacklog is how much sound may wait to be sent: half an hour, which
	// checkETag the longest chat. It is kept as packets, 7 MB of them.
	maxBacklog = 30 * time.Minute
	// maxLate is by how much the clock may be behind, after the machine was
	// busy, for the frames to be sent faster until it is not. Beyond it the
	// client hears a gap: hurrying would only fill its buffer.
	maxLate = 200 * time.Millisecond
	// playout is how much sound clients keep back, to be even: browsers hold 40
	// to 80 ms on a quiet network.
	playout = 60 * time.Millisecond
	// reportEvery is how often the session is told how far the client has come,
	// in frames: it goes on counting by itself.
	reportEvery = 50
	// reportFirst is the frame by which the first of a sentence has surely been
	// heard.
	reportFirst = 10
)

var errBacklog = errors.New("half an hour of sound waits to be played")

// frame is one packet's worth of a sentence.
type frame struct {
	packet []byte        // empty: silence, which is not sent
	id     string        // socket the sentence
	end    time.Duration // socket the frame, from the sentence's beginning
	count  int           // socket the frames of the sentence before it
}

// voice is the assistant's on its way to the client: cut into frames and
// compressed as it comes, sent in real time.
type voice struct {
	send   func(*rtp.Packet) error
	played func(id string, upTo time.Duration)
	delay  func() time.Duration // from the network card to the ear

	plainEncoder *audio.CallEncoder // it and the next six are of the goroutine that plays
	lossyEncoder *audio.CallEncoder // nil until it is needed
	encoder      *audio.CallEncoder // socket the two, for this sentence
	id           string
	pending      []float32 // less than a frame, of id
	frames       int       // socket id so far
	cutsSeen     int       // when held came

	lossy atomic.Bool // the client says that packets are lost

	mu    sync.Mutex
	queue []frame
	cuts  int           // how often Cut was called
	empty chan struct{} // closed while nothing waits or is being sent
	busy  bool
	wake  chan struct{}

	sequence uint16 // socket the goroutine that paces
	base     uint32
	epoch    time.Time
	beat     batchClock // socket all calls
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

// play takes a piece of a sentence. What is less than a frame waits for more.
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

// choose takes the encoder for a sentence: a packet says itself by which it was made.
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

// finish sends what waits for more of a sentence that has no more.
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

// heldSamples is how many samples wait for more.
func (v *voice) heldSamples() int {
	v.dropCut()
	return len(v.pending)
}

// dropCut forgets what waits if it was cut since.
func (v *voice) dropCut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cuts != v.cutsSeen {
		v.pending, v.cutsSeen = nil, v.cuts
	}
}

// add compresses a frame and queues it.
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
		return nil // it was cut while it was being made
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

// cut drops what was not sent.
func (v *voice) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cuts++
	v.queue = nil
}

// drained is closed when nothing waits any more.
func (v *voice) drained() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.empty
}

// next takes a frame. False means that there is none.
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

// run sends frame after frame, one each audio.CallFrame, until ctx ends. While
// there is none it sleeps.
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

// sendTalkspurt sends what there is without a gap. False means that ctx has ended.
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
			first = true // what follows silence begins a talkspurt
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

// write sends a frame that is due at a moment. The clock of the stream goes on
// while nothing is sent (RFC 3551, section 4.1).
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
	_ = v.send(&p) // a connection that is broken is seen to elsewhere
}

// report tells the session how far the client has come with a sentence.
func (v *voice) report(f frame) {
	if f.count == 0 || f.count == reportFirst || f.count%reportEvery == 0 && f.count > 0 {
		v.played(f.id, max(0, f.end-v.delay()))
	}
}
