package bus_test

import (
	"fmt"
	"testing"
	"time"

	"parley/fleet/fleettest"
)

// A box that is told of a want can fetch it at once, though the server may not have stored it yet.
func TestAToldWantIsThere(t *testing.T) {
	f := fleettest.Start(t)
	h := f.Hub(t)
	const boxes, revisions = 8, 25
	done := make(chan error, boxes)
	for i := range boxes {
		name := fmt.Sprintf("museum-%d", i)
		b := f.Box(t, f.Join(t, name))
		fleettest.WaitFor(t, b, true)
		go func() {
			for known := int64(0); known < revisions; {
				w, changed, err := b.Want(t.Context(), known)
				switch {
				case err != nil:
					done <- err
					return
				case changed:
					known = w.Revision
					continue
				}
				select {
				case <-b.Changed():
				case <-time.After(20 * time.Second):
					done <- fmt.Errorf("%s does not learn of revision %d", name, known+1)
					return
				}
			}
			done <- nil
		}()
		go func() {
			for revision := range int64(revisions) {
				if err := h.PutWant(t.Context(), name, wantOf(t, revision+1, 100)); err != nil {
					done <- err
				}
			}
		}()
	}
	for range boxes {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}
