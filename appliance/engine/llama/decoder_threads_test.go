package llama

import (
	"testing"
	"time"
)

// meanStep runs n steps at the given costs of a step with all threads and with one, and returns the
// mean.
func meanStep(p *threadTuner, n int, all, one time.Duration) time.Duration {
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

func TestThreadTrialsCostLittleOnAQuietMachine(t *testing.T) {
	p := newThreadTuner(2)
	if mean := meanStep(p, 1000, quick, single); mean > quick*101/100 {
		t.Errorf("%v a step; with all threads it is %v", mean, quick)
	}
	if p.single {
		t.Error("the slower single thread was chosen")
	}
}

func TestTheThreadTunerAvoidsABusyNeighbourAndReturns(t *testing.T) {
	p := newThreadTuner(2)
	meanStep(p, 500, quick, single)
	if mean := meanStep(p, 12, stalled, single); mean > stalled/2 {
		t.Errorf("%v a step in the first twelve next to a busy process", mean)
	}
	if mean := meanStep(p, 1000, stalled, single); mean > single*115/100 {
		t.Errorf("%v a step next to a busy process; alone it is %v", mean, single)
	}
	meanStep(p, 2*maxTrialInterval, quick, single)
	if p.single {
		t.Error("still one thread, long after the neighbour went")
	}
}

func TestOneThreadIsNeverChanged(t *testing.T) {
	p := newThreadTuner(1)
	meanStep(p, 100, stalled, stalled)
	if p.threads() != 1 {
		t.Errorf("%d threads of one", p.threads())
	}
}
