package chat

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// A client that sends faster than the disk can write is slowed down, and nothing it sends is lost.
func TestAClientThatSendsTooFastIsSlowedDown(t *testing.T) {
	f := newFakes()
	f.slow = make(chan struct{})
	_, c := open(t, f)
	const times = 10_000
	sent := make(chan error, 1)
	go func() {
		for n := range times {
			if err := c.Receive(contract.SessionSettings{CustomSessionID: fmt.Sprint(n)}); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	<-time.After(100 * time.Millisecond) // the disk is stuck, and the client gets no error for it
	close(f.slow)
	select {
	case err := <-sent:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the message is still blocked")
	}
	c.HangUp()
	<-c.Done()
	settings := 0
	for _, e := range f.stored {
		if e.Type == store.SessionSettings {
			settings++
		}
	}
	if settings != times || f.status != store.UserEnded {
		t.Errorf("%d settings of %d are in the history, and the chat ended as %s", settings, times, f.status)
	}
}

// If waiting takes too long, the chat ends, and the reason says what is too slow.
func TestTheReasonNamesWhatIsTooSlow(t *testing.T) {
	for name, x := range map[string]struct {
		block  func(*fakes)
		code   int
		reason string
	}{
		"client": {func(f *fakes) {
			f.stuck = make(chan struct{})
		}, contract.ClosePolicy, "the client reads too slowly"},
		"disk": {func(f *fakes) {
			f.slow = make(chan struct{})
		}, contract.CloseInternal, "the box writes the history too slowly"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes()
			x.block(f)
			_, c := open(t, f)
			begun := time.Now()
			sent := 0
			for ; c.Receive(contract.SessionSettings{CustomSessionID: fmt.Sprint(sent)}) == nil &&
				c.Fault(contract.BrokenJSON, fmt.Sprint(sent)) == nil; sent++ {
			}
			<-c.Done()
			if code := <-f.closed; code != x.code || f.reason != x.reason || f.status != store.Failed {
				t.Errorf("%s: closed with %d %q, as %s", name, code, f.reason, f.status)
			}
			if took := time.Since(begun); took < backlogLimit || took > backlogLimit+2*lastWriteLimit || sent > 200 {
				t.Errorf("%s: over after %s and %d messages", name, took, sent)
			}
		})
	}
}

// slowNetwork takes sound hardly faster than it plays, like a full line: each piece waits until the one
// before has gone.
type slowNetwork struct {
	*fakes
	files   int
	silence bool      // the client ran dry
	until   time.Time // when everything that came has been played
}

func (s *slowNetwork) RateHz() int { return contract.OutputRateHz }
func (s *slowNetwork) Voice(context.Context, string, string) (engine.Synthesizer, error) {
	return s, nil
}

func (s *slowNetwork) Speak(_ context.Context, _ string, _ engine.SpeakOptions, emit func(engine.Sound) error) error {
	time.Sleep(50 * time.Millisecond)
	return emit(engine.Sound{PCM: second, TotalSamples: len(second), Last: true})
}

var second = make([]float32, contract.OutputRateHz)

func (s *slowNetwork) Play(_ context.Context, sound contract.Sound) error {
	time.Sleep(900 * time.Millisecond)
	s.silence = s.silence || s.files > 0 && time.Now().After(s.until)
	if s.files == 0 {
		s.until = time.Now()
	}
	s.until = s.until.Add(time.Duration(len(sound.PCM)) * time.Second / contract.OutputRateHz)
	s.files++
	return nil
}

// A long text reaches a client on a slow network completely, and the client can speak meanwhile.
func TestALongTextReachesASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowNetwork{fakes: newFakes()}
		h := hostOf(f)
		c := begin(t, h, connection.Opening{Line: f})
		const sentences = 480
		if err := c.Receive(contract.AssistantInput{
			Text: strings.Repeat("This is a sentence. ", sentences)}); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			time.Sleep(10 * time.Second)
			begun := time.Now()
			if err := c.Receive(contract.SessionSettings{CustomSessionID: "mine"}); err != nil ||
				time.Since(begun) > 0 {
				t.Fatalf("settings wait %s, %v", time.Since(begun), err)
			}
		}
		time.Sleep(sentences * time.Second)
		c.HangUp()
		<-c.Done()
		if f.files != sentences || f.silence || f.status != store.UserEnded {
			t.Errorf("%d of %d came, with a hole: %v; the chat ended as %s", f.files, sentences, f.silence, f.status)
		}
		if err := h.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Any goroutine may send messages while another sends sound. The messages of one goroutine stay in order.
func TestManyMayPostAtOnce(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	const posters, each = 4, 15
	var all sync.WaitGroup
	for p := range posters {
		all.Go(func() {
			for n := range each {
				settings := contract.SessionSettings{CustomSessionID: fmt.Sprint(p)}
				settings.Audio = &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: 8000 + p,
					Channels: 1}
				for _, m := range []contract.ClientMessage{settings,
					contract.UserInput{Text: fmt.Sprintf("%d/%d", p, n)},
					contract.ToolErrorMessage{ToolCallID: "none"}} {
					if err := c.Receive(m); err != nil {
						t.Error(err)
					}
				}
				if a := c.Audio(); a == nil || a.SampleRate < 8000 || a.SampleRate >= 8000+posters {
					t.Errorf("the format is %+v", a)
				}
			}
		})
	}
	all.Go(func() { hear(t, c, 2000, true) })
	all.Wait()
	eventually(t, "all that was typed is in the history", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		next := map[int]int{}
		for _, e := range f.stored {
			var p, n int
			if _, err := fmt.Sscanf(e.MessageText, "%d/%d", &p, &n); e.Type != store.UserMessage || err != nil {
				continue
			}
			if n != next[p] {
				t.Fatalf("poster %d: message %d came in the place of %d", p, n, next[p])
			}
			next[p]++
		}
		for p := range posters {
			if next[p] != each {
				return false
			}
		}
		return true
	})
}
