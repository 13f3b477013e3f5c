package soundcheck

import (
	"math"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio/clean/acoustics"
)

func TestJudgeAdvisesForEachRoom(t *testing.T) {
	played := score(rateHz)
	ms := time.Millisecond
	for _, row := range []struct {
		name string
		room acoustics.Room
		louder,
		at float64 // full scale
		hears bool
		says  []string
	}{
		{"a good one", acoustics.Room{
			Echo:    -10,
			Latency: 60 * ms,
			Decay:   300 * ms,
			Noise:   -65,
		}, 1, 1, true, nil},
		{"headphones", acoustics.Room{
			Echo:    -90,
			Latency: 60 * ms,
			Decay:   300 * ms,
			Noise:   -55,
		}, 1, 1, false, []string{"does not hear"}},
		{"a muted one", acoustics.Room{Echo: -200, Decay: 300 * ms}, 0, 1, false, []string{"nothing but silence"}},
		{"an overdriven one", acoustics.Room{
			Echo:    6,
			Latency: 60 * ms,
			Decay:   300 * ms,
			Noise:   -65,
		}, 1, 0.2, true, []string{"overdriven", "louder than what is played"}},
		{"a wireless one", acoustics.Room{
			Echo:    -10,
			Latency: 480 * ms,
			Decay:   300 * ms,
			Noise:   -65,
		}, 1, 1, true, []string{"late"}},
		{"a loud place", acoustics.Room{
			Echo:    -10,
			Latency: 60 * ms,
			Decay:   300 * ms,
			Noise:   -40,
		}, 1, 1, true, []string{"much background noise"}},
	} {
		row.room.RateHz = rateHz
		heard := row.room.Hear(played)
		for i, v := range heard {
			v *= float32(row.louder)
			heard[i] = float32(math.Max(-row.at, math.Min(row.at, float64(v))) / row.at)
		}
		r := judge(recording{pcm: heard, clipped: clipped(heard)}, played, 0)
		t.Logf("%s: %+v", row.name, r)
		if r.Hears != row.hears || len(r.Advice) != len(row.says) {
			t.Errorf("%s: hears %v, wanted %v; says %q", row.name, r.Hears, row.hears, r.Advice)
		}
		for _, want := range row.says {
			if !strings.Contains(strings.Join(r.Advice, "\n"), want) {
				t.Errorf("%s: no advice has %q: %q", row.name, want, r.Advice)
			}
		}
		if late := row.room.Latency.Seconds() * 1000; row.hears && math.Abs(r.DelayMS-late-2) > 8 {
			t.Errorf("%s: it is %.1f ms late, of %.0f", row.name, r.DelayMS, late)
		}
		if row.hears && row.at == 1 && math.Abs(r.EchoDB-row.room.Echo) > 4 {
			t.Errorf("%s: the echo has %.1f dB, of %.0f", row.name, r.EchoDB, row.room.Echo)
		}
	}
}

func TestVaryingDelayIsReported(t *testing.T) {
	played := score(rateHz)
	r := acoustics.Room{
		RateHz:  rateHz,
		Echo:    -10,
		Latency: 60 * time.Millisecond,
		Decay:   300 * time.Millisecond,
		Noise:   -65,
	}
	heard := r.Hear(played)
	at := int((silentFor + chirpEach - 0.1) * rateHz)
	heard = append(heard[:at:at], append(make([]float32, rateHz/50), heard[at:]...)...) // 20 ms are put in
	if got := judge(recording{pcm: heard}, played, 0); math.Abs(got.JumpsMS-20) > 2 ||
		!strings.Contains(strings.Join(got.Advice, " "), "varied by 20 ms") {
		t.Errorf("%+v", got)
	}
}
