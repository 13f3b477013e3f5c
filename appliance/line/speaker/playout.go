package speaker

import (
	"errors"
	"sync"
	"time"

	"parley/appliance/contract"
)

const (
	// initialBuffer is the loudspeaker's first buffer, 80 ms, which delays sound and
	// interruptions by as much. After maxUnderruns underruns within underrunWindow it is
	// doubled, as sound servers do, up to maxBuffer: a machine that is busy with a model
	// delays the thread that fills the buffer by tens of milliseconds.
	initialBuffer, maxBuffer = 80 * time.Millisecond, 240 * time.Millisecond
	maxUnderruns             = 3
	underrunWindow           = time.Minute
	// maxBacklog bounds the sound that waits to be played: half an hour, which is the
	// longest chat. It has 345 MB; no answer reaches a hundredth of it.
	maxBacklog = 30 * 60 * rateHz
	// fade is the length of the fade-out of sound that is cut, 5 ms. A sudden end clicks.
	fade = rateHz / 200
	// reportFirst is how much of a sentence has been handed over when its beginning has
	// surely been heard. reportEvery is the interval of reports to the session, which
	// extrapolates between them.
	reportFirst = rateHz / 5
	reportEvery = rateHz
)

var errBacklog = errors.New("half an hour of sound waits to be played")

// piece is sound to be played.
type piece struct {
	id    string // of the sentence; empty for a tone
	from  int    // position within the sentence, in samples
	pcm   []float32
	given int // samples of pcm given to the device
}

// stretch is a part of a sentence that the device was given.
type stretch struct {
	id   string
	from int   // position within the sentence, in samples
	at   int64 // position in all that the device was given
	n    int
}

// playout is the queue of sound to be played, and the progress of playing it. The device's
// thread takes from it.
type playout struct {
	mu       sync.Mutex
	queue    []piece
	waiting  int // samples in queue
	tail     []float32
	given    int64     // samples given to the device, with silence
	filled   time.Time // when the device was last given some
	newest   stretch   // newest stretch
	reported int       // samples of its sentence reported to the session
	drained  chan struct{}

	buffer       time.Duration // size of the device's buffer, and so the delay until a sample is heard
	wantedBuffer time.Duration // size of the buffer after the device is reopened, when nothing is played
	underruns    []time.Time   // times of the recent underruns
	lastSound    int64         // position of the newest sample that was not silence

	progressed chan struct{} // signals that there is progress to report
	reopen     chan struct{} // signals that the device is to be reopened with a larger buffer
	reference  *reference    // gets what the device is given; set by listen
}

func newPlayout() *playout {
	p := &playout{
		progressed:   make(chan struct{}, 1),
		reopen:       make(chan struct{}, 1),
		drained:      make(chan struct{}),
		buffer:       initialBuffer,
		wantedBuffer: initialBuffer,
	}
	close(p.drained)
	return p
}

// add queues sound.
func (p *playout) add(id string, from int, pcm []float32) error {
	if len(pcm) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting+len(pcm) > maxBacklog {
		return errBacklog
	}
	if p.waiting == 0 {
		p.drained = make(chan struct{})
	}
	p.waiting += len(pcm)
	p.queue = append(p.queue, piece{id: id, from: from, pcm: pcm})
	return nil
}

// cut drops what the device was not given.
func (p *playout) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return
	}
	if first := p.queue[0]; first.given > 0 {
		p.tail = fadeOut(first.pcm[first.given:])
	}
	p.empty()
}

// empty drops the queue. p.mu is held.
func (p *playout) empty() {
	if p.waiting > 0 {
		close(p.drained)
	}
	p.queue, p.waiting = nil, 0
}

// fadeOut returns the beginning of pcm, faded out.
func fadeOut(pcm []float32) []float32 {
	out := make([]float32, min(fade, len(pcm)))
	for i := range out {
		out[i] = pcm[i] * float32(len(out)-i) / float32(len(out))
	}
	return out
}

