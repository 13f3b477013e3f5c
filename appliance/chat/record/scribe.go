// Package record is the one place that tells what happens in a chat: a fact
// comes in, and out of it come the row of the history, the message for the
// client, the sound for line and recording, and the copies for those who listen
// along. What anybody is told of is in the history before.
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

// Recorder keeps the sound of the assistant. Nobody waits for it.
type Recorder interface {
	// Said takes a piece of a sentence that is sent at a time, mono at
	// contract.OutputRateHz, which it must not change.
	Said(at time.Duration, pcm []float32)
	// Cut silences the assistant from a time on.
	Cut(at time.Duration)
}

// Chat says which chat a Scribe writes of.
type Chat struct {
	ID            string
	RequestID     string        // errors name it
	Begun         time.Time     // times in the history count from it
	Notifications Notifications // who is told of it elsewhere
}

// A Scribe writes what happens into the history and then tells the client, in
// order. What waits is written at once, so a slow disk costs one commit and
// not one a message.
type Scribe struct {
	chat     Chat
	records  Records
	client   Client
	recorder Recorder
	failed   func(error) // called once, when nothing more can be written or sent
	work     func()      // has Run called
	queue    queue
	audience audience
	broken   error         // why nothing more is written or sent; of who runs
	playback playbackClock // of who tells

	customSessionID string       // the client's id of it, as webhooks know it; of who tells
	writing         atomic.Bool  // the history is being written
	sounds          int64        // told so far; of who tells
	cutUpTo         atomic.Int64 // the newest sound that is not to be heard any more
}

// NewScribe returns the scribe of a chat. work is called by Tell when there is
// something to tell and nobody is at it: Run is to be called beside. failed is
// called once, when nothing more can be written or sent; of the former the error
// is an ErrUnwritten.
func NewScribe(c Chat, r Records, to Client, kept Recorder, work func(), failed func(error)) *Scribe {
	return &Scribe{
		chat:            c,
		customSessionID: c.Notifications.CustomSessionID,
		records:         r,
		client:          to,
		recorder:        kept,
		work:            work,
		failed:          failed,
	}
}

// What holds up what is to be told, where too much of it waits.
var (
	ErrSlowClient = errors.New("the client reads too slowly")
	ErrSlowDisk   = errors.New("the box writes the history too slowly")
)

// Drained returns what is closed as soon as little enough waits to be told; nil
// where that is so now. Whoever can wait with what it brings does. Any goroutine
// may ask.
func (s *Scribe) Drained() <-chan struct{} { return s.queue.whenShort() }

// Blocked is what holds up what waits to be told: ErrSlowClient or ErrSlowDisk.
func (s *Scribe) Blocked() error {
	if s.writing.Load() {
		return ErrSlowDisk
	}
	return ErrSlowClient
}

// Publish takes a fact without ever waiting; where too much waits it is lost, and
// the error says what holds that up. Messages carry the id that the client chose
// for its session, if any.
func (s *Scribe) Publish(t turn.Publish, customSessionID string) error {
	o := s.chat.outgoing(t, s.playback.startOf(t))
	if o.message != nil && customSessionID != "" {
		o.message = contract.WithCustomSessionID(o.message, customSessionID)
	}
	if o.sound != nil {
		o.sound.CustomSessionID = customSessionID
		s.sounds++
		o.number = s.sounds
	}
	o.notice = s.chat.Notifications.notice(o, s.chat.Begun.Add(t.At), customSessionID)
	if customSessionID != s.customSessionID {
		o.session, s.customSessionID = customSessionID, customSessionID
	}
	unserved, ok := s.queue.put(o)
	if !ok {
		return s.Blocked()
	}
	if unserved {
		s.work()
	}
	if o.sound != nil {
		s.recorder.Said(t.At, o.sound.PCM)
	}
	return nil
}

// Cut says that the assistant fell silent at a time: the sound that was told and
// has not reached the client is taken back. It is called by who calls Tell.
func (s *Scribe) Cut(at time.Duration) {
	s.recorder.Cut(at)
	s.playback.cut(at)
	s.cutUpTo.Store(s.sounds)
	s.dropUnplayed()
}

func (s *Scribe) dropUnplayed() {
	s.client.Cut()
	s.audience.cut()
}

// Listen adds a listener, which gets what the client was told so far (the first
// message and the newest 1,024, or 1 MiB, without interim words), and then what it
// is told; its sound too, if wanted, from now on. A listener that falls 256
// messages or two minutes of sound behind is cut off. Any goroutine may call it.
// The error is ErrOver, or a contract.ErrTooMany where 16 listen.
func (s *Scribe) Listen(sound bool) (*Listener, error) { return s.audience.listen(sound) }

// Over lets the listeners go. It comes after the last Run.
func (s *Scribe) Over() { s.audience.end() }

// ErrUnwritten means that the history cannot be written.
var ErrUnwritten = errors.New("writing the history")

// Run works until nothing waits to be told. After a failure it only empties the
// queue, and passes on the error by which a client learns of it.
func (s *Scribe) Run(ctx context.Context) {
	var batch []outgoing
	for batch = s.queue.take(batch); len(batch) > 0; batch = s.queue.take(batch) {
		if s.broken != nil {
			s.sendLastError(ctx, batch, s.broken)
			continue
		}
		if s.broken = s.deliver(ctx, batch); s.broken != nil {
			s.failed(s.broken)
		}
	}
}

// sendLastError tells a client that can still be reached by which error its chat ends.
func (s *Scribe) sendLastError(ctx context.Context, batch []outgoing, why error) {
	for _, o := range batch {
		if last, ok := o.message.(contract.WebSocketError); ok && errors.Is(why, ErrUnwritten) {
			_ = s.client.Send(ctx, last) // who is gone too needs no telling
		}
	}
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
	case o.sound != nil && o.number > s.cutUpTo.Load():
		s.audience.play(*o.sound)
		if err := s.client.Play(ctx, *o.sound); err != nil {
			return fmt.Errorf("playing: %w", err)
		}
		if o.number <= s.cutUpTo.Load() { // it came to the client while that was told to drop it
			s.dropUnplayed()
		}
	case o.message != nil:
		s.audience.message(o.message)
		if o.listenersOnly {
			return nil
		}
		if err := s.client.Send(ctx, o.message); err != nil {
			return fmt.Errorf("sending %s: %w", o.message.MessageType(), err)
		}
	}
	return nil
}

// write puts what is new into the history and changes what is there, in one
// commit.
func (s *Scribe) write(ctx context.Context, batch []outgoing) error {
	s.writing.Store(true)
	defer s.writing.Store(false)
	var w store.ChatWrite
	for _, o := range batch {
		if o.record != nil {
			w.New = append(w.New, withID(*o.record))
		}
		if o.amended != nil {
			w.Amended = append(w.Amended, *o.amended)
		}
		if o.notice != nil {
			w.Notices = append(w.Notices, *o.notice)
		}
		w.Metadata = cmp.Or(o.metadata, w.Metadata)
		w.CustomSessionID = cmp.Or(o.session, w.CustomSessionID)
	}
	if w.Empty() {
		return nil
	}
	return s.records.WriteChat(ctx, s.chat.ID, w)
}

// End returns what writes how the chat ended.
func (s *Scribe) End(status contract.ChatStatus, at time.Time) func(context.Context) error {
	last := withID(store.Event{
		Type:        store.ChatEnd,
		Role:        store.System,
		AtMS:        at.UnixMilli(),
		MessageText: string(status),
	})
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
