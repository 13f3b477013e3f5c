package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/contract"
)

// far is the provider's end of a mouth, in the time of a test.
type far struct {
	t     *testing.T
	mouth *mouth
	begun time.Time

	mu    sync.Mutex
	sound time.Duration // received
	ahead time.Duration // the most that was received ahead of its playback
	marks []string      // each with how much sound came before it
	names []string
	log   []string
}

// speaking runs do with a mouth in a bubble.
func speaking(t *testing.T, do func(*far)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &far{t: t, begun: time.Now()}
		f.mouth = newMouth("MZ1", f.take)
		f.mouth.onPlayed(func(id string, upTo time.Duration) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.log = append(f.log, fmt.Sprintf("%s %v at %v", id, upTo, time.Since(f.begun)))
		})
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { f.mouth.run(ctx) })
		defer run.Wait()
		defer cancel()
		do(f)
	})
}

func (f *far) take(message []byte) error {
	var m sent
	if err := json.Unmarshal(message, &m); err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch m.Event {
	case "media":
		f.sound += frameLength
		f.ahead = max(f.ahead, f.sound-time.Since(f.begun))
	case "mark":
		f.marks = append(f.marks, f.sound.String())
		f.names = append(f.names, m.Mark.Name)
	}
	return nil
}

func (f *far) say(id string, d time.Duration) {
	f.t.Helper()
	pcm := make([]float32, int(d*contract.OutputRateHz/time.Second))
	if err := f.mouth.play(contract.Sound{ID: id, PCM: pcm, Last: true}, false); err != nil {
		f.t.Error(err)
	}
}

// wait waits until all is done that is due in a time.
func (f *far) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (f *far) received() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sound
}

func (f *far) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun = time.Now()
}

func (f *far) drained() time.Duration {
	<-f.mouth.drained()
	synctest.Wait() // for the last report
	return time.Since(f.begun)
}

func (f *far) is(got, want any) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestSoundIsSentASecondAheadWithMarksBehindIt(t *testing.T) {
	speaking(t, func(f *far) {
		f.say("a", 2500*time.Millisecond)
		f.say("b", 10*time.Second)
		f.say("c", 30*time.Millisecond)
		synctest.Wait()
		f.is(f.received(), maxAhead)
		f.wait(12500 * time.Millisecond)
		f.is(f.ahead, maxAhead)
		f.is(f.received(), 12540*time.Millisecond) // the last frame is padded
		f.is(f.marks, "[200ms 1.2s 2.2s 2.5s 2.7s 3.7s 4.7s 5.7s 6.7s 7.7s 8.7s 9.7s 10.7s 11.7s 12.5s 12.54s]")
	})
}

func TestWhatWasPlayedIsWhatTheProviderReturns(t *testing.T) {
	speaking(t, func(f *far) {
		f.say("a", 500*time.Millisecond)
		f.wait(300 * time.Millisecond)
		f.mouth.returned("1")
		f.mouth.returned("1")
		f.mouth.returned("7")
		f.wait(time.Second)
		f.is(isClosed(f.mouth.drained()), false)
		f.mouth.returned("2")
		f.is(f.drained(), 1300*time.Millisecond)
		f.is(f.log, "[a 200ms at 300ms a 500ms at 1.3s]")
	})
}

func TestAMarkThatIsLostDelaysTheEndByTwoSeconds(t *testing.T) {
	speaking(t, func(f *far) {
		f.say("a", 500*time.Millisecond)
		f.wait(300 * time.Millisecond)
		f.mouth.returned("1")
		f.is(f.drained(), 500*time.Millisecond+markGrace)
		f.is(f.log, "[a 200ms at 300ms]")
	})
}

func TestAProviderWithoutMarksPlaysByTheClock(t *testing.T) {
	speaking(t, func(f *far) {
		f.say("a", 500*time.Millisecond)
		f.wait(10 * time.Second)
		f.is(isClosed(f.mouth.drained()), true)
		f.restart()
		f.say("b", 1500*time.Millisecond)
		f.is(f.drained(), 1500*time.Millisecond)
		f.is(f.log[len(f.log)-3:], "[b 200ms at 200ms b 1.2s at 1.2s b 1.5s at 1.5s]")
	})
}

func TestWhatWasCutIsNotPlayed(t *testing.T) {
	speaking(t, func(f *far) {
		f.say("a", 5*time.Second)
		f.wait(500 * time.Millisecond)
		f.mouth.returned("1")
		f.mouth.cut()
		f.is(f.drained(), 500*time.Millisecond)
		for _, name := range f.names {
			f.mouth.returned(name)
		}
		f.is(f.log, "[a 200ms at 500ms]")
		before := f.received()
		f.wait(time.Second)
		f.is(f.received(), before)
		f.say("b", 200*time.Millisecond)
		synctest.Wait()
		f.mouth.returned(f.names[len(f.names)-1])
		f.is(f.log, "[a 200ms at 500ms b 200ms at 1.5s]")
	})
}

// Sound that is made no faster than it is played keeps the provider's buffer small, and is sent as it comes.
func TestSoundIsSentAsItIsMade(t *testing.T) {
	speaking(t, func(f *far) {
		for i := range 20 {
			err := f.mouth.play(contract.Sound{ID: "a", Index: i, PCM: make([]float32, 2400), Last: i == 19}, false)
			if err != nil {
				t.Error(err)
			}
			synctest.Wait()
			f.is(f.received()+time.Duration(f.mouth.heldBack())*time.Second/contract.OutputRateHz,
				time.Duration(i+1)*50*time.Millisecond)
			f.wait(50 * time.Millisecond)
		}
	})
}
