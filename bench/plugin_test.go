package bench

import (
	"context"
	"testing"

	"parley/plugins/sandbox"
)

// Both modules return the same as plugins and in plain wazero.
func TestPluginsAnswerAsByHand(t *testing.T) {
	h, err := sandbox.New(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close(context.Background()) }()
	hand, err := newPlainWazero(t.Context(), orderReactor)
	if err != nil {
		t.Fatal(err)
	}
	defer hand.close(context.Background())
	want, err := hand.call(t.Context(), order())
	if err != nil || len(want) < 300 {
		t.Fatalf("by hand %q, %v", want, err)
	}
	for n := range 2 {
		m, err := h.Load(t.Context(), orderManifest(n), distinct(n))
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.Call(t.Context(), sandbox.Call{Tool: "order", Parameters: order(), Account: "a"})
		if err != nil || r.Content != string(want) || m.Command() != (n == 1) {
			t.Errorf("%d: %q, %v\nwant %q", n, r.Content, err, want)
		}
	}
}
