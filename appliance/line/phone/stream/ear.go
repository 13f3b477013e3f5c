package stream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

const (
	// minPause is how long nothing has to come for the caller to count as silent. Retransmissions delay
	// sound by less than that.
	minPause = 200 * time.Millisecond
	// maxPause bounds the silence that is inserted for one pause. Whatever a silence can end has ended by
	// then; the session's own clock does the rest.
	maxPause = 3 * time.Second
	// maxPieces bounds the pieces that wait for a busy chat: 5 s. The provider waits then.
	maxPieces = 250
)

// ear passes the caller's sound on.
type ear struct {
	pieces    chan piece
	listening atomic.Bool

	mu       sync.Mutex
	receiver receiver
}

func newEar() (*ear, error) {
	d, err := audio.NewPhoneDecoder(audio.MuLaw, engine.SpeechRateHz)
	if err != nil {
		return nil, err
	}
	return &ear{
		pieces:   make(chan piece, maxPieces),
		receiver: receiver{decoder: d},
	}, nil
}

// take queues a piece. It waits while the queue is full, unless nobody listens yet.
func (e *ear) take(p piece, gone context.Context) {
	p.at = time.Now()
	select {
	case e.pieces <- p:
		return
	default:
	}
	if !e.listening.Load() {
		return
	}
	select {
	case e.pieces <- p:
	case <-gone.Done():
	}
}

// run passes sound and silence to hear until the call is over.
func (e *ear) run(gone context.Context, hear func(pcm []float32)) {
	e.listening.Store(true)
	pause := time.NewTimer(time.Hour)
	pause.Stop() // there is no silence before the first piece
	defer pause.Stop()
	var since time.Time // time of the newest sound or silence
	var silent time.Duration
	for {
		var pcm []float32
		select {
		case <-gone.Done():
			return
		case p := <-e.pieces:
			pcm = e.push(p)
			since, silent = time.Now(), 0
			pause.Reset(minPause)
		case <-pause.C:
			passed := time.Since(since)
			pcm = e.silence(passed)
			since, silent = since.Add(passed), silent+passed
			if silent < maxPause {
				pause.Reset(minPause)
			}
		}
		if len(pcm) > 0 {
			hear(pcm)
		}
	}
}

func (e *ear) push(p piece) []float32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.receiver.push(p)
}

func (e *ear) silence(d time.Duration) []float32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.receiver.silence(d)
}

func (e *ear) stats() contract.PhoneMedia {
	e.mu.Lock()
	defer e.mu.Unlock()
	return contract.PhoneMedia{
		Codec:           audio.MuLaw.String(),
		PacketsReceived: e.receiver.received,
		PacketsLost:     e.receiver.lost,
		JitterMS:        float64(e.receiver.jitter) / float64(time.Millisecond),
	}
}
