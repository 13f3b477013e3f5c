package sip

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
)

// decideTimeout is how long an invitation may stay undecided: proxies give up after three
// minutes (RFC 3261, timer C).
const decideTimeout = 3 * time.Minute

// Errors of an Invitation.
var (
	// ErrOver: the caller has given up, or the invitation has been decided.
	ErrOver = errors.New("sip: the invitation is over")
	// ErrNoCodec: the caller offers no sound that the box can take; it has been told (488).
	ErrNoCodec = errors.New("sip: the offer has no sound that the box can take")
	// ErrNoMedia: the box has no port left for sound; the caller has been told (503).
	ErrNoMedia = errors.New("sip: no sound could be opened")
)

// An Invitation is a call in that has not been decided. 100 Trying has been sent.
type Invitation struct {
	// From is the caller's number as the trunk gives it, empty when it is withheld. To is the
	// number that was called.
	From, To string
	Trunk    string

	call  *Call
	t     *transaction
	offer []byte // SDP; nil: the box makes the offer

	mu      sync.Mutex
	over    chan struct{}
	decided bool
	media   Media
	answer  []byte
	cancel  context.CancelFunc // of the context of invited
}

// Done is closed when the caller has given up, or when the invitation has been decided.
func (i *Invitation) Done() <-chan struct{} { return i.over }

// decide reports whether the caller of it decides the invitation: the first one does.
func (i *Invitation) decide() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.decided {
		return false
	}
	i.decided = true
	return true
}

// finish ends the invitation after its decision.
func (i *Invitation) finish() {
	close(i.over)
	i.cancel()
}

// prepare opens the sound of the call and answers the offer. With an error the caller has
// been told.
func (i *Invitation) prepare() error {
	status, err := i.open()
	switch status {
	case 0:
	case sip.StatusServiceUnavailable:
		i.refuse(status, retryFull)
	default:
		i.refuse(status, 0)
	}
	return err
}

// open does the work of prepare, and returns the status to refuse the call with, or 0.
func (i *Invitation) open() (status int, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.decided:
		return 0, ErrOver
	case i.media != nil:
		return 0, nil
	}
	m, err := i.call.endpoint.openMedia(i.t.flow.remote.Addr(), false)
	if err != nil {
		return sip.StatusServiceUnavailable, fmt.Errorf("%w: %w", ErrNoMedia, err)
	}
	if i.offer != nil {
		if i.answer, err = m.Answer(i.offer); err != nil {
			m.Close()
			return sip.StatusNotAcceptableHere, fmt.Errorf("%w: %w", ErrNoCodec, err)
		}
	}
	i.media = m
	return 0, nil
}

// refuse rejects the invitation; an error means that it is over anyway.
func (i *Invitation) refuse(status int, retryAfter time.Duration) { _ = i.Reject(status, retryAfter) }

// Ring tells the caller that the box can take the call (180). The response is repeated
// until it is confirmed, where the caller asks for that (RFC 3262).
func (i *Invitation) Ring() error {
	if err := i.prepare(); err != nil {
		return err
	}
	return i.call.ring(i.t)
}

// Reject refuses the call with a status of 300 or above. retryAfter says when the caller
// may try again; 0: it is not said.
func (i *Invitation) Reject(status int, retryAfter time.Duration) error {
	if status < 300 || status > 699 {
		return fmt.Errorf("sip: the status is %d; expected 300 to 699", status)
	}
	if !i.decide() {
		return ErrOver
	}
	defer i.finish()
	var headers []sip.Header
	if seconds := int(retryAfter.Seconds()); seconds > 0 {
		headers = append(headers, sip.NewHeader("Retry-After", strconv.Itoa(seconds)))
	}
	if status == sip.StatusNotAcceptableHere {
		headers = append(headers, acceptSDP())
	}
	err := i.t.respond(status, nil, headers...)
	i.drop(nil)
	return err
}

// drop releases what the invitation holds.
func (i *Invitation) drop(why error) {
	i.mu.Lock()
	m := i.media
	i.mu.Unlock()
	if m != nil {
		m.Close()
	}
	i.call.end(why)
}

// canceled answers the INVITE after its CANCEL (RFC 3261, section 9.2).
func (i *Invitation) canceled() {
	if !i.decide() {
		return
	}
	defer i.finish()
	_ = i.t.respond(sip.StatusRequestTerminated, nil)
	i.drop(nil)
}

// Answer answers the call. Where the box makes the offer, it waits for the caller's answer,
// at most until ctx ends.
func (i *Invitation) Answer(ctx context.Context) (*Call, error) {
	if err := i.prepare(); err != nil {
		return nil, err
	}
	if !i.decide() {
		return nil, ErrOver
	}
	defer i.finish()
	c, body := i.call, i.answer
	if i.offer == nil {
		var err error
		if body, err = i.media.Offer(); err != nil {
			_ = i.t.respond(sip.StatusInternalServerError, nil)
			i.drop(err)
			return nil, fmt.Errorf("sip: %w", err)
		}
	}
	c.establish(i.media)
	a, err := c.accept(i.t, body, i.offer == nil)
	if err != nil {
		c.end(ErrLost)
		return nil, err
	}
	if i.offer != nil {
		return c, nil
	}
	select {
	case <-a.settled:
	case <-c.done:
	case <-ctx.Done():
		c.HangUp()
		return nil, context.Cause(ctx)
	}
	if err := a.failure(); err != nil {
		return nil, err
	}
	select {
	case <-c.done:
		return nil, ErrOver
	default:
		return c, nil
	}
}

// wait rejects the invitation if nobody decides it.
func (i *Invitation) wait(expires time.Duration) {
	t := time.NewTimer(expires)
	defer t.Stop()
	select {
	case <-t.C:
		if expires < decideTimeout {
			i.canceled() // the caller said that it would wait no longer
			return
		}
		i.refuse(sip.StatusTemporarilyUnavailable, 0)
	case <-i.over:
	}
}