// fill writes the next samples, and silence after the queue's end. It is the device's
// callback.
func (p *playout) fill(out []float32) {
	p.mu.Lock()
	now := time.Now()
	p.countUnderrun(now)
	n := copy(out, p.tail)
	p.tail = p.tail[n:]
	for n < len(out) && len(p.queue) > 0 {
		n += p.take(out[n:], p.given+int64(n))
	}
	clear(out[n:])
	if n > 0 {
		p.lastSound = p.given + int64(n)
	}
	p.given += int64(len(out))
	p.filled = now
	if p.wantedBuffer > p.buffer && p.given-p.lastSound > samplesIn(p.buffer) {
		notify(p.reopen)
	}
	after := p.reference
	p.mu.Unlock()
	if after != nil {
		after.played(out)
	}
}

// countUnderrun records an underrun: the device asks for more so late that its buffer must
// have been empty. p.mu is held.
func (p *playout) countUnderrun(now time.Time) {
	if p.filled.IsZero() || now.Sub(p.filled) <= p.buffer {
		return
	}
	for len(p.underruns) > 0 && now.Sub(p.underruns[0]) > underrunWindow {
		p.underruns = p.underruns[1:]
	}
	if p.underruns = append(p.underruns, now); len(p.underruns) >= maxUnderruns {
		p.underruns, p.wantedBuffer = nil, min(2*p.buffer, maxBuffer)
	}
}

// openBuffer returns the buffer size for a device that is about to be opened.
func (p *playout) openBuffer() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buffer, p.filled, p.underruns = p.wantedBuffer, time.Time{}, nil
	select { // drain the signal
	case <-p.reopen:
	default:
	}
	if p.reference != nil {
		p.reference.SetHeld(p.buffer)
	}
	return p.buffer
}

// nextBuffer returns the buffer size for the next time that the device is opened.
func (p *playout) nextBuffer() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wantedBuffer
}

// delay returns the time from the hand-over of a sample until it is heard.
func (p *playout) delay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buffer
}

// take gives the device samples of the first piece; at is the position of the first of
// them. p.mu is held.
func (p *playout) take(out []float32, at int64) int {
	first := &p.queue[0]
	n := copy(out, first.pcm[first.given:])
	if first.id != "" {
		p.note(stretch{
			id:   first.id,
			from: first.from + first.given,
			at:   at,
			n:    n,
		})
	}
	first.given += n
	p.waiting -= n
	if first.given == len(first.pcm) {
		p.queue[0] = piece{}
		p.queue = p.queue[1:]
	}
	if p.waiting == 0 {
		close(p.drained)
		p.notifySession()
	}
	return n
}

// note records what the device was given of a sentence.
func (p *playout) note(s stretch) {
	if p.newest.id != s.id {
		p.reported = 0
		p.notifySession()
	}
	p.newest = s
	end := s.from + s.n
	if p.reported < reportFirst && end >= reportFirst || end-p.reported >= reportEvery {
		p.reported = end
		p.notifySession()
	}
}

func (p *playout) notifySession() {
	select {
	case p.progressed <- struct{}{}:
	default:
	}
}

// progress returns the sentence that is being played and how much of it has been heard; an
// empty id if none is.
func (p *playout) progress(now time.Time) (id string, upTo time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest.id == "" {
		return "", 0
	}
	heard := p.given - samplesIn(p.buffer)
	if since := now.Sub(p.filled); since > 0 {
		heard += samplesIn(min(since, p.buffer))
	}
	n := p.newest
	of := n.from + int(max(int64(-n.from), min(heard-n.at, int64(n.n))))
	return n.id, time.Duration(of) * time.Second / rateHz
}

func samplesIn(d time.Duration) int64 { return int64(d) * rateHz / int64(time.Second) }

// whenDrained returns a channel that is closed when the queue is empty. The device's buffer
// is heard for delay after that.
func (p *playout) whenDrained() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drained
}

// forget drops everything, for the next chat.
func (p *playout) forget() {
	p.cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest, p.reported = stretch{}, 0
}

// play queues a piece of a sentence; sent is how much of it was queued before.
func (p *playout) play(s contract.Sound, sent int) error { return p.add(s.ID, sent, s.PCM) }

// listen sets the reference.
func (p *playout) listen(r *reference) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.SetHeld(p.buffer)
	p.reference = r
}
