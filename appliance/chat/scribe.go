package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

const (
	// scribeQueue is how many messages may wait to be written and sent: a long
	// reply is some twenty. A line that lets more pile up is too slow.
	scribeQueue = 256
	// scribeBatch is how many of them share a commit. What waits beyond that
	// stays in the queue, where it counts.
	scribeBatch = 64
	// goodbye bounds the last writing and sending of a chat.
	goodbye = 3 * time.Second
)

// Records is where chats are written.
type Records interface {
	AppendEvents(ctx context.Context, chatID string, events []store.Event) error
	AmendEvents(ctx context.Context, chatID string, events []store.Event) error
	SetMetadata(ctx context.Context, chatID, metadata string) error
	EndChat(ctx context.Context, chatID string, status store.Status, atMS int64, last ...store.Event) error
}

// outgoing is a message on its way to the client, a row on its way into the
// history, or both; or a change to what the history has.
type outgoing struct {
	message  contract.ServerMessage
	record   *store.Event
	amended  *store.Event
	metadata string // of the chat
}

// scribe writes what happens into the history and then tells the client, in
// order. What waits is written at once, so a slow disk costs one commit and
// not one a message.
type scribe struct {
	chatID  string
	records Records
	line    Line
	queue   chan outgoing
	failed  func(error) // called once, when nothing more can be written or sent
}

func newScribe(chatID string, r Records, l Line, failed func(error)) *scribe {
	return &scribe{chatID: chatID, records: r, line: l, queue: make(chan outgoing, scribeQueue), failed: failed}
}

// put takes a message without ever waiting; false means that too much waits.
func (s *scribe) put(o outgoing) bool {
	select {
	case s.queue <- o:
		return true
	default:
		return false
	}
}

var errUnwritten = errors.New("writing the history")

// run works until the queue is closed. After a failure it only empties it, and
// passes on the error by which a client learns of it.
func (s *scribe) run(ctx context.Context) {
	var batch []outgoing
	for first := range s.queue {
		batch = s.gather(append(batch[:0], first))
		if err := s.deliver(ctx, batch); err != nil {
			s.failed(err)
			for o := range s.queue {
				if last, ok := o.message.(contract.WebSocketError); ok && errors.Is(err, errUnwritten) {
					_ = s.line.Send(ctx, last) // who is gone too needs no telling
				}
			}
			return
		}
	}
}

// gather adds what waits already.
func (s *scribe) gather(batch []outgoing) []outgoing {
	for len(batch) < scribeBatch {
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

func (s *scribe) deliver(ctx context.Context, batch []outgoing) error {
	if err := s.write(ctx, batch); err != nil {
		return fmt.Errorf("%w: %w", errUnwritten, err)
	}
	for _, o := range batch {
		if o.message == nil {
			continue
		}
		if err := s.line.Send(ctx, o.message); err != nil {
			return fmt.Errorf("sending %s: %w", o.message.MessageType(), err)
		}
	}
	return nil
}

// write puts what is new into the history, and then changes what is there.
func (s *scribe) write(ctx context.Context, batch []outgoing) error {
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
		err = s.records.AppendEvents(ctx, s.chatID, events)
	}
	if err == nil && len(amended) > 0 {
		err = s.records.AmendEvents(ctx, s.chatID, amended)
	}
	if err == nil && metadata != "" {
		err = s.records.SetMetadata(ctx, s.chatID, metadata)
	}
	return err
}

// end returns what writes how the chat ended.
func (s *scribe) end(e End, at time.Time) func(context.Context) error {
	last := withID(store.Event{Type: store.ChatEnd, Role: store.System, AtMS: at.UnixMilli(), MessageText: string(e.Status)})
	return func(ctx context.Context) error {
		return s.records.EndChat(ctx, s.chatID, e.Status, at.UnixMilli(), last)
	}
}

// withID names an event that nothing on the wire has named.
func withID(e store.Event) store.Event {
	if e.ID == "" {
		e.ID = contract.NewID()
	}
	return e
}
