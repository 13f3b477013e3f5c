package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
)

// number returns the number that a message of says holds.
func number(t *testing.T, c connection.Copy) int {
	t.Helper()
	u, ok := c.Message.(contract.UserMessage)
	if !ok {
		t.Fatalf("%+v", c)
	}
	n, err := strconv.Atoi(u.Message.Content)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A listener that joins at any time receives everything once and in order, after it is in the history.
func TestListenersGetEverythingOnceAndInOrder(t *testing.T) {
	w := &world{}
	s, finish := w.start(t)
	const all = 200
	var listening sync.WaitGroup
	for n := range all {
		tell(t, s, says(n))
		if n%20 != 0 {
			continue
		}
		l, err := s.Listen(false)
		if err != nil {
			t.Fatal(err)
		}
		listening.Go(func() {
			for want := 0; ; want++ {
				c, err := l.Next(context.Background())
				if err != nil {
					if want != all || !errors.Is(err, io.EOF) {
						t.Errorf("after %d: %v", want, err)
					}
					return
				}
				w.mu.Lock()
				stored := w.stored
				w.mu.Unlock()
				if got := number(t, c); got != want || got >= stored {
					t.Errorf("message %d came for %d, and %d are in the history", got, want, stored)
				}
			}
		})
	}
	finish()
	listening.Wait()
	if _, err := s.Listen(false); !errors.Is(err, ErrOver) {
		t.Errorf("listening to a chat that is over: %v", err)
	}
}

func TestNothingIsSentBeforeItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{disk: make(chan struct{})}
		s, finish := w.start(t)
		l, _ := s.Listen(true)
		tell(t, s, says(1), sound("a", 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if c, err := l.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", c, err)
		}
		close(w.disk)
		if c, err := l.Next(t.Context()); err != nil || number(t, c) != 1 {
			t.Errorf("%+v, %v", c, err)
		}
		finish()
	})
}

// A listener that does not listen is cut off with the reason, after what it was given. The chat and the other
// listeners are not affected.
func TestASlowListenerIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		s, finish := w.start(t)
		tell(t, s, says(0))
		synctest.Wait()
		slow, _ := s.Listen(false)
		loud, _ := s.Listen(true)
		quick, _ := s.Listen(true)
		got := make(chan int)
		go func() {
			n := 0
			for ; ; n++ {
				if _, err := quick.Next(context.Background()); err != nil {
					break
				}
			}
			got <- n
		}()
		for range 130 { // seconds of sound
			tell(t, s, sound("a", contract.OutputRateHz))
			synctest.Wait()
		}
		for n := range maxBehindMessages + 100 {
			tell(t, s, says(n+1))
			synctest.Wait()
		}
		finish()
		if len(w.sent) != 1+maxBehindMessages+100 {
			t.Errorf("the client got %d", len(w.sent))
		}
		if n := <-got; n != 130+1+maxBehindMessages+100 {
			t.Errorf("the quick one got %d", n)
		}
		ends := func(l *Listener) (n int, err error) {
			for err == nil {
				_, err = l.Next(t.Context())
				n++
			}
			return n - 1, err
		}
		if n, err := ends(slow); n != 1+maxBehindMessages || !errors.Is(err, ErrBehind) {
			t.Errorf("the slow one got %d, %v", n, err)
		}
		if n, err := ends(loud); n != 1+120 || !errors.Is(err, ErrBehind) {
			t.Errorf("the one behind with its sound got %d, %v", n, err)
		}
		if n := len(s.audience.listeners); n != 0 {
			t.Errorf("%d listeners are left", n)
		}
	})
}

// The replay holds the first message and the newest ones, bounded by number and size. Interim transcripts are
// not stored.
func TestTheReplayIsBounded(t *testing.T) {
	for name, x := range map[string]struct{ length, want int }{"many": {10, maxReplayMessages},
		"long": {maxReplayBytes / 4, 4}} {
		var a audience
		a.message(contract.ChatMetadata{ChatID: "c"})
		for n := range 1100 {
			words := contract.ChatMessage{Content: fmt.Sprint(n, strings.Repeat(" ", x.length))}
			a.message(contract.UserMessage{Interim: true, Message: words})
			a.message(contract.UserMessage{Message: words})
		}
		l, err := a.listen(false)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.waiting) != x.want || l.Missed() != 1101-x.want {
			t.Errorf("%s: %d are kept, %d missed", name, len(l.waiting), l.Missed())
		}
		if m, ok := l.waiting[0].Message.(contract.ChatMetadata); !ok || m.ChatID != "c" {
			t.Errorf("%s: the first is %+v", name, l.waiting[0].Message)
		}
		last := l.waiting[len(l.waiting)-1].Message.(contract.UserMessage)
		if !strings.HasPrefix(last.Message.Content, "1099") || last.Interim {
			t.Errorf("%s: the last is %.20q", name, last.Message.Content)
		}
	}
}

func TestSoundGoesToListenersThatWantIt(t *testing.T) {
	w := &world{}
	s, finish := w.start(t)
	with, _ := s.Listen(true)
	without, _ := s.Listen(false)
	gone, _ := s.Listen(true)
	gone.Close()
	pcm := []float32{1, 2, 3}
	tell(t, s, turn.Publish{Fact: turn.SoundSent{ID: "a", Index: 2, PCM: pcm}}, says(7))
	if c, err := with.Next(t.Context()); err != nil || c.Sound == nil || c.Sound.Index != 2 ||
		&c.Sound.PCM[0] != &pcm[0] {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := without.Next(t.Context()); err != nil || number(t, c) != 7 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := gone.Next(t.Context()); !errors.Is(err, ErrLeft) {
		t.Errorf("%+v, %v", c, err)
	}
	finish()
}
