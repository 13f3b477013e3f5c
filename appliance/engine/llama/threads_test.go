package llama

import (
	"testing"
	"time"
)

// paced runs n steps at the cost of a step with all threads and with one, and
// returns the mean.
func paced(p *threadTuner, n int, all, one time.Duration) time.Duration {
	var sum time.Duration
	for range n {
		d := all
		if p.threads() == 1 {
			d = one
		}
		p.record(1, d)
		sum += d
	}
	return sum / time.Duration(n)
}

const quick, single, stalled = 27 * time.Millisecond, 40 * time.Millisecond, 300 * time.Millisecond

func TestThePaceCostsNextToNothingOnAQuietMachine(t *testing.T) {
	p := newThreadTuner(2)
	if mean := paced(p, 1000, quick, single); mean > quick*101/100 {
		t.Errorf("%v a step; with all threads it is %v", mean, quick)
	}
	if p.single {
		t.Error("one thread was kept, which is slower")
	}
}

func TestThePaceFleesABusyNeighbourAndComesBack(t *testing.T) {
	p := newThreadTuner(2)
	paced(p, 500, quick, single)
	if mean := paced(p, 12, stalled, single); mean > stalled/2 {
		t.Errorf("%v a step in the first twelve beside a neighbour", mean)
	}
	if mean := paced(p, 1000, stalled, single); mean > single*115/100 {
		t.Errorf("%v a step beside a neighbour; alone it is %v", mean, single)
	}
	paced(p, 2*trialLast, quick, single)
	if p.single {
		t.Error("still one thread, long after the neighbour went")
	}
}

func TestOneThreadIsNeverChanged(t *testing.T) {
	p := newThreadTuner(1)
	paced(p, 100, stalled, stalled)
	if p.threads() != 1 {
		t.Errorf("%d threads of one", p.threads())
	}
}
