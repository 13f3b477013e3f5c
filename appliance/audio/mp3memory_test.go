package audio

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// resident returns the process's memory in MiB, after a collection.
func resident(t *testing.T) int {
	t.Helper()
	runtime.GC()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}

// An encoder takes 300 KB that the garbage collector does not see: without free, each of these
// rounds would leak 30 MB.
func TestMP3WritersLeakNothing(t *testing.T) {
	round := func() {
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				w, err := NewMP3Writer(io.Discard, 22050)
				if err == nil {
					err = w.Write(make([]float32, 500)) // less than a frame
				}
				if err == nil {
					err = w.Close()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	round()
	before := resident(t)
	for range 8 {
		round()
	}
	if more := resident(t) - before; more > 60 {
		t.Errorf("%d MiB more after 800 writers", more)
	}
}

func TestMP3WriterMemoryIsConstant(t *testing.T) {
	seconds := 60
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		seconds = 3600
	}
	pcm := spoken(t, 22050)
	w, err := NewMP3Writer(io.Discard, 22050)
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	for second := 0; second < seconds; second += 4 {
		if err := w.Write(pcm); err != nil {
			t.Fatal(err)
		}
		if second == 4 {
			before = resident(t)
		}
	}
	if more := resident(t) - before; more > 8 {
		t.Errorf("%d MiB more", more)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
