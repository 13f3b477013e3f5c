package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// A command that makes sound faster than it plays waits for the loudspeaker, and ends
// when its context does.
func TestSoundAheadOfTheSpeakerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q playQueue
		q.add(make([]float32, 1000))
		waited := make(chan error, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { waited <- q.wait(ctx, 600) }()
		for range 3 { // 300 samples, and then 400
			synctest.Wait()
			if len(waited) > 0 {
				t.Fatal("it does not wait")
			}
			q.fill(make([]float32, 100))
		}
		q.fill(make([]float32, 100))
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		go func() { waited <- q.wait(ctx, 0) }()
		synctest.Wait()
		over := errors.New("over")
		cancel(over)
		if err := <-waited; !errors.Is(err, over) {
			t.Errorf("ended with %v", err)
		}
	})
}

// A command that only speaks has no flag --wav.
func TestWhatIsDoneWithoutASoundDeviceFitsTheCommand(t *testing.T) {
	none := errors.New("there is no loudspeaker")
	if said := noSound(none, false).Error(); strings.Contains(said, "--wav") || !strings.Contains(said, "--out") {
		t.Error(said)
	}
	if said := noSound(none, true).Error(); !strings.Contains(said, "--wav") {
		t.Error(said)
	}
}
