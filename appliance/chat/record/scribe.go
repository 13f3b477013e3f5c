// Package record turns the facts of a chat into rows of its history, messages and sound for the client, sound
// for the recorder, webhook notifications, and copies for listeners. It is the only place that does so. The
// history stores a fact before any message about it is sent.
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

// Client is the client of a chat.
type Client interface {
	// Send sends the client a message. An error means that the client can no longer be reached.
	Send(ctx context.Context, m contract.ServerMessage) error
	// Play sends the client sound to play after the sound before.
	Play(ctx context.Context, s contract.Sound) error
	// Cut drops sound that was given to Play and has not left.
	Cut()
}

// Recorder records the sound of the assistant. Its methods do not block.
type Recorder interface {
	// Said takes a piece of a sentence that is sent at a time, mono at contract.OutputRateHz. It must not
	// change pcm.
	Said(at time.Duration, pcm []float32)
	// Cut silences the assistant from a time on.
	Cut(at time.Duration)
}

// Chat identifies the chat of a Scribe.
type Chat struct {
	ID            string
	RequestID     string        // named in errors
	Begun         time.Time     // times in the history count from it
	Notifications Notifications // who is notified of the chat
}

// A Scribe writes facts into the history and then sends them to the client, in order. Everything that waits
// is written in one commit, so a slow disk costs one commit, not one for each message.
type Scribe struct {
	chat     Chat
	records  Records
	client   Client
	recorder Recorder
	failed   func(error) // called once, when nothing more can be written or sent
	startRun func()      // starts Run
	queue    queue
	audience audience
	broken   error         // why nothing more is written or sent; owned by Run
	playback playbackClock // owned by the goroutine that calls Publish

	customSessionID string       // as webhooks know it; owned by the goroutine that calls Publish
	writing         atomic.Bool  // the history is being written
	sounds          int64        // published so far; owned by the goroutine that calls Publish
	cutUpTo         atomic.Int64 // the newest sound that must not be heard
}

// NewScribe returns the scribe of a chat. Publish calls startRun when facts wait and Run is not running: it has
// to start Run on another goroutine. failed is called once, when nothing more can be written or sent; if the
// history cannot be written, the error is an ErrUnwritten.
func NewScribe(c Chat, r Records, to Client, recorder Recorder, startRun func(), failed func(error)) *Scribe {
	return &Scribe{
		chat:            c,
		customSessionID: c.Notifications.CustomSessionID,
		records:         r,
		client:          to,
		recorder:        recorder,
		startRun:        startRun,
		failed:          failed,
	}
}

// Reasons for a backlog.
var (
	ErrSlowClient = errors.New("the client reads too slowly")
	ErrSlowDisk   = errors.New("the box writes the history too slowly")
)

// Drained returns a channel that is closed as soon as the backlog is short, or nil if it is short now.
// Callers with new messages should wait for it. Any goroutine may call it.
func (s *Scribe) Drained() <-chan struct{} { return s.queue.whenShort() }

// Blocked returns the reason for the backlog: ErrSlowClient or ErrSlowDisk.
func (s *Scribe) Blocked() error {
	if s.writing.Load() {
		return ErrSlowDisk
	}
	return ErrSlowClient
}

// Publish queues a fact and never blocks. If the backlog is full, the fact is lost and the error is the
// reason. Messages carry the client's ID for its session, if there is one.
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
		o.newSessionID, s.customSessionID = customSessionID, customSessionID
	}
	unserved, ok := s.queue.put(o)
	if !ok {
		return s.Blocked()
	}
	if unserved {
		s.startRun()
	}
	if o.sound != nil {
		s.recorder.Said(t.At, o.sound.PCM)
	}
	return nil
}

// Cut drops the sound that was published and has not reached the client, because the assistant fell silent at
// a time. Only the goroutine that calls Publish may call it.
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

// Listen adds a listener. The listener receives the messages so far (the first one and the newest 1,024, or 1
// MiB, without interim transcripts), then everything new, with sound if sound is set. A listener that falls 256
// messages or two minutes of sound behind is cut off. Any goroutine may call Listen. The error is ErrOver, or a
// contract.ErrTooMany if there are 16 listeners.
func (s *Scribe) Listen(sound bool) (*Listener, error) { return s.audience.listen(sound) }

// EndListeners ends the listeners. It is called after the last Run.
func (s *Scribe) EndListeners() { s.audience.end() }

// ErrUnwritten means that the history cannot be written.
var ErrUnwritten = errors.New("writing the history")

var errPanicked = errors.New("a panic of the scribe")

// Run delivers what is queued and returns when the queue is empty. After a failure or a panic it only empties
// the queue, and sends the client the error that ends its chat.
func (s *Scribe) Run(ctx context.Context) {
	returned := false
	defer func() {
		if !returned {
			s.broken = cmp.Or(s.broken, errPanicked)
		}
	}()
	s.deliverAll(ctx)
	returned = true
}

func (s *Scribe) deliverAll(ctx context.Context) {
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

// sendLastError sends a client that can still be reached the error that ends its chat.
func (s *Scribe) sendLastError(ctx context.Context, batch []outgoing, why error) {
	reachable := errors.Is(why, ErrUnwritten) || errors.Is(why, errPanicked)
	for _, o := range batch {
		if last, ok := o.message.(contract.WebSocketError); ok && reachable {
			_ = s.client.Send(ctx, last) // the client may be gone too
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
		if o.number <= s.cutUpTo.Load() { // the client received it during the Cut
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

// write writes new and changed rows of the history in one commit.
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
		if o.question != nil {
			w.Questions = append(w.Questions, *o.question)
		}
		if o.notice != nil {
			w.Notices = append(w.Notices, *o.notice)
		}
		w.Metadata = cmp.Or(o.metadata, w.Metadata)
		w.CustomSessionID = cmp.Or(o.newSessionID, w.CustomSessionID)
	}
	if w.Empty() {
		return nil
	}
	return s.records.WriteChat(ctx, s.chat.ID, w)
}

// End returns a function that writes how the chat ended.
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

// withID gives an event an ID if it has none from the wire.
func withID(e store.Event) store.Event {
	if e.ID == "" {
		e.ID = contract.NewID()
	}
	return e
}
