package batch

import (
	"context"
	"testing"

	"parley/appliance/analysis"
	"parley/appliance/contract"
)

// The details of a running job say how many of its sources are done.
func TestRunningJobSaysHowFarItIs(t *testing.T) {
	b := newBox(t)
	id := b.submit(`{"text":["one","two","three"]}`)
	var seen []int64
	b.start(func(ctx context.Context, s analysis.Source, r analysis.Request) (analysis.Report, error) {
		j, err := b.Job(ctx, b.account, id)
		if err != nil || j.State.Status != contract.JobInProgress || *j.State.NumSources != 3 {
			t.Errorf("%+v, %v", j.State, err)
			return analysis.Report{}, err
		}
		seen = append(seen, *j.State.NumSourcesDone)
		return words(ctx, s, r)
	})
	j := b.wait(id)
	if len(seen) != 3 || seen[0] != 0 || seen[1] != 1 || seen[2] != 2 {
		t.Errorf("done before each source: %v", seen)
	}
	if s := j.State; s.NumSources != nil || s.NumSourcesDone != nil {
		t.Errorf("ended as %+v", s)
	}
}
