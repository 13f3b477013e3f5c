package bus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// fetchBytes bounds what is on its way to the hub, and so its memory.
	fetchBytes = 8 << 20
	// fetchWait is how long one request waits for messages. The server says every fetchHeartbeat that it still waits; a
	// request that was lost is noticed after two.
	fetchWait      = 20 * time.Second
	fetchHeartbeat = 2 * time.Second
	// groupMessages is how many messages are fetched with one request, and at most handled together, so that one
	// transaction stores many.
	groupMessages = 256
)

// follower reads a stream in order and without a gap, whatever happens to the connection. It does not acknowledge: who
// follows stores how far it is. (A consumer with acknowledgements sends what was not acknowledged again later, behind
// newer messages.)
type follower struct {
	link   *link
	stream string
	config jetstream.ConsumerConfig // where to begin, the first time and again
	// next returns the sequence number from which to go on; 0: as config says.
	next   func() uint64
	handle func(context.Context, []jetstream.Msg) error
}

// errGap says that messages are missing between two.
var errGap = errors.New("messages are missing")

// run returns when ctx ends, or with an error of check or handle.
func (f follower) run(ctx context.Context, check func(context.Context, jetstream.JetStream) error) error {
	pause := time.Duration(0)
	for {
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
		if err := f.link.wait(ctx); err != nil {
			return err
		}
		var failed handleError
		err := f.link.during(ctx, func(life context.Context, conn *nats.Conn) error {
			js, err := jetstream.New(conn)
			if err != nil {
				return err
			}
			if check != nil {
				if failed.error = check(life, js); failed.error != nil {
					return failed
				}
			}
			err = f.once(life, ctx, js)
			errors.As(err, &failed)
			return err
		})
		if failed.error != nil {
			return failed.error
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// A connection that ended, a server that restarts, a gap: all are cured by a new consumer.
		f.link.log.Debug("fleet: reading again", "stream", f.stream, "why", err)
		pause = 0
		if !errors.Is(err, errEnded) {
			pause = time.Second // for the server, while it starts
		}
	}
}

// handleError marks an error of the one who handles messages.
type handleError struct{ error }

// once reads until something goes wrong, or life ends with the connection. Who handles messages is given ctx: what has
// come is handled also if the connection ends.
func (f follower) once(life, ctx context.Context, js jetstream.JetStream) error {
	config := f.config
	if seq := f.next(); seq > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, seq
	}
	config.AckPolicy = jetstream.AckNonePolicy
	config.MemoryStorage = true
	config.InactiveThreshold = time.Minute // then the server deletes it
	limit, stop := context.WithTimeout(life, requestLimit)
	consumer, err := js.CreateConsumer(limit, f.stream, config)
	stop()
	if err != nil {
		return err
	}
	expected := uint64(1)
	for {
		batch, err := consumer.Fetch(groupMessages, jetstream.FetchMaxBytes(fetchBytes),
			jetstream.FetchMaxWait(fetchWait), jetstream.FetchHeartbeat(fetchHeartbeat))
		if err != nil {
			return err
		}
		for open := true; open; {
			var group []jetstream.Msg
			if group, open, err = collect(life, batch.Messages()); err != nil {
				return err
			}
			whole := group
			for i, m := range group {
				meta, err := m.Metadata()
				if err != nil || meta.Sequence.Consumer != expected {
					whole = group[:i]
					break
				}
				expected++
			}
			if len(whole) > 0 {
				if err := f.handle(ctx, whole); err != nil {
					return handleError{err}
				}
			}
			if len(whole) < len(group) {
				return errGap
			}
		}
		if err := batch.Error(); err != nil {
			return err
		}
	}
}

// collect waits for a message and returns it with those that are there already. open is false after the last.
func collect(ctx context.Context, from <-chan jetstream.Msg) (group []jetstream.Msg, open bool, err error) {
	select {
	case m, ok := <-from:
		if !ok {
			return nil, false, nil
		}
		group = append(group, m)
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	for len(group) < groupMessages {
		select {
		case m, ok := <-from:
			if !ok {
				return group, false, nil
			}
			group = append(group, m)
		default:
			return group, true, nil
		}
	}
	return group, true, nil
}
