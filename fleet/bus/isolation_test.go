package bus_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"parley/fleet"
	"parley/fleet/bus"
	"parley/fleet/fleettest"
)

func TestMain(m *testing.M) { fleettest.Main(m) }

// onTheServers tests with the hub's server, and in the long form with a stock one too, which behaves alike where no
// rights are concerned.
func onTheServers(t *testing.T, test func(*testing.T, *fleettest.Fleet)) {
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		onEachServer(t, test)
		return
	}
	t.Parallel()
	test(t, fleettest.Start(t))
}

// onEachServer runs a test with the server inside the hub and with Debian's nats-server.
func onEachServer(t *testing.T, test func(*testing.T, *fleettest.Fleet)) {
	t.Run("hub", func(t *testing.T) {
		t.Parallel()
		test(t, fleettest.Start(t))
	})
	t.Run("stock", func(t *testing.T) {
		t.Parallel()
		test(t, fleettest.StartProcess(t, fleettest.Stock))
	})
}

// client is a plain NATS client, which can ask for anything with somebody's credentials.
type client struct {
	*nats.Conn
	errors chan string // in lower case
}

func connect(t *testing.T, f *fleettest.Fleet, j bus.Join) *client {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(f.Authority)
	c := &client{errors: make(chan string, 1000)}
	var err error
	c.Conn, err = nats.Connect(f.Servers[0],
		nats.Secure(&tls.Config{RootCAs: pool}),
		nats.UserJWT(func() (string, error) { return j.JWT, nil }, func(nonce []byte) ([]byte, error) {
			pair, err := nkeys.FromSeed([]byte(j.Seed))
			if err != nil {
				return nil, err
			}
			return pair.Sign(nonce)
		}),
		nats.CustomInboxPrefix("_INBOX_"+j.Box),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			c.errors <- strings.ToLower(err.Error())
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// denied reports whether the server refuses what was just done with a subject.
func (c *client) denied(t *testing.T, subject string) bool {
	t.Helper()
	if err := c.Flush(); err != nil { // the server says so before it answers this
		t.Fatal(err)
	}
	limit := time.NewTimer(2 * time.Second) // for the goroutine that reports errors
	defer limit.Stop()
	for {
		select {
		case e := <-c.errors:
			if strings.Contains(e, "permissions violation") && strings.Contains(e, `"`+strings.ToLower(subject)+`"`) {
				return true
			}
		case <-limit.C:
			return false
		}
	}
}

func TestBoxCannotReachAnother(t *testing.T) {
	onEachServer(t, func(t *testing.T, f *fleettest.Fleet) {
		h := f.Hub(t)
		victim := f.Box(t, f.Join(t, "museum-2"))
		ctx := bounded(t)
		if _, err := victim.SendFacts(ctx, factsOf("museum-2", "secret"), 0); err != nil {
			t.Fatal(err)
		}
		for _, box := range []string{"museum-1", "museum-2"} {
			if err := h.PutWant(ctx, box, wantOf(t, 1, 100)); err != nil {
				t.Fatal(err)
			}
		}
		thief := connect(t, f, f.Join(t, "museum-1"))
		inbox, err := thief.SubscribeSync(thief.NewInbox() + ".*")
		if err != nil {
			t.Fatal(err)
		}
		for _, subject := range []string{
			"parley.facts.museum-2", "parley.sound.museum-2", "$KV.parley_state.museum-2",
			"parley.facts", "parley.facts.museum-1.x", "parley.facts.museum-10", "x",
			"$KV.parley_want.museum-2.head", "$KV.parley_want.museum-1.head", "$KV.parley_want.museum-1.part.1.1",
			"$O.parley_plugins.M.x", "$O.parley_plugins.C.x",
			"_INBOX_museum-2.x", "_INBOX_HUB.x", "_INBOX.x",
			"$JS.API.DIRECT.GET.PARLEY_FACTS.parley.facts.museum-2", "$JS.API.DIRECT.GET.PARLEY_FACTS",
			"$JS.API.DIRECT.GET.KV_parley_want.$KV.parley_want.museum-2.head",
			"$JS.API.DIRECT.GET.KV_parley_want.$KV.parley_want.museum-2.part.1.1",
			"$JS.API.DIRECT.GET.KV_parley_want", "$JS.API.DIRECT.GET.KV_parley_state",
			"$JS.API.DIRECT.GET.KV_parley_state.$KV.parley_state.museum-2",
			"$JS.API.DIRECT.GET.PARLEY_SOUND", "$JS.API.DIRECT.GET.PARLEY_SOUND.parley.sound.museum-2",
			"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.STREAM.CREATE.MINE",
			"$JS.API.STREAM.INFO.PARLEY_FACTS", "$JS.API.STREAM.UPDATE.PARLEY_FACTS",
			"$JS.API.STREAM.DELETE.PARLEY_FACTS", "$JS.API.STREAM.PURGE.PARLEY_FACTS",
			"$JS.API.STREAM.PURGE.KV_parley_state",
			"$JS.API.STREAM.MSG.GET.PARLEY_FACTS", "$JS.API.STREAM.MSG.GET.KV_parley_want",
			"$JS.API.STREAM.MSG.GET.OBJ_parley_plugins", "$JS.API.STREAM.MSG.DELETE.PARLEY_FACTS",
			"$JS.API.STREAM.SNAPSHOT.PARLEY_FACTS", "$JS.API.STREAM.RESTORE.PARLEY_FACTS",
			"$JS.API.CONSUMER.CREATE.PARLEY_FACTS", "$JS.API.CONSUMER.CREATE.PARLEY_FACTS.mine",
			"$JS.API.CONSUMER.CREATE.PARLEY_FACTS.mine.parley.facts.museum-1",
			"$JS.API.CONSUMER.CREATE.OBJ_parley_plugins", "$JS.API.CONSUMER.CREATE.OBJ_parley_plugins.mine",
			"$JS.API.CONSUMER.DURABLE.CREATE.PARLEY_FACTS.mine", "$JS.API.CONSUMER.MSG.NEXT.PARLEY_FACTS.mine",
			"$JS.API.CONSUMER.NAMES.PARLEY_FACTS", "$JS.API.CONSUMER.LIST.PARLEY_FACTS",
			"$JS.ACK.PARLEY_FACTS.mine.1.1.1.1.1", "$JS.API.ACCOUNT.PURGE.x", "$JS.API.META.LEADER.STEPDOWN",
			"$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.REQ.USER.INFO",
			"$SRV.PING",
		} {
			reply := strings.TrimSuffix(inbox.Subject, "*") + "1"
			if err := thief.PublishRequest(subject, reply, []byte(`{"seq":1}`)); err != nil {
				t.Fatal(err)
			}
			if !thief.denied(t, subject) {
				t.Errorf("a box may publish to %s", subject)
			}
		}
		for _, subject := range []string{
			">", "*", "*.>", "*.*", "*.*.*", "parley.>", "parley.facts.*", "parley.*.museum-2",
			"parley.facts.museum-2", "parley.facts.museum-1", "parley.sound.*", "$KV.>", "$KV.*.*",
			"$KV.parley_state.>", "$KV.parley_state.museum-2", "$KV.parley_want.>", "$KV.parley_want.*.head",
			"$KV.parley_want.museum-2.head", "$KV.parley_want.museum-2.>",
			"$O.>", "_INBOX.>", "_INBOX_museum-2.>", "_INBOX_HUB.>", "*.*.>", "$JS.>", "$JS.API.>", "$JS.EVENT.>",
			"$JS.ACK.>", "$SYS.>", "$SYS.ACCOUNT.>",
		} {
			if _, err := thief.SubscribeSync(subject); err != nil {
				t.Fatal(err)
			}
			if !thief.denied(t, subject) {
				t.Errorf("a box may subscribe to %s", subject)
			}
			if _, err := thief.QueueSubscribeSync(subject, "queue"); err != nil {
				t.Fatal(err)
			}
			if !thief.denied(t, subject) {
				t.Errorf("a box may subscribe to %s with others", subject)
			}
		}
		if n, _, err := inbox.Pending(); n > 0 || err != nil {
			m, _ := inbox.NextMsg(time.Second)
			t.Errorf("%d answers, such as %s (%v)", n, m.Data, err)
		}
	})
}

// The server answers a question to any subject that the question names, so a box whose keys were stolen can make it
// write to the subjects of another. Nobody believes what is written there like that.
func TestBoxCannotSpeakForAnother(t *testing.T) {
	onEachServer(t, func(t *testing.T, f *fleettest.Fleet) {
		h := f.Hub(t)
		victim := f.Box(t, f.Join(t, "museum-2"))
		ctx := bounded(t)
		real := factsOf("museum-2", "real")
		last, err := victim.SendFacts(ctx, real, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := victim.SendState(ctx, fleet.State{Box: "museum-2", Live: 1}); err != nil {
			t.Fatal(err)
		}
		for _, box := range []string{"museum-1", "museum-2"} {
			if err := h.PutWant(ctx, box, wantOf(t, 1, 100)); err != nil {
				t.Fatal(err)
			}
		}
		thief := connect(t, f, f.Join(t, "museum-1"))
		const own = "parley.facts.museum-1"
		forge := func(header nats.Header, what any, ask, to string) {
			t.Helper()
			data, err := json.Marshal(what)
			if err != nil {
				t.Fatal(err)
			}
			if what != nil {
				m := &nats.Msg{Subject: own, Header: header, Data: data}
				if _, err := thief.RequestMsg(m, 5*time.Second); err != nil {
					t.Fatal(err)
				}
			}
			if err := thief.PublishRequest(ask, to, []byte{}); err != nil {
				t.Fatal(err)
			}
			if err := thief.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		const lastOwn = "$JS.API.DIRECT.GET.PARLEY_FACTS." + own
		forged := factsOf("museum-2", "forged")
		forge(nats.Header{"Nats-Msg-Id": {forged.ID}}, forged, lastOwn, "parley.facts.museum-2")
		forge(nil, fleet.State{Box: "museum-2", Live: 99}, lastOwn, "$KV.parley_state.museum-2")
		forge(nil, fleet.State{Box: "museum-2", Live: 99}, own, "$KV.parley_state.museum-2") // the acknowledgement

		// Facts: museum-2 goes on as if nothing had been, and the hub has what it sent.
		next := factsOf("museum-2", "next")
		if _, err = victim.SendFacts(ctx, next, last); err != nil {
			var other bus.ErrLast
			if !errors.As(err, &other) {
				t.Fatal(err)
			}
			if _, err = victim.SendFacts(ctx, next, other.Seq); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, r := range readFacts(t, h, bus.Position{}, 2) {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, []string{real.ID, next.ID}) {
			t.Errorf("the hub has the facts %v, want %v and %v", got, real.ID, next.ID)
		}

		// States: the hub has the real one, or none until the next.
		if err := victim.SendState(ctx, fleet.State{Box: "museum-2", Live: 2}); err != nil {
			t.Fatal(err)
		}
		states, cancel := context.WithCancel(ctx)
		defer cancel()
		if err := h.States(states, func(s fleet.State, _ time.Time) {
			if s.Live == 99 {
				t.Error("the hub believes a forged state")
			}
			if s.Live == 2 {
				cancel()
			}
		}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}

		// Wants, and the streams themselves: nothing is written, and nothing deleted.
		const ownWant = "$JS.API.DIRECT.GET.KV_parley_want.$KV.parley_want.museum-1.head"
		invented := map[string]any{"head": map[string]any{"box": "museum-2", "revision": 9}}
		forge(nil, invented, lastOwn, "$KV.parley_want.museum-2.head")
		forge(nil, nil, ownWant, "$KV.parley_want.museum-2.head")
		forge(nil, nil, own, "$KV.parley_want.museum-2.head") // the acknowledgment
		empty := &nats.Msg{Subject: own}                      // as requests to delete have to be
		if _, err := thief.RequestMsg(empty, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		for _, stream := range []string{"PARLEY_FACTS", "PARLEY_SOUND", "KV_parley_want", "KV_parley_state"} {
			forge(nil, nil, lastOwn, "$JS.API.STREAM.DELETE."+stream)
			forge(nil, nil, lastOwn, "$JS.API.STREAM.PURGE."+stream)
		}
		if _, err := thief.RequestMsg(empty, 5*time.Second); err != nil { // the server has answered all before
			t.Fatal(err)
		}
		if w, changed, err := victim.Want(ctx, 1); changed || err != nil {
			t.Errorf("museum-2 is to run something else: %v %v", w, err)
		}
		if w, changed, err := victim.Want(ctx, 0); !changed || err != nil || w.Revision != 1 {
			t.Errorf("museum-2 has lost what it is to run: %v %v", changed, err)
		}
		if err := h.PutWant(ctx, "museum-2", wantOf(t, 2, 100)); err != nil {
			t.Fatal(err)
		}
		if w, changed, err := victim.Want(ctx, 1); !changed || err != nil || w.Revision != 2 {
			t.Errorf("the hub cannot tell museum-2 what to run: %v %v", changed, err)
		}
		if seq, id, err := victim.LastFacts(ctx); id != next.ID || err != nil {
			t.Errorf("the last message of museum-2 is %d %s: %v", seq, id, err)
		}
		if all := readFacts(t, h, bus.Position{}, 2); all[0].ID != real.ID {
			t.Errorf("the facts of museum-2 are gone: %v", all)
		}

		// A message with which a box would delete those of others is refused.
		m := &nats.Msg{Subject: "$KV.parley_state.museum-1", Header: nats.Header{"Nats-Rollup": {"all"}}}
		if a, err := thief.RequestMsg(m, 5*time.Second); err != nil || !strings.Contains(string(a.Data), `"error"`) {
			t.Errorf("a box may delete the states of all: %v", err)
		}
	})
}
