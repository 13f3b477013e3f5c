package bus

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"parley/fleet"
)

// Names of what the servers store. trust (package server) permits them to boxes one by one.
const (
	factsStream   = "PARLEY_FACTS"
	soundStream   = "PARLEY_SOUND"
	stateBucket   = "parley_state"
	wantBucket    = "parley_want"
	pluginBucket  = "parley_plugins"
	factsSubject  = "parley.facts."
	soundSubject  = "parley.sound."
	stateSubject  = "$KV." + stateBucket + "."
	wantSubject   = "$KV." + wantBucket + "."
	directGet     = "$JS.API.DIRECT.GET."
	headerID      = "Nats-Msg-Id"
	headerExpect  = "Nats-Expected-Last-Subject-Sequence"
	headerSeq     = "Nats-Sequence"
	headerStream  = "Nats-Stream" // is on each stored message that a server sends to somebody who asked for it
	headerStatus  = "Status"
	statusMissing = "404"
)

// Options are those of a box's connection.
type Options struct {
	Log *slog.Logger
	// Soonest and Latest are the pauses between attempts to connect; 0: 2 and 30 seconds.
	Soonest, Latest time.Duration
}

// Box is the connection of a box to its fleet. It may be used by several goroutines.
type Box struct {
	link   *link
	join   Join
	pushed atomic.Pointer[head] // the newest that came by itself
}

// Dial connects in the background, and again whenever the connection ends, until Close.
func Dial(j Join, o Options) (*Box, error) {
	pool, err := roots(j.Authority)
	if err != nil {
		return nil, err
	}
	b := &Box{join: j}
	b.link = &link{
		name:    "box " + j.Box,
		user:    Credentials{JWT: j.JWT, Seed: j.Seed},
		inbox:   "_INBOX_" + j.Box,
		servers: j.Servers,
		tls:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		log:     o.Log,
		explain: j.explain,
		opened:  b.opened,
	}
	if o.Soonest > 0 && o.Latest >= o.Soonest {
		b.link.pauses = [2]time.Duration{o.Soonest, o.Latest}
	}
	b.link.start()
	return b, nil
}

// opened asks to be told of a new want.
func (b *Box) opened(ctx context.Context, conn *nats.Conn) error {
	b.pushed.Store(nil) // the server may have been restored
	_, err := conn.Subscribe(wantSubject+b.join.Box+".head", func(m *nats.Msg) {
		// The message comes to the box and to the server's disk at the same time, so the server may still answer with
		// the head before.
		if h, err := b.openHead(m.Data); err == nil {
			b.pushed.Store(&h)
		}
		b.link.notify()
	})
	if err != nil {
		return err
	}
	return conn.FlushWithContext(ctx)
}

// Close ends the connection.
func (b *Box) Close() { b.link.close() }

// Name returns the name of the box.
func (b *Box) Name() string { return b.join.Box }

// Hub returns the name of the hub.
func (b *Box) Hub() string { return b.join.Hub }

// Changed has a value when the box was connected or disconnected, or when there is a new want.
func (b *Box) Changed() <-chan struct{} { return b.link.changed }

// Connected reports whether the box is connected, and else why it is not and what to do.
func (b *Box) Connected() (ok bool, why string) { return b.link.connected() }

// ErrLast says that the box's last message in the hub's stream is another one than the box believes. If it is the one
// of which the box does not know the outcome, that was delivered; else the next message comes after Seq.
type ErrLast struct {
	Seq uint64 // 0: there is none
	ID  string
}

func (e ErrLast) Error() string {
	return fmt.Sprintf("the last message of this box in the hub's stream is %d (%s)", e.Seq, e.ID)
}

// ErrFull says that the hub's server has no room now. What is sent later may find room.
type ErrFull struct{ Why string }

func (e ErrFull) Error() string { return "the hub's server has no room: " + e.Why }

// maxFacts is how large a message may be: the server's limit is 1 MB with all headers.
const maxFacts = 900_000

