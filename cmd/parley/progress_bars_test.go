package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"

	"parley/internal/progress"
)

// pull has the events of a pack, one a second.
func pullEvents() []progress.Event {
	return []progress.Event{
		{
			Name:  "voice",
			Step:  progress.Downloading,
			Done:  0,
			Total: 20e6,
		},
		{
			Name:  "voice",
			Step:  progress.Downloading,
			Done:  0,
			Total: 20e6,
		},
		{
			Name:  "voice",
			Step:  progress.Downloading,
			Done:  15e6,
			Total: 20e6,
		},
		{
			Name:  "voice",
			Step:  progress.Unpacking,
			Done:  20e6,
			Total: 20e6,
		},
		{
			Name:  "voice",
			Step:  progress.Unpacking,
			Done:  20e6,
			Total: 20e6,
		},
		{
			Name:  "voice",
			Step:  progress.Checking,
			Done:  20e6,
			Total: 20e6,
		},
		{
			Name:  "voice",
			Step:  progress.Checking,
			Done:  20e6,
			Total: 20e6,
		},
		{
			Name:  "voice",
			Step:  progress.Done,
			Done:  20e6,
			Total: 20e6,
		},
	}
}

func TestBarsSayWhatIsDoneAndNoSpeedWhereNothingMoves(t *testing.T) {
	var p throughput
	var said []string
	now := time.Now()
	for _, e := range pullEvents() {
		said = append(said, p.describe(e, now))
		now = now.Add(time.Second)
	}
	want := "downloading|downloading|downloading, 7.5 MB/s|unpacking|unpacking|checking|checking|done"
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("it said %s, want %s", got, want)
	}
}

func TestABarIsDrawnWithItsStep(t *testing.T) {
	var out bytes.Buffer
	refresh := make(chan any)
	b := &bars{all: mpb.New(mpb.WithOutput(&out), mpb.WithWidth(60), mpb.WithManualRefresh(refresh)),
		bars: map[string]*bar{}}
	for _, e := range pullEvents() {
		b.show(e)
		refresh <- time.Now()
	}
	b.close()
	for _, want := range []string{"voice", "downloading", "15.0 MB of 20.0 MB", "unpacking", "checking", "done"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing was drawn with %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "0.0 b") {
		t.Errorf("drawn was:\n%s", &out)
	}
}

func TestALogHearsOfAPackNowAndThen(t *testing.T) {
	var out bytes.Buffer
	now := time.Now()
	l := &lines{w: &out, now: func() time.Time { return now }, reported: map[string]*reported{}}
	for _, e := range pullEvents() {
		l.show(e)
		now = now.Add(6 * time.Second)
	}
	want := `voice: downloading, 20.0 MB
voice: 15.0 of 20.0 MB, downloading, 1.2 MB/s
voice: 20.0 of 20.0 MB, unpacking
voice: 20.0 of 20.0 MB, checking
voice: done, 20.0 MB in 42.0 s
`
	if out.String() != want {
		t.Errorf("it said\n%swant\n%s", &out, want)
	}
}
