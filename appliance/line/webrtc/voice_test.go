package webrtc

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pionrtp "github.com/pion/rtp"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/line/rtp"
)

// A hundred calls wake the machine as often as one.
func TestCallsSendInTheSameTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type sent struct {
			at    time.Time
			clock uint32
		}
		begun, common := time.Now(), rtp.NewClock()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var mu sync.Mutex
		var all [2][]sent
		for i := range all {
			v, err := newVoice(func(p *pionrtp.Packet) error {
				mu.Lock()
				defer mu.Unlock()
				all[i] = append(all[i], sent{time.Now(), p.Timestamp})
				return nil
			}, func(string, time.Duration) {}, func() time.Duration { return 0 }, 0, 0, common)
			if err != nil {
				t.Fatal(err)
			}
			go v.run(ctx)
			time.Sleep(rtp.TickInterval*3/10 + time.Millisecond)
			asked := time.Now()
			if err := v.Play(contract.Sound{ID: "a", PCM: tone(10 * frameSamples), Last: true}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			mu.Lock()
			if len(all[i]) != 1 || all[i][0].at != asked {
				t.Errorf("the first frame of call %d waits for a tick: %v, due at %v", i, all[i], asked)
			}
			mu.Unlock()
		}
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		for i, frames := range all {
			if len(frames) != 10 {
				t.Fatalf("call %d has sent %d frames of 10", i, len(frames))
			}
			for n, f := range frames[1:] {
				if behind := f.at.Sub(begun) % rtp.TickInterval; behind != 0 {
					t.Errorf("frame %d of call %d left %v behind a beat", n+1, i, behind)
				}
				if step := f.clock - frames[n].clock; step != uint32(frameSamples) {
					t.Errorf("the clock of call %d advances by %d samples, not %d", i, step, frameSamples)
				}
				due := frames[0].at.Add(time.Duration(n+1) * audio.CallFrame)
				if early := due.Sub(f.at); early < 0 || early >= rtp.TickInterval {
					t.Errorf("frame %d of call %d left %v before its time", n+1, i, early)
				}
			}
		}
	})
}

// tone returns a sound that is not silence.
func tone(n int) []float32 {
	pcm := make([]float32, n)
	for i := range pcm {
		pcm[i] = float32(i%100)/200 - 0.25
	}
	return pcm
}
