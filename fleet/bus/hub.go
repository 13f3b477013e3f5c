package bus

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// HubOptions are those of the hub's connection.
type HubOptions struct {
	Servers   []string // URLs; not used with Local
	Local     Local    // the server inside this program, or nil
	Authority []byte   // certificate (PEM) that signed the servers'; empty: one that the system trusts

	User   Credentials // server.Trust.Hub
	System Credentials // server.Trust.System
	// Accounts is server.Trust.Accounts, and Sign is server.Trust.Sign.
	Accounts func() ([]string, error)
	Sign     func([]byte) ([]byte, error)

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
func (h *Hub) Wait(ctx context.Context) error { return h.link.wait(ctx) }

// PushAccount tells the server who is revoked. Their connections are closed. The hub does so by itself whenever it
// connects.
func (h *Hub) PushAccount(ctx context.Context) error {
	accounts, err := h.o.Accounts()
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
	for _, account := range accounts {
		if err := pushAccount(limit, conn, account); err != nil {
			return fmt.Errorf("telling the server who is revoked: %w", err)
		}
	}
	return nil
}

func pushAccount(ctx context.Context, conn *nats.Conn, account string) error {
	answer, err := conn.RequestWithContext(ctx, "$SYS.REQ.CLAIMS.UPDATE", []byte(account))
	if err != nil {
		return err
	}
	var reply struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		return err
	}
	if reply.Error != nil {
		return errors.New(reply.Error.Description)
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
const smallest = 16 << 20

// Prepare makes what boxes and hub write to, or changes it to these limits.
func (h *Hub) Prepare(ctx context.Context, l Limits) error {
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

	return h.during(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		for _, s := range []jetstream.StreamConfig{facts, sound, state, want} {
			// How often a cluster keeps a stream, and where, is its operator's.
			if made, err := js.Stream(ctx, s.Name); err == nil {
				s.Replicas, s.Placement = made.CachedInfo().Config.Replicas, made.CachedInfo().Config.Placement
			} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
				return fmt.Errorf("stream %s: %w", s.Name, err)
			}
			if _, err := js.CreateOrUpdateStream(ctx, s); err != nil {
				return fmt.Errorf("stream %s of up to %d bytes (setting hub.keep): %w", s.Name,
					s.MaxBytes, err)
			}
		}
		_, err := js.ObjectStore(ctx, pluginBucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			_, err = js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: pluginBucket})
		}
		if err != nil {
			return fmt.Errorf("object store %s: %w", pluginBucket, err)
		}
		return nil
	})
}

// during calls do with the connection, and a context that also ends with it.
func (h *Hub) during(ctx context.Context, do func(context.Context, jetstream.JetStream) error) error {
	return h.link.during(ctx, func(ctx context.Context, conn *nats.Conn) error {
		js, err := jetstream.New(conn)
		if err != nil {
			return err
		}
		return do(ctx, js)
	})
}
