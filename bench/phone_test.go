package bench

import "testing"

func TestHearingOverATelephoneIsMeasured(t *testing.T) {
	r, err := Phone(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	within := map[string][2]float64{
		"voice_loudness_pcmu": {-22, -16}, "voice_peak_pcmu": {-12, 0}, "voice_word_error_pcmu": {0, 30},
	}
	for _, p := range phonePaths() {
		within["word_error_"+p.name] = [2]float64{0, 40}
		within["barge_in_median_"+p.name] = [2]float64{800, 2000}
		within["turn_end_median_"+p.name] = [2]float64{700, 1100}
		within["turns_missed_"+p.name] = [2]float64{0, 0}
	}
	r.has(t, within)
}

// The halves have no recording in common.
func TestHeldRecordingsAreNeverTuned(t *testing.T) {
	said, err := recordings("")
	if err != nil {
		t.Fatal(err)
	}
	tuned := map[string]bool{}
	o := options(t)
	o.Prompts, o.Half = 20, tunedHalf
	for _, half := range []string{tunedHalf, heldHalf, ""} {
		o.Half = half
		some, err := phonePrompts(said, o)
		if err != nil || len(some) != o.Prompts {
			t.Fatalf("%q: %d recordings, %v", half, len(some), err)
		}
		for _, p := range some {
			if half == tunedHalf {
				tuned[p.Name] = true
			} else if tuned[p.Name] {
				t.Errorf("%q: %s is of the tuned half too", half, p.Name)
			}
		}
	}
}
