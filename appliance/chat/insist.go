package chat

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"parley/store"
)

// insistEvery is how often it is tried again to write what must be written: a
// disk that was full has room again when somebody made some.
const insistEvery = 5 * time.Second

// insist writes how a chat ended, now or as soon as the disk takes it: a chat
// that seems to go on can be neither resumed nor deleted. What is not written
// before the box stops, its next start makes good.
func (h *Host) insist(log *slog.Logger, doing string, write func(context.Context) error) {
	try := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), goodbye)
		defer cancel()
		return write(ctx)
	}
	err := try()
	if err == nil {
		return
	}
	log.Error("cannot "+doing+"; trying again until it is done", "err", err)
	h.open.Go(func() { // the chat's seat is still taken, so nobody waits for the last yet
		again := time.NewTicker(insistEvery)
		defer again.Stop()
		for err != nil && !errors.Is(err, store.ErrNotFound) {
			select {
			case <-again.C:
				err = try()
			case <-h.running.Done():
				return
			}
		}
		log.Info("could " + doing + " after all")
	})
}
