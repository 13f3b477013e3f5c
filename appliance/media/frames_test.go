package media

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"
)

// counter is a video of 80x16 pixels, each of whose frames shows its number, in binary digits of 8
// pixels, the lowest at the left.
func counter(rate string, length time.Duration) string {
	return fmt.Sprintf("-f lavfi -i nullsrc=s=80x16:r=%s:d=%v,format=gray,"+
		"geq=lum='16+219*mod(floor(N/pow(2,floor(X/8))),2)'", rate, length.Seconds())
}

// shown returns the number that a frame of counter shows.
func shown(f Frame) (n int) {
	for bit := range 10 {
		if f.RGB[3*(f.Width*f.Height/2+8*bit+4)] > 128 {
			n |= 1 << bit
		}
	}
	return n
}

type seen struct {
	number, shown int
	at            time.Duration
}

func framesOf(t *testing.T, path string, fps float64) (all []seen) {
	t.Helper()
	r := Reader{Urgent: true}
	if err := r.Frames(t.Context(), path, fps, func(f Frame) error {
		all = append(all, seen{f.Number, shown(f), f.Time})
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	return all
}

// Each frame has the number and the time that it has in the video, whatever its rate, its start
// and its container.
func TestFramesHaveTheirNumbersAndTimes(t *testing.T) {
	t.Parallel()
	const code = " -c:v libx264 -preset ultrafast -qp 10 "
	ntsc := 30000.0 / 1001
	steady := func(rate float64) func(int) float64 { return func(n int) float64 { return float64(n) / rate } }
	varying := func(n int) float64 { return (float64(n) + 0.6*float64(n%3)/2) / 25 }
	vary := ` -vf settb=1/1000,setpts=(N+0.3*mod(N\,3))/25/TB -fps_mode passthrough -enc_time_base 1/1000`
	for _, c := range []struct {
		name, args string
		time       func(n int) float64
		total      int
	}{
		{"steady.mp4", counter("30", 3*time.Second) + code + "OUT", steady(30), 90},
		{"ntsc.mkv", counter("30000/1001", 3*time.Second) + code + "OUT", steady(ntsc), 90},
		{"late.ts", counter("25", 3*time.Second) + code + "-output_ts_offset 5000 OUT", steady(25), 75},
		{"varying.mkv", counter("25", 3*time.Second) + vary + code + "OUT", varying, 75},
		{"browser.webm", counter("30", 2*time.Second) + " -c:v libvpx -deadline realtime -b:v 1M -f webm -live 1 OUT",
			steady(30), 60},
		{"old.avi", counter("15", 2*time.Second) + " -c:v mpeg4 -q:v 2 OUT", steady(15), 30},
	} {
		path := made(t, c.name, c.args)
		for _, fps := range []float64{7, 60} {
			var want []seen
			chosen := -1.0
			for n := range c.total {
				if at := math.Floor(c.time(n)*fps + 0.01); at > chosen {
					chosen = at
					want = append(want, seen{n, n, time.Duration(c.time(n) * float64(time.Second))})
				}
			}
			got := framesOf(t, path, fps)
			if len(got) != len(want) {
				t.Errorf("%s at %v: %d frames, want %d: %v", c.name, fps, len(got), len(want), got)
				continue
			}
			for i, w := range want {
				if g := got[i]; g.number != w.number || g.shown != w.shown || (g.at-w.at).Abs() > 2*time.Millisecond {
					t.Errorf("%s at %v: frame %d is %+v, want %+v", c.name, fps, i, g, w)
				}
			}
		}
	}
}
