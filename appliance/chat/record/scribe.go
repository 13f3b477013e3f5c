// Package record tells what happens in a chat: a fact comes in, and out of it
// come the row of the history and the message for the client, in that order.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/store"
)

const (
	// queueLength is how many messages may wait to be written and sent: a long
	// reply is some twenty. A line that lets more pile up is too slow.
	queueLength = 256
	// batchLength is how many of them share a commit. What waits beyond that
	// stays in the queue, where it counts.
	batchLength = 64
)

// Client is told what happens.
type Client interface {
	// Send gives the client a message; an error means that it cannot be reached
	// any more.
	Send(ctx context.Context, m contract.ServerMessage) error
	// Play gives the client sound to play after the sound before.
	Play(ctx context.Context, s contract.Sound) error
	// Cut drops what was given to Play and has not left.
	Cut()
}

// Chat says which chat a Scribe writes of.
type Chat struct {
	ID        string
	RequestID string    // errors name it
	Begun     time.Time // times in the history count from it
}

// A Scribe writes what happens into the history and then tells the client, in
// order. What waits is written at once, so a slow disk costs one commit and
// not one a message.
type Scribe struct {
	chat    Chat
	records Records
	client  Client
	queue   chan outgoing
	failed  func(error) // called once, when nothing more can be written or sent

	sounds int64        // told so far; of who tells
	cut    atomic.Int64 // the newest sound that is not to be heard any more
}

// NewScribe returns the scribe of a chat. failed is called once, when nothing
// more can be written or sent; of the former the error is an ErrUnwritten.
func NewScribe(c Chat, r Records, to Client, failed func(error)) *Scribe {
	return &Scribe{chat: c, records: r, client: to, queue: make(chan outgoing, queueLength), failed: failed}
}

// Tell takes a fact without ever waiting; false means that too much waits.
// Messages carry the id that the client chose for its session, if any.
func (s *Scribe) Tell(t turn.Tell, customSessionID string) bool {
	o := s.chat.outgoing(t)
	if o.message != nil && customSessionID != "" {
		o.message = o.message.WithCustomSessionID(customSessionID)
	}
	if o.sound != nil {
		o.sound.CustomSessionID = customSessionID
		s.sounds++
		o.number = s.sounds
	}
	select {
	case s.queue <- o:
		return true
	default:
		return false
	}
}

// Cut takes back the sound that was told and has not reached the client. It is
// called by who calls Tell.
func (s *Scribe) Cut() {
	s.cut.Store(s.sounds)
	s.client.Cut()
}

// Close says that nothing more happens: Run returns when all is told.
func (s *Scribe) Close() { close(s.queue) }

// ErrUnwritten means that the history cannot be written.
var ErrUnwritten = errors.New("writing the history")

// Run works until the queue is closed. After a failure it only empties it, and
// passes on the error by which a client learns of it.
func (s *Scribe) Run(ctx context.Context) {
	var batch []outgoing
	for first := range s.queue {
		batch = s.gather(append(batch[:0], first))
		if err := s.deliver(ctx, batch); err != nil {
			s.failed(err)
			for o := range s.queue {
				if last, ok := o.message.(contract.WebSocketError); ok && errors.Is(err, ErrUnwritten) {
					_ = s.client.Send(ctx, last) // who is gone too needs no telling
				}
			}
			return
		}
	}
}

// gather adds what waits already.
func (s *Scribe) gather(batch []outgoing) []outgoing {
	for len(batch) < batchLength {
		select {
		case o, ok := <-s.queue:
			if !ok {
				return batch
			}
			batch = append(batch, o)
		default:
			return batch
		}
	}
	return batch
}

func (s *Scribe) deliver(ctx context.Context, batch []outgoing) error {
	if err := s.write(ctx, batch); err != nil {
		return fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	for _, o := range batch {
		if err := s.send(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scribe) send(ctx context.Context, o outgoing) error {
	switch {
	case o.sound != nil && o.number > s.cut.Load():
		if err := s.client.Play(ctx, *o.sound); err != nil {
			return fmt.Errorf("playing: %w", err)
		}
		if o.number <= s.cut.Load() { // it came to the client while that was told to drop it
			s.client.Cut()
		}
	case o.message != nil:
		if err := s.client.Send(ctx, o.message); err != nil {
			return fmt.Errorf("sending %s: %w", o.message.MessageType(), err)
		}
	}
	return nil
}

// write puts what is new into the history, and then changes what is there.
func (s *Scribe) write(ctx context.Context, batch []outgoing) error {
	var events, amended []store.Event
	metadata := ""
	for _, o := range batch {
		if o.record != nil {
			events = append(events, withID(*o.record))
		}
		if o.amended != nil {
			amended = append(amended, *o.amended)
		}
		metadata = cmp.Or(o.metadata, metadata)
	}
	var err error
	if len(events) > 0 {
		err = s.records.AppendEvents(ctx, s.chat.ID, events)
	}
	if err == nil && len(amended) > 0 {
		err = s.records.AmendEvents(ctx, s.chat.ID, amended)
	}
	if err == nil && metadata != "" {
		err = s.records.SetMetadata(ctx, s.chat.ID, metadata)
	}
	return err
}

// End returns what writes how the chat ended.
func (s *Scribe) End(status contract.ChatStatus, at time.Time) func(context.Context) error {
	last := withID(store.Event{Type: store.ChatEnd, Role: store.System, AtMS: at.UnixMilli(), MessageText: string(status)})
	return func(ctx context.Context) error {
		return s.records.EndChat(ctx, s.chat.ID, store.Status(status), at.UnixMilli(), last)
	}
}

// withID names an event that nothing on the wire has named.
func withID(e store.Event) store.Event {
	if e.ID == "" {
		e.ID = contract.NewID()
	}
	return e
}
