package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"parley/fleet"
)

// Received is a message of facts and its sequence number in the stream of all boxes.
type Received struct {
	Seq uint64
	fleet.Facts
}

// Position is a message in the stream of facts: the last one that the hub has stored. The zero Position: none.
type Position struct {
	Seq uint64
	ID  string // of fleet.Facts
}

// ErrRewound says that the stream is not the one that the hub has read: it was lost, or restored from a backup. Its
// sequence numbers mean nothing any more. The hub forgets those that it knows and reads the stream from its beginning.
type ErrRewound struct{ Position Position }

func (e ErrRewound) Error() string {
	return fmt.Sprintf("the stream of facts does not have message %d (%s), which the hub has read: the stream was "+
		"lost or restored", e.Position.Seq, e.Position.ID)
}

// Identity returns what tells the stream of facts from another that was made in its place.
func (h *Hub) Identity(ctx context.Context) (identity string, err error) {
	err = h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, factsStream)
		if err != nil {
			return err
		}
		identity = s.CachedInfo().Created.UTC().Format(time.RFC3339Nano)
		return nil
	})
	return identity, err
}

// Facts reads the facts of all boxes in the order of the stream, beginning after a position, until ctx ends. If handle
// returns an error, Facts returns it; what it was given comes again the next time. A message is never left out unless
// the stream deleted it before (Figures.Lost).
func (h *Hub) Facts(ctx context.Context, after Position, handle func(context.Context, []Received) error) error {
	at := after
	h.position.Store(at.Seq)
	f := follower{
		link:   h.link,
		stream: factsStream,
		config: jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy},
		next: func() uint64 {
			if at.Seq == 0 {
				return 0
			}
			return at.Seq + 1
		},
		handle: func(ctx context.Context, group []jetstream.Msg) error {
			received, last, err := h.receive(group, at)
			if err != nil {
				return err
			}
			if len(received) > 0 {
				if err := handle(ctx, received); err != nil {
					return err
				}
			}
			at = last
			h.position.Store(at.Seq)
			h.messages.Add(uint64(len(group)))
			for _, m := range group {
				h.bytes.Add(uint64(len(m.Data())))
			}
			return nil
		},
	}
	return f.run(ctx, func(ctx context.Context, js jetstream.JetStream) error { return checkPosition(ctx, js, at) })
}

// receive reads messages that come after a position, and returns the new one.
func (h *Hub) receive(group []jetstream.Msg, at Position) ([]Received, Position, error) {
	received := make([]Received, 0, len(group))
	for _, m := range group {
		meta, err := m.Metadata()
		if err != nil {
			return nil, at, err
		}
		seq := meta.Sequence.Stream
		if missing := seq - at.Seq - 1; at.Seq > 0 && missing > 0 {
			h.lost.Add(missing)
			h.link.log.Error("facts of boxes are lost, since the stream deleted them before the hub read them: raise "+
				"hub.keep", "messages", missing)
		}
		at = Position{Seq: seq, ID: m.Headers().Get(headerID)}
		facts, err := parseFacts(m)
		if err != nil {
			h.link.log.Warn("a message is left out, since no box sends such", "subject", m.Subject(), "err", err)
			continue
		}
		received = append(received, Received{Seq: seq, Facts: facts})
	}
	return received, at, nil
}

// parseFacts reads a message of facts. It refuses what a box wrote in the name of another: a server sends the answer
// to a question to any subject that the question names, so also to another box's, but marks it.
func parseFacts(m jetstream.Msg) (fleet.Facts, error) {
	var f fleet.Facts
	if m.Headers().Get(headerStream) != "" {
		return f, errForged
	}
	if err := json.Unmarshal(m.Data(), &f); err != nil {
		return f, err
	}
	if box := strings.TrimPrefix(m.Subject(), factsSubject); f.Box != box || f.ID != m.Headers().Get(headerID) {
		return f, fmt.Errorf("it is said to be %q of the box %q", f.ID, f.Box)
	}
	return f, nil
}

var errForged = errors.New("it is the answer to a question, which another box had sent here")

// checkPosition returns ErrRewound unless the stream is the one that was read before. Errors of the connection are
// found out by who reads.
func checkPosition(ctx context.Context, js jetstream.JetStream, at Position) error {
	if at.Seq == 0 {
		return nil
	}
	limit, stop := context.WithTimeout(ctx, requestLimit)
	defer stop()
	s, err := js.Stream(limit, factsStream)
	if err != nil {
		return nil
	}
	state := s.CachedInfo().State
	if state.LastSeq < at.Seq {
		return ErrRewound{Position: at}
	}
	if at.ID == "" || state.FirstSeq > at.Seq {
		return nil
	}
	m, err := s.GetMsg(limit, at.Seq)
	if err == nil && m.Header.Get(headerID) != at.ID {
		return ErrRewound{Position: at}
	}
	return nil
}

// States calls handle with the newest state of every box, and then with each new one, until ctx ends, and when the
// server got it, by the server's clock: that of a box may be wrong. A state may come twice.
func (h *Hub) States(ctx context.Context, handle func(s fleet.State, at time.Time)) error {
	f := follower{
		link:   h.link,
		stream: "KV_" + stateBucket,
		config: jetstream.ConsumerConfig{
			DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
			FilterSubject: stateSubject + "*",
		},
		next: func() uint64 { return 0 },
		handle: func(_ context.Context, group []jetstream.Msg) error {
			for _, m := range group {
				meta, err := m.Metadata()
				if err != nil {
					return err
				}
				s, err := parseState(m)
				if err != nil {
					h.link.log.Warn("the state of a box is left out", "subject", m.Subject(), "err", err)
					continue
				}
				handle(s, meta.Timestamp)
			}
			return nil
		},
	}
	return f.run(ctx, nil)
}

func parseState(m jetstream.Msg) (fleet.State, error) {
	var s fleet.State
	if m.Headers().Get(headerStream) != "" {
		return s, errForged
	}
	if err := json.Unmarshal(m.Data(), &s); err != nil {
		return s, err
	}
	if box := strings.TrimPrefix(m.Subject(), stateSubject); s.Box != box {
		return s, fmt.Errorf("it is said to be that of the box %q", s.Box)
	}
	return s, nil
}
