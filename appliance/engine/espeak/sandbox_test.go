package espeak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// attacks are what code could try that has taken over the process. Each returns "did" if it
// succeeded.
func attacks() map[string]func(string) (string, error) {
	did := func(err error) (string, error) { return "did", err }
	return map[string]func(string) (string, error){
		"hang": func(string) (string, error) {
			for i := 0; ; i++ {
				_ = i
			}
		},
		"sleep": func(string) (string, error) { time.Sleep(time.Hour); return "did", nil },
		"exit":  func(string) (string, error) { os.Exit(3); return "", nil },
		"crash": func(string) (string, error) {
			return did(syscall.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGSEGV))
		},
		"prattle": func(string) (string, error) {
			for {
				fmt.Print(strings.Repeat("x", 1<<16))
			}
		},
		"allocate": func(string) (string, error) {
			var all [][]byte
			for {
				b := make([]byte, 1<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				all = append(all, b)
				runtime.KeepAlive(all)
			}
		},
		"read": func(path string) (string, error) { _, err := os.ReadFile(path); return did(err) },
	}
}

// The process reads its data, also for a language that was not loaded before the sandbox closed,
// and nothing else.
func TestTheProcessIsSandboxed(t *testing.T) {
	p := openMisbehaving(t)
	if len(p.MissingSandbox()) > 0 {
		t.Skipf("this kernel lacks %q", p.MissingSandbox())
	}
	if got, err := p.ask(t.Context(), question{Voice: "en-us", Words: "read /etc/passwd"}); err == nil ||
		!strings.Contains(err.Error(), "permission denied") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := p.Phonemize(t.Context(), "bonjour", "fr-fr"); err != nil || got != "bɔ̃ʒˈuʁ" {
		t.Errorf("%q, %v", got, err)
	}
}

// The process cannot allocate much memory, and a process that dies in any way is replaced: the next
// text is spoken.
func TestWhateverItDiesOfTheNextTextIsSpoken(t *testing.T) {
	p := openMisbehaving(t)
	for _, deed := range []string{"exit", "crash", "allocate", "prattle"} {
		begun := time.Now()
		if _, err := p.ask(t.Context(), question{Voice: "en-us", Words: deed}); !errors.Is(err, errDied) {
			t.Errorf("%s: %v, want that it died", deed, err)
		}
		if got, err := p.Phonemize(t.Context(), "hot", "en-us"); err != nil || got != "hˈɑːt" {
			t.Errorf("after %s: %q, %v", deed, got, err)
		}
		t.Logf("%s: %v", deed, time.Since(begun))
	}
}

// A text that hangs the process costs that text one bounded wait, and others a tenth of a second,
// since they use a second process.
func TestAHangDelaysNoOtherCaller(t *testing.T) {
	p := openMisbehaving(t)
	for _, deed := range []string{"hang", "sleep"} {
		var all sync.WaitGroup
		all.Go(func() {
			begun := time.Now()
			got, err := p.Phonemize(t.Context(), "hot, "+deed+", hot", "en-us")
			if err != nil || got != "hˈɑːt, hˈɑːt" || time.Since(begun) > textTime {
				t.Errorf("%s in a text: %q, %v after %v", deed, got, err, time.Since(begun))
			}
		})
		time.Sleep(50 * time.Millisecond)
		for range 7 {
			all.Go(func() {
				begun := time.Now()
				got, err := p.Phonemize(t.Context(), "hot", "en-us")
				if err != nil || got != "hˈɑːt" || time.Since(begun) > answerTime/2 {
					t.Errorf("beside it: %q, %v after %v", got, err, time.Since(begun))
				}
			})
		}
		all.Wait()
	}
}

// Texts that hang all processes delay others no longer than one hang.
func TestHangsEverywhereEnd(t *testing.T) {
	p := openMisbehaving(t)
	var all sync.WaitGroup
	for range maxProcesses {
		all.Go(func() {
			if _, err := p.Phonemize(t.Context(), "hang", "en-us"); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(4 * secondAfter)
	begun := time.Now()
	if got, err := p.Phonemize(t.Context(), "hot", "en-us"); err != nil || got != "hˈɑːt" ||
		time.Since(begun) > textTime {
		t.Errorf("%q, %v after %v", got, err, time.Since(begun))
	}
	all.Wait()
	// A text of such words only is given up.
	begun = time.Now()
	if _, err := p.Phonemize(t.Context(), strings.Repeat("hang. ", 20), "en-us"); !errors.Is(err, errTooLong) ||
		time.Since(begun) > textTime+time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

func TestACancelledCallReturnsAtOnce(t *testing.T) {
	p := openMisbehaving(t)
	gone := errors.New("the user spoke")
	ctx, leave := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { leave(gone) })
	begun := time.Now()
	if _, err := p.Phonemize(ctx, "hang", "en-us"); !errors.Is(err, gone) || time.Since(begun) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	// Close does not wait for a process that hangs.
	begun = time.Now()
	if err := p.Close(); err != nil || time.Since(begun) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// firstProcess is the process that waits for questions.
func firstProcess(t *testing.T, p *Phonemizer) *process {
	t.Helper()
	c, err := p.pool.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.pool.put(c, true)
	return c
}
