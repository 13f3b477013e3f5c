// Package media carries the sound of one telephone call: it describes and negotiates the call
// in SDP, sends and receives RTP packets, plain or encrypted, and passes on sound and key
// presses. It knows nothing of SIP, which carries the descriptions.
package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/contract"
	"parley/appliance/line/rtp"
)

// The errors of a Session.
var (
	// ErrNoPorts means that all RTP ports are in use.
	ErrNoPorts = errors.New("all RTP ports are in use")
	// ErrNoCodec means that a description has no sound that both sides can send.
	ErrNoCodec = errors.New("no audio format in common")
	// ErrSDP means that a description cannot be read.
	ErrSDP = errors.New("not a session description (SDP)")
	// ErrNoKeys means that the far end takes no key presses as RTP events.
	ErrNoKeys = errors.New("the far end takes no key presses")
	// ErrClosed means that the session is over.
	ErrClosed = errors.New("the call is over")
)

// Options are the settings of all calls of a box.
type Options struct {
	Ports    Ports
	Listen   netip.Addr // sockets are bound to it; unspecified: all addresses, IPv4 and IPv6
	External netip.Addr // see LocalAddress
	// Secure makes offers ask for encryption by SDES (RTP/SAVP). It is only as secret as the
	// signalling that carries the keys.
	Secure bool
	Clock  rtp.Clock // of all calls
	Log    *slog.Logger
}

// Session is the sound of one call. Its methods may be called from any goroutine; Play and
// HeldBack from one at a time.
type Session struct {
	log     *slog.Logger
	sockets *sockets
	in      *receiver
	out     *sender
	round   rtp.RoundTrip

	negotiation sync.Mutex // one exchange of descriptions at a time; guards local
	local       local

	agreed  atomic.Pointer[agreement] // nil before the first
	target  atomic.Pointer[targets]   // nil before the first agreement
	heard   atomic.Int64              // time of the newest valid packet, in nanoseconds
	onHold  atomic.Pointer[func(bool)]
	listens atomic.Pointer[listener]
	plays   atomic.Pointer[func(id string, upTo time.Duration)]

	pressing  sync.Mutex // one Press at a time
	done      context.Context
	close     context.CancelFunc
	silent    chan struct{}
	silenced  sync.Once
	startOnce sync.Once
	workers   sync.WaitGroup
}

// targets are the addresses to which packets are sent.
type targets struct{ rtp, rtcp netip.AddrPort }

// listener takes what the far end says and presses.
type listener struct {
	hear  func(pcm []float32)
	press func(key rune)
}

// New opens the ports of a call. peer is the address to which its signalling goes. The error
// is ErrNoPorts if no port is free.
func New(o Options, peer netip.Addr) (*Session, error) {
	address, err := LocalAddress(peer, o.Listen, o.External)
	if err != nil {
		return nil, fmt.Errorf("choosing the address of a call: %w", err)
	}
	sockets, err := o.Ports.open(o.Listen)
	if err != nil {
		return nil, err
	}
	s := &Session{
		log:     o.Log,
		sockets: sockets,
		local:   newLocal(address, sockets.port, peer, o),
		silent:  make(chan struct{}),
	}
	s.done, s.close = context.WithCancel(context.Background())
	s.in = newReceiver(s)
	s.out = newSender(s, o.Clock)
	s.workers.Go(s.in.run) // before the first agreement too: a ringing tone is not to wait in the socket
	s.workers.Go(s.in.runReports)
	return s, nil
}

// start begins to send and to pass on sound, at the first agreement.
func (s *Session) start() {
	s.startOnce.Do(func() {
		s.workers.Go(s.in.runListener)
		s.workers.Go(s.out.run)
	})
}

// Close ends the call. It waits for nothing that the listener does.
func (s *Session) Close() {
	if s.done.Err() != nil {
		return
	}
	s.out.goodbye()
	s.close()
	s.sockets.close()
}

// Listen passes what the far end says and presses from now on: sound without gaps, mono at
// engine.SpeechRateHz, which hear owns, and keys as 0 to 9, *, # and A to D. hear may block.
// Before the first call of Listen sound is dropped; a later one replaces the listener.
func (s *Session) Listen(hear func(pcm []float32), press func(key rune)) {
	s.listens.Store(&listener{hear, press})
}

// OnPlayed sets who learns what the far end has heard of a sentence.
func (s *Session) OnPlayed(played func(id string, upTo time.Duration)) { s.plays.Store(&played) }

func (s *Session) played(id string, upTo time.Duration) {
	if played := s.plays.Load(); played != nil {
		(*played)(id, upTo)
	}
}

// Play queues a piece of a sentence, as connection.Line.Play does.
func (s *Session) Play(c contract.Sound) error {
	if s.done.Err() != nil {
		return ErrClosed
	}
	return s.out.play(c)
}

// HeldBack returns the number of samples that wait for more.
func (s *Session) HeldBack() int { return s.out.heldBack() }

// Unsent returns 0, because the session reports what was played.
func (s *Session) Unsent() time.Duration { return 0 }

// Cut drops the sound that was not sent.
func (s *Session) Cut() { s.out.cut() }

// Drained returns a channel that is closed when the far end has heard what was played so far,
// as far as that is known, or when the call is over.
func (s *Session) Drained() <-chan struct{} {
	heard := make(chan struct{})
	sent := s.out.drained()
	go func() {
		defer close(heard)
		select {
		case <-sent:
		case <-s.done.Done():
			return
		}
		select {
		case <-time.After(s.round.Delay()):
		case <-s.done.Done():
		}
	}()
	return heard
}

// Held reports whether the far end holds the box: it takes no sound.
func (s *Session) Held() bool {
	a := s.agreed.Load()
	return a != nil && !a.sends
}

// OnHold sets who learns that the far end holds the box, or takes it back.
func (s *Session) OnHold(changed func(held bool)) { s.onHold.Store(&changed) }

// Silent returns a channel that is closed when nothing has come from the far end for
// silenceLimit, although it does not hold the box.
func (s *Session) Silent() <-chan struct{} { return s.silent }

// silenceLimit is how long a far end may send nothing. One that is silent by agreement still
// sends reports every five seconds.
const silenceLimit = 20 * time.Second

// note records a valid packet of the far end.
func (s *Session) note(now time.Time) { s.heard.Store(now.UnixNano()) }

// checkSilence closes the channel of Silent when it is time.
func (s *Session) checkSilence(a *agreement, now time.Time) {
	if !a.sends || !a.hears {
		s.note(now)
		return
	}
	if now.Sub(time.Unix(0, s.heard.Load())) > silenceLimit {
		s.silenced.Do(func() { close(s.silent) })
	}
}

// Stats returns the figures of the call so far.
func (s *Session) Stats() contract.PhoneMedia {
	st := s.in.stats()
	if a := s.agreed.Load(); a != nil {
		st.Codec, st.Encrypted = a.codec.name, a.security != plain
	}
	st.RoundTripMS = float64(s.round.Measured()) / float64(time.Millisecond)
	return st
}
