package bench

import (
	"slices"
	"testing"
	"time"
)

// Each click that came belongs to the newest that had left by then.
func TestClicksAreTimedByTheNewestThatLeft(t *testing.T) {
	zero := time.Unix(1000, 0)
	at := func(ms ...int) (all []time.Time) {
		for _, n := range ms {
			all = append(all, zero.Add(time.Duration(n)*time.Millisecond))
		}
		return all
	}
	got := passed(at(0, 500, 1000, 1500), at(-3, 40, 530, 1570, 2600))
	if want := []time.Duration{40 * time.Millisecond, 30 * time.Millisecond, 70 * time.Millisecond}; !slices.Equal(got,
		want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAClickBeginsOnce(t *testing.T) {
	loud, n := false, 0
	for _, pcm := range [][]float32{{0, 0}, {0, 0.5}, {0.5, 0.4}, {0.01, 0}, {0, -0.02}, {0.3}} {
		if begins(pcm, &loud) {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d clicks begin, want 2", n)
	}
}

// A packet is concealed if it does not come within the time that a listener waits,
// counted from the one that took the shortest; five in a row are a gap.
func TestAListenerConcealsWhatIsLostOrLate(t *testing.T) {
	zero := time.Unix(1000, 0)
	came := func(late func(n int) (ms int, comes bool)) (all []arrival) {
		for n := range 100 {
			if ms, comes := late(n); comes {
				all = append(all, arrival{uint16(65500 + n), zero.Add(time.Duration(20*n+ms) * time.Millisecond)})
			}
		}
		return all
	}
	for name, row := range map[string]struct {
		late func(n int) (int, bool)
		want float64
		gaps int
	}{
		"all in time":      {func(int) (int, bool) { return 30, true }, 0, 0},
		"late, not lost":   {func(n int) (int, bool) { return 60 * (n % 2), true }, 0, 0},
		"too late":         {func(n int) (int, bool) { return 61 * (n % 2), true }, 0.5, 0},
		"one of ten lost":  {func(n int) (int, bool) { return 0, n%10 != 5 }, 0.1, 0},
		"a tenth in a row": {func(n int) (int, bool) { return 0, n < 50 || n >= 60 }, 0.1, 1},
	} {
		if concealed, gaps := listened(came(row.late), 20*time.Millisecond); concealed != row.want || gaps != row.gaps {
			t.Errorf("%s: %v concealed and %d gaps, want %v and %d", name, concealed, gaps, row.want, row.gaps)
		}
	}
}

// What calls take is told only where their voices came.
func TestCallsThatWereNotHeardAreNotMeasured(t *testing.T) {
	const spoken = 20 * 9 * time.Second
	for heard, refused := range map[time.Duration]bool{0: true, spoken / 2: true, spoken - spoken/20: false,
		spoken + time.Second: false} {
		if err := flowed(heard, spoken); (err != nil) != refused {
			t.Errorf("%v of %v heard: %v", heard, spoken, err)
		}
	}
}