// SendFacts sends one message of facts, whose predecessor has the sequence number after (0: there is none), and
// returns its own when the server has stored it. With ErrAway, or if ctx ends, the outcome is unknown: LastFacts tells.
// Each message is stored once, since the server takes it only as the successor of that one.
func (b *Box) SendFacts(ctx context.Context, f fleet.Facts, after uint64) (seq uint64, err error) {
	if f.Box != b.join.Box || f.ID == "" {
		return 0, fmt.Errorf("facts %q of the box %q cannot be sent by %s", f.ID, f.Box, b.join.Box)
	}
	data, err := json.Marshal(f)
	if err != nil {
		return 0, err
	}
	if len(data) > maxFacts {
		return 0, fmt.Errorf("a message of %d facts has %d bytes; at most %d are sent at once: send fewer facts",
			len(f.Facts), len(data), maxFacts)
	}
	m := nats.NewMsg(factsSubject + b.join.Box)
	m.Data = data
	m.Header.Set(headerID, f.ID)
	m.Header.Set(headerExpect, strconv.FormatUint(after, 10))
	seq, err = b.store(ctx, m)
	if !errors.Is(err, errLast) {
		return seq, err
	}
	last, id, err := b.LastFacts(ctx)
	if err != nil {
		return 0, err
	}
	if id == f.ID {
		return last, nil
	}
	return 0, ErrLast{Seq: last, ID: id}
}

// LastFacts returns the sequence number and the id of the box's last message in the hub's stream; 0 and "" if there
// is none.
func (b *Box) LastFacts(ctx context.Context) (seq uint64, id string, err error) {
	m, err := b.get(ctx, factsStream+"."+factsSubject+b.join.Box, nil)
	if err != nil || m == nil {
		return 0, "", err
	}
	seq, err = strconv.ParseUint(m.Header.Get(headerSeq), 10, 64)
	if err != nil {
		return 0, "", fmt.Errorf("the server's answer has no sequence number: %w", err)
	}
	return seq, m.Header.Get(headerID), nil
}

// SendState replaces what the hub knows of the box.
func (b *Box) SendState(ctx context.Context, s fleet.State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	m := nats.NewMsg(stateSubject + b.join.Box)
	m.Data = data
	_, err = b.store(ctx, m)
	return err
}

// Errors of streams by number (nats-server, server/errors.json).
const (
	codeWrongLast     = 10071
	codeStoreFailed   = 10077 // such as "maximum bytes exceeded"
	codeInsufficient  = 10023
	codeAccountLimits = 10002
	codeNoStorage     = 10047
)

var errLast = errors.New("wrong last sequence")

// store sends a message to a stream and returns its sequence number there.
func (b *Box) store(ctx context.Context, m *nats.Msg) (uint64, error) {
	answer, err := b.link.request(ctx, m)
	if err != nil {
		return 0, err
	}
	var ack struct {
		Seq   uint64 `json:"seq"`
		Error *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return 0, fmt.Errorf("the server's answer is not readable: %w", err)
	}
	if ack.Error == nil {
		if ack.Seq == 0 {
			return 0, fmt.Errorf("the server's answer has no sequence number: %.200q", answer.Data)
		}
		return ack.Seq, nil
	}
	switch ack.Error.Code {
	case codeWrongLast:
		return 0, errLast
	case codeStoreFailed, codeInsufficient, codeAccountLimits, codeNoStorage:
		return 0, ErrFull{Why: ack.Error.Description}
	}
	return 0, fmt.Errorf("the hub's server: %s (%d)", ack.Error.Description, ack.Error.Code)
}

// get reads a stored message: the last one on the subject that is part of what, or the one that body asks for. It
// returns nil if there is none.
func (b *Box) get(ctx context.Context, what string, body []byte) (*nats.Msg, error) {
	m := nats.NewMsg(directGet + what)
	m.Data = body
	answer, err := b.link.request(ctx, m)
	if err != nil {
		return nil, err
	}
	switch status := answer.Header.Get(headerStatus); status {
	case "":
		return answer, nil
	case statusMissing:
		return nil, nil
	default:
		return nil, fmt.Errorf("the hub's server: %s %s", status, answer.Header.Get("Description"))
	}
}
