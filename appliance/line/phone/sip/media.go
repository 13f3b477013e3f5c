package sip

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"time"

	"parley/appliance/contract"
)

// Media is the sound of one call, as this package uses it and hands it on with a Call. It
// survives new offers during the call.
type Media interface {
	// Offer returns an SDP offer. Nothing changes until Accept.
	Offer() ([]byte, error)
	// Answer answers an SDP offer; with an error nothing changes.
	Answer(offer []byte) ([]byte, error)
	// Accept takes the answer to the last offer.
	Accept(answer []byte) error
	// Silent is closed when nothing has come from the far end for so long that it is lost.
	Silent() <-chan struct{}
	// Close may be called again.
	Close()

	// What users of a Call do with its sound.
	Listen(hear func(pcm []float32), press func(key rune))
	Play(contract.Sound) error
	HeldBack() int
	Unsent() time.Duration
	Cut()
	Drained() <-chan struct{}
	OnPlayed(func(id string, upTo time.Duration))
	Relay(pcm []float32)
	Press(ctx context.Context, digits string) error
	OnHold(func(held bool))
	// Held reports whether the far end holds the box.
	Held() bool
	Stats() contract.PhoneMedia
}

// guarded is a Media in which no description of a peer causes a panic.
type guarded struct {
	Media
	log *slog.Logger
}

// openMedia opens the sound of a call.
func (e *Endpoint) openMedia(peer netip.Addr, secure bool) (Media, error) {
	m, err := e.Media(peer, secure)
	if err != nil {
		return nil, err
	}
	return guarded{m, e.log}, nil
}

// Answer implements Media.
func (g guarded) Answer(offer []byte) (answer []byte, err error) {
	defer g.catch(&err)
	return g.Media.Answer(offer)
}

// Accept implements Media.
func (g guarded) Accept(answer []byte) (err error) {
	defer g.catch(&err)
	return g.Media.Accept(answer)
}

func (g guarded) catch(err *error) {
	if p := recover(); p != nil {
		g.log.Error("sip: a description of sound caused a panic", "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("sip: the description of sound cannot be read")
	}
}
