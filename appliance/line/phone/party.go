package phone

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/contract"
)

// party is one person on the telephone: a leg, and who hears it at the moment.
type party struct {
	leg      Leg
	listener atomic.Pointer[listener] // nil: nobody
	guard    func(work func())        // runs a callback of the leg, which may panic
	sound    sync.Mutex               // held while sound is queued: that of a chat, or other
}

// listener gets what a party says and presses. An error of hear ends its listening.
type listener struct {
	hear  func(pcm []float32) error
	press func(key rune)
}

// queueIn returns a listener's press that queues the keys. Those without room are lost: nobody presses so many at
// once.
func queueIn(keys chan<- rune) func(key rune) {
	return func(key rune) {
		select {
		case keys <- key:
		default:
		}
	}
}

// newParty starts to listen to a leg, for nobody.
func newParty(leg Leg, guard func(work func())) *party {
	p := &party{leg: leg, guard: guard}
	leg.Listen(p.hear, p.press)
	return p
}

func (p *party) hear(pcm []float32) {
	p.guard(func() {
		if l := p.listener.Load(); l != nil && l.hear(pcm) != nil {
			p.listener.CompareAndSwap(l, nil)
		}
	})
}

func (p *party) press(key rune) {
	p.guard(func() {
		if l := p.listener.Load(); l != nil {
			l.press(key)
		}
	})
}

// listen makes l the one who hears the party.
func (p *party) listen(l listener) { p.listener.Store(&l) }

// ignore lets nobody hear the party.
func (p *party) ignore() { p.listener.Store(nil) }

// play queues sound.
func (p *party) play(s contract.Sound) error {
	p.sound.Lock()
	defer p.sound.Unlock()
	return p.leg.Play(s)
}

// speak says a text outside of a chat, and returns when it was heard.
func (p *party) speak(ctx context.Context, v Voice, text string) error {
	index := 0
	play := func(pcm []float32, last bool) error {
		s := contract.Sound{Index: index, PCM: pcm, Last: last}
		index++
		return p.play(s)
	}
	if err := v.Speak(ctx, text, func(pcm []float32) error { return play(pcm, false) }); err != nil {
		return err
	}
	if err := play(nil, true); err != nil {
		return err
	}
	return p.drain(ctx)
}

// drainTimeout is how long queued sound may take to be heard, 30 s: a chat queues at most five seconds, or
// what its client asked for, up to that. A far end that holds the box hears nothing meanwhile.
const drainTimeout = 30 * time.Second

// drain waits until all sound was heard, the call is over, ctx ends or drainTimeout passes.
func (p *party) drain(ctx context.Context) error {
	late := time.NewTimer(drainTimeout)
	defer late.Stop()
	select {
	case <-p.leg.Drained():
	case <-p.leg.Done():
	case <-late.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
