package update

import "testing"

// allSteps returns all steps but Over.
func allSteps() []Step {
	return []Step{Prepared, Stopping, Copying, Installing, Replacing, Checking, Keeping, Returning}
}

func TestEveryStepLeadsToTheEnd(t *testing.T) {
	for _, s := range allSteps() {
		n := 0
		for at := s; at != Over; at = next(at) {
			if n++; n > len(allSteps()) {
				t.Fatalf("%s never ends", s)
			}
		}
	}
}

func TestUncheckedVersionIsNeverKept(t *testing.T) {
	for _, s := range allSteps() {
		if s != Checking && next(s) == Keeping {
			t.Errorf("%s leads to %s without a check", s, Keeping)
		}
		if then := afterFailure(s); s != Keeping && then != Returning {
			t.Errorf("after a failure of %s comes %s", s, then)
		}
	}
	if afterFailure(Keeping) != Keeping {
		t.Error("a version that has passed the check is given up")
	}
}
