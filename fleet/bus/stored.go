package bus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"parley/fleet"
)

// PutWant stores what a box is to run, with a revision that is not the present one. The box learns of it at once, or
// when it connects.
func (h *Hub) PutWant(ctx context.Context, box string, w fleet.Want) error {
	if err := fleet.CheckName(box); err != nil {
		return err
	}
	if w.Revision <= 0 {
		return fmt.Errorf("the revision %d is not positive", w.Revision)
	}
	data, err := pack(w)
	if err != nil {
		return err
	}
	return h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		sum := sha256.Sum256(data)
		next := head{Box: box, Revision: w.Revision, SHA256: hex.EncodeToString(sum[:]), Bytes: len(data)}
		first := uint64(0)
		for rest := data; len(rest) > 0; {
			part := rest[:min(partBytes, len(rest))]
			rest = rest[len(part):]
			next.Parts++
			ack, err := js.Publish(ctx, wantSubject+partKey(box, w.Revision, next.Parts), part)
			if err != nil {
				return fmt.Errorf("part %d of what %s is to run: %w", next.Parts, box, err)
			}
			if first == 0 {
				first = ack.Sequence
			}
		}
		signed, err := h.sign(next)
		if err != nil {
			return err
		}
		if _, err := js.Publish(ctx, wantSubject+box+".head", signed); err != nil {
			return fmt.Errorf("what %s is to run: %w", box, err)
		}
		if first == 1 {
			return nil // nothing is older, and nats-server takes a 1 for all
		}
		// All parts before these are of older revisions, also those of a hub that was killed before it came here.
		return purge(ctx, js, "KV_"+wantBucket, wantSubject+box+".part.>", first)
	})
}

func (h *Hub) sign(next head) ([]byte, error) {
	raw, err := json.Marshal(next)
	if err != nil {
		return nil, err
	}
	signature, err := h.o.Sign(toSign(raw))
	if err != nil {
		return nil, err
	}
	return json.Marshal(signedHead{Head: raw, Signature: signature})
}

// purge deletes messages on a subject (empty: all) whose sequence numbers are below seq (0: all).
func purge(ctx context.Context, js jetstream.JetStream, stream, subject string, seq uint64) error {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return err
	}
	var options []jetstream.StreamPurgeOpt
	if subject != "" {
		options = append(options, jetstream.WithPurgeSubject(subject))
	}
	if seq > 0 {
		options = append(options, jetstream.WithPurgeSequence(seq))
	}
	return s.Purge(ctx, options...)
}

// Forget deletes the state of a box that was removed, what it was to run, and recordings that nobody has fetched. Its
// facts remain.
func (h *Hub) Forget(ctx context.Context, box string) error {
	if err := fleet.CheckName(box); err != nil {
		return err
	}
	return h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		return errors.Join(
			purge(ctx, js, "KV_"+wantBucket, wantSubject+box+".>", 0),
			purge(ctx, js, "KV_"+stateBucket, stateSubject+box, 0),
			purge(ctx, js, soundStream, soundSubject+box, 0),
		)
	})
}

// HasPlugin reports whether boxes can fetch the file of a plugin.
func (h *Hub) HasPlugin(ctx context.Context, sha string) (has bool, err error) {
	err = h.plugins(ctx, func(ctx context.Context, store jetstream.ObjectStore) error {
		_, err := store.GetInfo(ctx, sha)
		has = err == nil
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil
		}
		return err
	})
	return has, err
}

// PutPlugin stores the file of a plugin for boxes.
func (h *Hub) PutPlugin(ctx context.Context, sha string, from io.Reader) error {
	return h.plugins(ctx, func(ctx context.Context, store jetstream.ObjectStore) error {
		sum := sha256.New()
		if _, err := store.Put(ctx, jetstream.ObjectMeta{Name: sha}, io.TeeReader(from, sum)); err != nil {
			return fmt.Errorf("plugin %s: %w", sha, err)
		}
		if err := checkSum(sum, sha); err != nil {
			return errors.Join(err, store.Delete(ctx, sha))
		}
		return nil
	})
}

func (h *Hub) plugins(ctx context.Context, do func(context.Context, jetstream.ObjectStore) error) error {
	return h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		store, err := js.ObjectStore(ctx, pluginBucket)
		if err != nil {
			return err
		}
		return do(ctx, store)
	})
}

// AddReader makes a durable consumer of all facts for a program that has the credentials of server.Trust.Reader. It
// begins with the oldest fact that is stored.
func (h *Hub) AddReader(ctx context.Context, name string) error {
	if err := fleet.CheckName(name); err != nil {
		return err
	}
	return h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateOrUpdateConsumer(ctx, factsStream, jetstream.ConsumerConfig{
			Durable:       name,
			AckPolicy:     jetstream.AckExplicitPolicy,
			DeliverPolicy: jetstream.DeliverAllPolicy,
			AckWait:       time.Minute, // a warehouse loads in batches
			MaxAckPending: 10_000,
		})
		return err
	})
}

// RemoveReader deletes the consumer that AddReader made.
func (h *Hub) RemoveReader(ctx context.Context, name string) error {
	return h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		err := js.DeleteConsumer(ctx, factsStream, name)
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil
		}
		return err
	})
}

// Figures are what the hub has read since it started.
type Figures struct {
	Messages uint64 // of facts
	Bytes    uint64
	Pending  uint64 // messages of facts that the hub has not read yet
	Lost     uint64 // messages that the stream deleted before the hub read them: hub.keep is too small
}

// Figures returns what the hub has read.
func (h *Hub) Figures(ctx context.Context) (Figures, error) {
	f := Figures{Messages: h.messages.Load(), Bytes: h.bytes.Load(), Lost: h.lost.Load()}
	err := h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, factsStream)
		if err != nil {
			return err
		}
		if last, at := s.CachedInfo().State.LastSeq, h.position.Load(); last > at {
			f.Pending = last - at
		}
		return nil
	})
	return f, err
}
