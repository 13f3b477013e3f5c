package ear

import (
	"slices"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// playing is how loud the assistant is, and when. The session writes it and the
// ear reads it; neither holds it for longer than a list is looked at. A minute
// of sound takes 150 KB.
type playing struct {
	// Of the session.
	end      time.Duration // of all that was sent
	rest     []float32     // the last of it, less than a hop
	analysis analysis

	mu     sync.Mutex
	pieces []sounding // in order; those long past are given up
}

// sounding is a piece of sound, as the loudness of its hops, and when it begins
// to play.
type sounding struct {
	begin time.Duration
	hops  []bands
}

func (s sounding) end() time.Duration { return s.begin + time.Duration(len(s.hops))*echoHopTime }

// Playing tells that a piece of the assistant's sound (mono, at
// contract.OutputRateHz, not changed here) was sent at a time: it plays from then
// on, or after the one before. Playing and Cut are called by one goroutine.
func (e *Ear) Playing(at time.Duration, pcm []float32) { e.echo.playing.add(at, pcm) }

// Cut tells that the assistant fell silent at a time.
func (e *Ear) Cut(at time.Duration) { e.echo.playing.cut(at) }

func (p *playing) add(at time.Duration, pcm []float32) {
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pieces = append(p.pieces, sounding{begin, hops})
}

func (p *playing) cut(at time.Duration) {
	p.end, p.rest, p.analysis = min(p.end, at), p.rest[:0], analysis{}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pieces = slices.DeleteFunc(p.pieces, func(s sounding) bool { return s.begin >= at })
	if n := len(p.pieces); n > 0 && p.pieces[n-1].end() > at {
		s := &p.pieces[n-1]
		s.hops = s.hops[:(at-s.begin)/echoHopTime]
	}
}

// near reports whether an echo of what is played may be heard at a time.
func (p *playing) near(at time.Duration) bool {
	const fading = echoLags*echoHopTime + 300*time.Millisecond // and the room behind it
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.pieces) > 0 && p.pieces[0].end()+fading < at {
		p.pieces = slices.Delete(p.pieces, 0, 1)
	}
	return len(p.pieces) > 0 && p.pieces[0].begin <= at
}

// at is the hop that plays at a time; all zero is silence.
func (p *playing) at(when time.Duration) bands {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.pieces {
		if s.begin <= when && when < s.end() {
			return s.hops[(when-s.begin)/echoHopTime]
		}
	}
	return bands{}
}
