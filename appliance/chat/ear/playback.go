package ear

import (
	"slices"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// playbackMemory is how long the assistant's loudness is stored while no one listens: a client may send only
// text for as long as a chat lasts, and then speak. Sound arrives a few seconds late at most.
const playbackMemory = 30 * time.Second

// playback holds how loud the assistant was, and when. The publisher of sound writes it and the ear reads it;
// neither holds the lock for longer than it takes to analyse a clip, 5 ms. A minute of sound takes 150 KB; at
// most half a minute of played sound is stored.
type playback struct {
	mu       sync.Mutex
	end      time.Duration // when everything that left has been played
	heldBack []float32     // sound that the line holds back
	rest     []float32     // the end of what left, less than a hop
	analysis analysis
	pieces   []playedPiece // in order; old ones are dropped
}

// playedPiece is the loudness of a piece of sound, hop by hop, and when it begins to play.
type playedPiece struct {
	begin time.Duration
	hops  []bands
}

func (p playedPiece) end() time.Duration { return p.begin + time.Duration(len(p.hops))*echoHopTime }

// Played reports that by a time the line was given a piece of the assistant's sound (mono, at
// contract.OutputRateHz, read-only), and holds back the newest heldBack samples. The rest plays when it leaves,
// after what left before. An empty pcm means that some sound was released. Any goroutine may call it.
func (e *Ear) Played(at time.Duration, pcm []float32, heldBack int) {
	e.echo.playback.take(at, pcm, heldBack)
}

// Cut reports that the assistant fell silent at a time. Any goroutine may call it.
func (e *Ear) Cut(at time.Duration) { e.echo.playback.cut(at) }

func (p *playback) take(at time.Duration, pcm []float32, heldBack int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heldBack = append(p.heldBack, pcm...)
	if n := len(p.heldBack) - heldBack; n > 0 {
		p.add(at, p.heldBack[:n])
		p.heldBack = append(p.heldBack[:0], p.heldBack[n:]...)
	}
}

// add adds sound that has left for the client.
func (p *playback) add(at time.Duration, pcm []float32) {
	if at > p.end {
		p.end, p.rest, p.analysis = at, p.rest[:0], analysis{}
	}
	begin := p.end - time.Duration(len(p.rest))*time.Second/engine.SpeechRateHz
	p.end += time.Duration(len(pcm)) * time.Second / contract.OutputRateHz
	const step = contract.OutputRateHz / engine.SpeechRateHz
	for ; len(pcm) >= step; pcm = pcm[step:] {
		// The mean of neighbours is good enough for bands up to 4 kHz.
		p.rest = append(p.rest, (pcm[0]+pcm[1]+pcm[2])/step)
	}
	hops := make([]bands, 0, len(p.rest)/echoHop)
	n := 0
	for ; n+echoHop <= len(p.rest); n += echoHop {
		hops = append(hops, p.analysis.hop(p.rest[n:n+echoHop]))
	}
	p.rest = append(p.rest[:0], p.rest[n:]...)
	p.forget(at - playbackMemory)
	p.pieces = append(p.pieces, playedPiece{begin, hops})
}

func (p *playback) cut(at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end, p.heldBack, p.rest, p.analysis = min(p.end, at), nil, p.rest[:0], analysis{}
	p.pieces = slices.DeleteFunc(p.pieces, func(s playedPiece) bool { return s.begin >= at })
	if n := len(p.pieces); n > 0 && p.pieces[n-1].end() > at {
		s := &p.pieces[n-1]
		s.hops = s.hops[:(at-s.begin)/echoHopTime]
	}
}

// forget drops what had been played by a time.
func (p *playback) forget(by time.Duration) {
	p.pieces = slices.DeleteFunc(p.pieces, func(s playedPiece) bool { return s.end() < by })
}

// near reports whether an echo of the playback may be heard at a time.
func (p *playback) near(at time.Duration) bool {
	const (
		fading   = echoLags*echoHopTime + 300*time.Millisecond // longest lag, and the room's reverberation
		compared = fading + echoWindow*echoHopTime
	)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(at - compared)
	return slices.ContainsFunc(p.pieces, func(s playedPiece) bool { return s.begin <= at && at <= s.end()+fading })
}

// until returns the n hops that play before a hop of the chat. Zero is silence.
func (p *playback) until(end int64, n int) []bands {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]bands, n)
	first := time.Duration(end-int64(n)) * echoHopTime
	for _, s := range p.pieces {
		for i := max(0, int((s.begin-first+echoHopTime-1)/echoHopTime)); i < n; i++ {
			at := int((first + time.Duration(i)*echoHopTime - s.begin) / echoHopTime)
			if at >= len(s.hops) {
				break
			}
			out[i] = s.hops[at]
		}
	}
	return out
}
