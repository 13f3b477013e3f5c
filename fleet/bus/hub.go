package bus

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"parley/fleet"
)

// HubOptions are those of the hub's connection.
type HubOptions struct {
	Servers   []string // URLs; not used with Local
	Local     Local    // the server inside this program, or nil
	Authority []byte   // certificate (PEM) that signed the servers'; empty: one that the system trusts

	User    Credentials // server.Trust.Hub
	System  Credentials // server.Trust.System
	Account func() (string, error)
	Sign    func([]byte) ([]byte, error) // server.Trust.Sign

	Log *slog.Logger
	// Soonest and Latest are the pauses between attempts to connect; 0: 2 and 30 seconds.
	Soonest, Latest time.Duration
}

// Hub is the connection of the hub to the servers of its fleet. It may be used by several goroutines.
type Hub struct {
	link *link
	o    HubOptions

	messages, bytes, position, lost atomic.Uint64
}

// DialHub connects in the background, and again whenever the connection ends, until Close.
func DialHub(o HubOptions) (*Hub, error) {
	pool, err := roots(o.Authority)
	if err != nil {
		return nil, err
	}
	if o.Local == nil {
		for _, s := range o.Servers {
			if u, err := url.Parse(s); err != nil || u.Host == "" || u.Scheme != "tls" && u.Scheme != "nats" {
				return nil, fmt.Errorf("the server %.100q is not a URL such as nats://hub.local:4222", s)
			}
		}
		if len(o.Servers) == 0 {
			return nil, errors.New("the hub has no server")
		}
	}
	h := &Hub{o: o}
	h.link = &link{
		name:    "hub",
		user:    o.User,
		inbox:   "_INBOX_HUB", // boxes have small letters
		servers: o.Servers,
		local:   o.Local,
		tls:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		log:     o.Log,
		explain: explainHub,
		opened:  func(ctx context.Context, _ *nats.Conn) error { return h.PushAccount(ctx) },
	}
	if o.Soonest > 0 && o.Latest >= o.Soonest {
		h.link.pauses = [2]time.Duration{o.Soonest, o.Latest}
	}
	h.link.start()
	return h, nil
}

func explainHub(err error) string {
	const anew = "write the server's files again with parley hub --server-config, and start the server with them"
	if isRefusal(err) {
		return "the server does not trust this hub's keys: " + anew
	}
	if why := explainTLS(err, anew); why != "" {
		return why
	}
	return explainNetwork(err)
}

// Close ends the connection.
func (h *Hub) Close() { h.link.close() }

// Changed has a value when the hub was connected or disconnected.
func (h *Hub) Changed() <-chan struct{} { return h.link.changed }

// Connected reports whether the hub is connected to its server, and else why not.
func (h *Hub) Connected() (ok bool, why string) { return h.link.connected() }

// Wait returns when the hub is connected, or ctx ends.
func (h *Hub) Wait(ctx context.Context) error {
	_, err := h.link.wait(ctx)
	return err
}

// PushAccount tells the server who is revoked. Their connections are closed. The hub does so by itself whenever it
// connects.
func (h *Hub) PushAccount(ctx context.Context) error {
	account, err := h.o.Account()
	if err != nil {
		return err
	}
	system := &link{
		name:  "hub, which tells who is revoked",
		user:  h.o.System,
		inbox: "_INBOX",
		local: h.o.Local,
		tls:   h.link.tls,
		log:   h.o.Log,
	}
	servers := h.link.servers
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var conn *nats.Conn
	for _, server := range servers {
		var closed <-chan struct{}
		if conn, closed, err = system.dial(ctx, server); err == nil {
			defer func() {
				conn.Close()
				<-closed
			}()
			break
		}
	}
	if err != nil {
		return err
	}
	limit, stop := context.WithTimeout(ctx, requestLimit)
	defer stop()
	answer, err := conn.RequestWithContext(limit, "$SYS.REQ.CLAIMS.UPDATE", []byte(account))
	if err != nil {
		return fmt.Errorf("telling the server who is revoked: %w", err)
	}
	var reply struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		return fmt.Errorf("telling the server who is revoked: %w", err)
	}
	if reply.Error != nil {
		return fmt.Errorf("telling the server who is revoked: %s", reply.Error.Description)
	}
	return nil
}

// Limits bound what the servers store.
type Limits struct {
	Age   time.Duration // of facts
	Bytes int64         // of facts; the oldest are deleted
	Sound int64         // bytes of recordings that the hub has not fetched; boxes keep what does not fit
}

// smallest is what a box may send without a word from the hub: some messages of each of its boxes.
const smallest = 64 << 20

