package bus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"parley/fleet/bus"
	"parley/fleet/fleettest"
)

// A warehouse reads all facts at its own pace, and can do nothing else.
func TestReaderReadsFactsAndNothingElse(t *testing.T) {
	onEachServer(t, func(t *testing.T, f *fleettest.Fleet) {
		b, h := f.Box(t, f.Join(t, "museum-1")), f.Hub(t)
		ctx := bounded(t)
		var sent []string
		last := uint64(0)
		for range 5 {
			m := factsOf("museum-1", "a")
			var err error
			if last, err = b.SendFacts(ctx, m, last); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, m.ID)
		}
		if err := h.AddReader(ctx, "warehouse"); err != nil {
			t.Fatal(err)
		}
		u, err := f.Trust.Reader("warehouse", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		c := connect(t, f, bus.Join{Box: "warehouse", JWT: u.JWT, Seed: u.Seed})
		js, err := jetstream.New(c.Conn)
		if err != nil {
			t.Fatal(err)
		}
		consumer, err := js.Consumer(ctx, "PARLEY_FACTS", "warehouse")
		if err != nil {
			t.Fatal(err)
		}
		batch, err := consumer.Fetch(5)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for m := range batch.Messages() {
			got = append(got, m.Headers().Get("Nats-Msg-Id"))
			if err := m.DoubleAck(ctx); err != nil {
				t.Error(err)
			}
		}
		if strings.Join(got, " ") != strings.Join(sent, " ") {
			t.Errorf("read %v, want %v", got, sent)
		}
		if info, err := consumer.Info(ctx); err != nil || info.NumPending != 0 || info.NumAckPending != 0 {
			t.Errorf("after reading all: %+v %v", info, err)
		}
		for _, subject := range []string{
			"parley.facts.museum-1", "parley.facts.warehouse", "$KV.parley_state.museum-1",
			"$KV.parley_want.museum-1.head",
			"$JS.API.STREAM.DELETE.PARLEY_FACTS", "$JS.API.STREAM.PURGE.PARLEY_FACTS",
			"$JS.API.STREAM.INFO.KV_parley_want", "$JS.API.DIRECT.GET.KV_parley_want",
			"$JS.API.CONSUMER.CREATE.PARLEY_FACTS.mine", "$JS.API.CONSUMER.DURABLE.CREATE.PARLEY_FACTS.warehouse",
			"$JS.API.CONSUMER.DELETE.PARLEY_FACTS.warehouse", "$JS.API.CONSUMER.MSG.NEXT.PARLEY_FACTS.other",
			"$JS.ACK.PARLEY_FACTS.other.1.1.1.1.1", "$SYS.REQ.CLAIMS.UPDATE",
		} {
			if err := c.Publish(subject, nil); err != nil {
				t.Fatal(err)
			}
			if !c.denied(t, subject) {
				t.Errorf("a reader may publish to %s", subject)
			}
		}
		for _, subject := range []string{">", "parley.facts.>", "$KV.>", "_INBOX_museum-1.>"} {
			if _, err := c.SubscribeSync(subject); err != nil {
				t.Fatal(err)
			}
			if !c.denied(t, subject) {
				t.Errorf("a reader may subscribe to %s", subject)
			}
		}
		if err := h.RemoveReader(ctx, "warehouse"); err != nil {
			t.Error(err)
		}
		if err := h.RemoveReader(ctx, "warehouse"); err != nil {
			t.Errorf("removed twice: %v", err)
		}
	})
}
