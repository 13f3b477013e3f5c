package speaker

import (
	"errors"
	"sync"
	"time"

	"parley/appliance/contract"
)

const (
	// firstHold is how much sound the loudspeaker is asked to hold at first, 80 ms: it
	// is heard that much later, and after an interruption. Each time it has run dry
	// mostDry times within dryWithin that is doubled, as sound servers do for
	// themselves, up to mostHold: a machine that is busy with a model leaves the thread
	// that fills it waiting for tens of milliseconds.
	firstHold, mostHold = 80 * time.Millisecond, 240 * time.Millisecond
	mostDry             = 3
	dryWithin           = time.Minute
	// longestBacklog is how much sound may wait to be played: half an hour, which
	// is the longest chat: 345 MB, and nobody's answer is a hundredth of it.
	longestBacklog = 30 * 60 * rateHz
	// fade is over how many samples sound ends that is cut, 5 ms: a click is
	// heard where it ends at once.
	fade = rateHz / 200
	// reportFirst is how much of a sentence has been handed over when its first
	// sound has surely been heard, and reportEvery how often the session is told
	// more: it goes on counting by itself.
	reportFirst = rateHz / 5
	reportEvery = rateHz
)

var errBacklog = errors.New("half an hour of sound waits to be played")

// piece is sound that is to be played.
type piece struct {
	id    string // of the sentence; empty: of a cue
	from  int    // of the sentence's samples
	pcm   []float32
	given int // of pcm, to the device
}

// spoken is a stretch of a sentence that the device was given.
type spoken struct {
	id   string
	from int   // of the sentence's samples
	at   int64 // of all samples that the device was given
	n    int
}

// playout is what is to be played, and how far that has come. The device's thread
// takes from it.
type playout struct {
	mu      sync.Mutex
	queue   []piece
	waiting int // samples in it
	tail    []float32
	given   int64     // samples that the device was given, silence too
	filled  time.Time // when it was given the newest
	newest  spoken    // the newest stretch
	told    int       // of its sentence, that the session was told of
	drained chan struct{}

	holds time.Duration // what the device holds, and how long a sample takes from the hand-over until it is heard
	wants time.Duration // what it is to hold, once nothing is played
	dry   []time.Time   // when it ran dry lately
	sound int64         // the number of the newest sample that was no silence

	news  chan struct{} // there is something to tell the session
	again chan struct{} // the device is to be opened anew, to hold more
	after *reference    // takes what the device was given; listen sets it
}

func newPlayout() *playout {
	p := &playout{
		news:    make(chan struct{}, 1),
		again:   make(chan struct{}, 1),
		drained: make(chan struct{}),
		holds:   firstHold,
		wants:   firstHold,
	}
	close(p.drained)
	return p
}

// add queues sound behind what waits.
func (p *playout) add(id string, from int, pcm []float32) error {
	if len(pcm) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting+len(pcm) > longestBacklog {
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

// empty drops all that waits. p.mu is held.
func (p *playout) empty() {
	if p.waiting > 0 {
		close(p.drained)
	}
	p.queue, p.waiting = nil, 0
}

// fadeOut is the beginning of pcm, ever softer.
func fadeOut(pcm []float32) []float32 {
	out := make([]float32, min(fade, len(pcm)))
	for i := range out {
		out[i] = pcm[i] * float32(len(out)-i) / float32(len(out))
	}
	return out
}

// fill writes what comes next, and silence behind it. It is the device's callback.
func (p *playout) fill(out []float32) {
	p.mu.Lock()
	now := time.Now()
	p.noteDry(now)
	n := copy(out, p.tail)
	p.tail = p.tail[n:]
	for n < len(out) && len(p.queue) > 0 {
		n += p.take(out[n:], p.given+int64(n))
	}
	clear(out[n:])
	if n > 0 {
		p.sound = p.given + int64(n)
	}
	p.given += int64(len(out))
	p.filled = now
	if p.wants > p.holds && p.given-p.sound > samplesIn(p.holds) {
		ring(p.again)
	}
	after := p.after
	p.mu.Unlock()
	if after != nil {
		after.played(out)
	}
}

// noteDry takes down that the device has surely had nothing left to play, where it
// asks for more so long after it did last. p.mu is held.
func (p *playout) noteDry(now time.Time) {
	if p.filled.IsZero() || now.Sub(p.filled) <= p.holds {
		return
	}
	for len(p.dry) > 0 && now.Sub(p.dry[0]) > dryWithin {
		p.dry = p.dry[1:]
	}
	if p.dry = append(p.dry, now); len(p.dry) >= mostDry {
		p.dry, p.wants = nil, min(2*p.holds, mostHold)
	}
}

// hold is how much a device is to hold that is about to be opened.
func (p *playout) hold() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds, p.filled, p.dry = p.wants, time.Time{}, nil
	select { // it is opened anew
	case <-p.again:
	default:
	}
	if p.after != nil {
		p.after.SetHeld(p.holds)
	}
	return p.holds
}

// wanted is how much the device is to hold when it is opened next.
func (p *playout) wanted() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wants
}

// delay is how long a sample takes from the hand-over until it is heard.
func (p *playout) delay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holds
}

// take gives the device samples of the first piece, the first of them as number at
// of all. p.mu is held.
func (p *playout) take(out []float32, at int64) int {
	first := &p.queue[0]
	n := copy(out, first.pcm[first.given:])
	if first.id != "" {
		p.note(spoken{
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
		p.tell()
	}
	return n
}

// note takes what the device was given of a sentence.
func (p *playout) note(s spoken) {
	if p.newest.id != s.id {
		p.told = 0
		p.tell()
	}
	p.newest = s
	end := s.from + s.n
	if p.told < reportFirst && end >= reportFirst || end-p.told >= reportEvery {
		p.told = end
		p.tell()
	}
}

func (p *playout) tell() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// progress is how much of which sentence has been heard by now; an empty id: of
// none.
func (p *playout) progress(now time.Time) (id string, upTo time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest.id == "" {
		return "", 0
	}
	heard := p.given - samplesIn(p.holds)
	if since := now.Sub(p.filled); since > 0 {
		heard += samplesIn(min(since, p.holds))
	}
	n := p.newest
	of := n.from + int(max(int64(-n.from), min(heard-n.at, int64(n.n))))
	return n.id, time.Duration(of) * time.Second / rateHz
}

func samplesIn(d time.Duration) int64 { return int64(d) * rateHz / int64(time.Second) }

// empties is closed when nothing waits any more; what the device holds is heard
// for delay from then on.
func (p *playout) empties() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drained
}

// forget drops everything, for another conversation.
func (p *playout) forget() {
	p.cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest, p.told = spoken{}, 0
}

// play queues a piece of a sentence; sent is how much of it was queued before.
func (p *playout) play(s contract.Sound, sent int) error { return p.add(s.ID, sent, s.PCM) }

// listen has a reference take all that the device is given.
func (p *playout) listen(r *reference) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.SetHeld(p.holds)
	p.after = r
}