// Prepare makes what boxes and hub write to, or changes it to these limits.
func (h *Hub) Prepare(ctx context.Context, l Limits) error {
	js, err := h.jetStream()
	if err != nil {
		return err
	}
	l.Bytes, l.Sound = max(l.Bytes, smallest), max(l.Sound, smallest)
	base := jetstream.StreamConfig{
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardOld,
		MaxMsgs:     -1,
		MaxBytes:    -1,
		Replicas:    1,
		AllowDirect: true,
		DenyDelete:  true,
		// What is sent twice is found by its predecessor's number, so the server need not remember ids.
		Duplicates: time.Second,
	}
	facts, sound, state, want := base, base, base, base
	facts.Name, facts.Subjects = factsStream, []string{factsSubject + "*"}
	facts.MaxAge, facts.MaxBytes = l.Age, l.Bytes

	sound.Name, sound.Subjects = soundStream, []string{soundSubject + "*"}
	sound.MaxBytes, sound.Discard, sound.AllowDirect = l.Sound, jetstream.DiscardNew, false

	// Key-value buckets, but without roll-ups: with one a box could delete the state of all.
	state.Name, state.Subjects = "KV_"+stateBucket, []string{stateSubject + ">"}
	state.MaxMsgsPerSubject, state.Storage = 1, jetstream.MemoryStorage // boxes send it every ten seconds
	want.Name, want.Subjects = "KV_"+wantBucket, []string{wantSubject + ">"}
	want.MaxMsgsPerSubject = 1

	for _, s := range []jetstream.StreamConfig{facts, sound, state, want} {
		if _, err := js.CreateOrUpdateStream(ctx, s); err != nil {
			return fmt.Errorf("stream %s of up to %d bytes (settings hub.keep and hub.keep_days): %w", s.Name,
				s.MaxBytes, err)
		}
	}
	_, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: pluginBucket})
	if err != nil {
		return fmt.Errorf("object store %s: %w", pluginBucket, err)
	}
	return nil
}

func (h *Hub) jetStream() (jetstream.JetStream, error) {
	conn, err := h.link.current()
	if err != nil {
		return nil, err
	}
	return jetstream.New(conn)
}

// PutWant stores what a box is to run, with a revision that is not the present one. The box learns of it at once, or
// when it connects.
func (h *Hub) PutWant(ctx context.Context, box string, w fleet.Want) error {
	if err := fleet.CheckName(box); err != nil {
		return err
	}
	if w.Revision <= 0 {
		return fmt.Errorf("the revision %d is not positive", w.Revision)
	}
	js, err := h.jetStream()
	if err != nil {
		return err
	}
	data, err := pack(w)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	next := head{Box: box, Revision: w.Revision, SHA256: hex.EncodeToString(sum[:]), Bytes: len(data)}
	var first uint64
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
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	signature, err := h.o.Sign(toSign(raw))
	if err != nil {
		return err
	}
	if raw, err = json.Marshal(signedHead{Head: raw, Signature: signature}); err != nil {
		return err
	}
	if _, err := js.Publish(ctx, wantSubject+box+".head", raw); err != nil {
		return fmt.Errorf("what %s is to run: %w", box, err)
	}
	// All parts before these are of older revisions, also those of a hub that was killed before it came here.
	return h.purge(ctx, js, "KV_"+wantBucket, wantSubject+box+".part.>", first)
}

// purge deletes messages on a subject (empty: all) whose sequence numbers are below seq (0: all).
func (h *Hub) purge(ctx context.Context, js jetstream.JetStream, stream, subject string, seq uint64) error {
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
	js, err := h.jetStream()
	if err != nil {
		return err
	}
	return errors.Join(
		h.purge(ctx, js, "KV_"+wantBucket, wantSubject+box+".>", 0),
		h.purge(ctx, js, "KV_"+stateBucket, stateSubject+box, 0),
		h.purge(ctx, js, soundStream, soundSubject+box, 0),
	)
}

// HasPlugin reports whether boxes can fetch the file of a plugin.
func (h *Hub) HasPlugin(ctx context.Context, sha string) (bool, error) {
	store, err := h.plugins(ctx)
	if err != nil {
		return false, err
	}
	_, err = store.GetInfo(ctx, sha)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// PutPlugin stores the file of a plugin for boxes.
func (h *Hub) PutPlugin(ctx context.Context, sha string, from io.Reader) error {
	store, err := h.plugins(ctx)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := store.Put(ctx, jetstream.ObjectMeta{Name: sha}, io.TeeReader(from, sum)); err != nil {
		return fmt.Errorf("plugin %s: %w", sha, err)
	}
	if err := checkSum(sum, sha); err != nil {
		return errors.Join(err, store.Delete(ctx, sha))
	}
	return nil
}

// DeletePlugin removes the file of a plugin that no box is to run.
func (h *Hub) DeletePlugin(ctx context.Context, sha string) error {
	store, err := h.plugins(ctx)
	if err != nil {
		return err
	}
	err = store.Delete(ctx, sha)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return err
}

func (h *Hub) plugins(ctx context.Context) (jetstream.ObjectStore, error) {
	js, err := h.jetStream()
	if err != nil {
		return nil, err
	}
	return js.ObjectStore(ctx, pluginBucket)
}

// AddReader makes a durable consumer of all facts for a program that has the credentials of server.Trust.Reader. It
// begins with the oldest fact that is stored.
func (h *Hub) AddReader(ctx context.Context, name string) error {
	if err := fleet.CheckName(name); err != nil {
		return err
	}
	js, err := h.jetStream()
	if err != nil {
		return err
	}
	_, err = js.CreateOrUpdateConsumer(ctx, factsStream, jetstream.ConsumerConfig{
		Durable:       name,
		AckPolicy:     jetstream.AckExplicitPolicy,
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckWait:       time.Minute, // a warehouse loads in batches
		MaxAckPending: 10_000,
	})
	return err
}

// RemoveReader deletes the consumer that AddReader made.
func (h *Hub) RemoveReader(ctx context.Context, name string) error {
	js, err := h.jetStream()
	if err != nil {
		return err
	}
	err = js.DeleteConsumer(ctx, factsStream, name)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil
	}
	return err
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
	js, err := h.jetStream()
	if err != nil {
		return f, err
	}
	s, err := js.Stream(ctx, factsStream)
	if err != nil {
		return f, err
	}
	if last, at := s.CachedInfo().State.LastSeq, h.position.Load(); last > at {
		f.Pending = last - at
	}
	return f, nil
}
