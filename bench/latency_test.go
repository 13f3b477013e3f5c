package bench

import (
	"math"
	"testing"
	"time"

	"parley/appliance/engine"
)

const ms = time.Millisecond

// answered returns a normal turn, answered after d, on a machine with a limit of chain
// after the pause.
func answered(name string, d, chain time.Duration) turn {
	t := turn{
		recording: name,
		audible:   true,
		complete:  true,
		soundAt:   d,
	}
	if chain > 0 {
		t.limit = limit{
			pause:      100 * ms,
			transcribe: 50 * ms,
			speak:      60 * ms,
			think:      chain - 210*ms,
		}
	}
	return t
}

func TestTheLimitIsTheSilenceOrTheChainWhicheverIsLonger(t *testing.T) {
	l := limit{
		pause:      96 * ms,
		transcribe: 40 * ms,
		think:      500 * ms,
		speak:      64 * ms,
	}
	for silence, want := range map[time.Duration]time.Duration{800 * ms: 800 * ms, 700 * ms: 700 * ms,
		500 * ms: 700 * ms} {
		if got := l.forSilence(silence); got != want {
			t.Errorf("with %v of silence the limit is %v, want %v", silence, got, want)
		}
	}
}

func TestARatioIsOfEachTurnToItsOwnLimit(t *testing.T) {
	r := Report{}
	early := answered("early", 100*ms, 900*ms)
	early.early = true
	r.limits("", []turn{
		answered("quick machine", 880*ms, 300*ms),  // 880 / 800
		answered("slow machine", 1500*ms, 1000*ms), // 1500 / 1000
		answered("not measured", 5000*ms, 0),
		early,
		answered("between", 1200*ms, 1000*ms), // 1200 / 1000
	})
	r.has(t, map[string][2]float64{
		"limit_median": {1000, 1000}, "limit_p95": {1000, 1000},
		"answer_over_limit_median": {1.2, 1.2}, "answer_over_limit_p95": {1.5, 1.5},
	})
	r = Report{}
	r.limits("", []turn{answered("not measured", 900*ms, 0)})
	if len(r.Figures) != 0 {
		t.Errorf("without any limit there are %v", r.Figures)
	}
}

func TestAddedIsTheAnswerWithoutTheSilence(t *testing.T) {
	r := Report{}
	mute := turn{complete: true}
	failed := turn{fault: "E0", complete: true}
	early := answered("", 10*ms, 0)
	early.early = true
	r.latency("x_", []turn{answered("", 850*ms, 0), answered("", 900*ms, 0), answered("", 1300*ms, 0), mute, failed,
		early})
	r.has(t, map[string][2]float64{
		"x_answer_median": {900, 900}, "x_answer_p95": {1300, 1300}, "x_added_median": {100, 100},
		"x_added_p95":   {500, 500},
		"x_turns_early": {1, 1}, "x_turns_unanswered": {1, 1}, "x_turns_failed": {1, 1},
	})
}

func TestFairnessHoldsTheSlowestCallerAgainstTheFastest(t *testing.T) {
	r := Report{}
	chat := func(all ...time.Duration) (turns []turn) {
		for _, d := range all {
			turns = append(turns, answered("", d, 0))
		}
		return turns
	}
	r.fairness("", [][]turn{chat(900*ms, 1000*ms, 9000*ms), chat(1600*ms, 1700*ms, 1800*ms),
		chat(850*ms, 1100*ms, 1200*ms)})
	for name, want := range map[string]float64{"answer_slowest_chat": 1.7, "added_slowest_chat": 4.5} {
		if f := r.find(t, name); math.Abs(float64(*f.Ratio)-want) > 1e-9 {
			t.Errorf("%s: %v times the fastest, want %v", name, *f.Ratio, want)
		}
	}
	r = Report{}
	r.fairness("", [][]turn{chat(900 * ms), {{complete: true}}})
	if f := r.find(t, "answer_slowest_chat"); !f.Ratio.missing() {
		t.Errorf("beside a chat that was never answered the ratio is %v", *f.Ratio)
	}
}

func (r Report) find(t *testing.T, name string) Figure {
	t.Helper()
	for _, f := range r.Figures {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no figure is %s", name)
	return Figure{}
}

func TestATurnIsToldWithItsLimit(t *testing.T) {
	got := answered("one", 1500*ms, 1000*ms).report(4, 2)
	want := Turn{
		Callers:    4,
		Caller:     2,
		Recording:  "one",
		Outcome:    "answered",
		Answer:     1500,
		Added:      700,
		Limit:      1000,
		Ratio:      1.5,
		Pause:      100,
		Transcribe: 50,
		Think:      790,
		Speak:      60,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	got = turn{recording: "two", complete: true}.report(1, 1)
	if got.Outcome != "unanswered" || !got.Answer.missing() || !got.Added.missing() || !got.Limit.missing() ||
		!got.Ratio.missing() {
		t.Errorf("%+v", got)
	}
}

func TestCallersAreSpreadAndNeverInStep(t *testing.T) {
	var seen []float64
	for i := range 16 {
		at := spread(i)
		if at < 0 || at >= 1 {
			t.Fatalf("number %d is %v", i, at)
		}
		for j, other := range seen {
			if math.Abs(at-other) < 0.03 {
				t.Errorf("number %d is beside number %d: %v and %v", i, j, at, other)
			}
		}
		seen = append(seen, at)
	}
}

func TestOfARecordingTheSoundIsKept(t *testing.T) {
	pcm := joined(silence(300*ms), tone(500*ms, -6), silence(100*ms), tone(200*ms, -6), silence(400*ms))
	if got, want := len(trimSilence(pcm, testRateHz)), testRateHz*8/10; got != want {
		t.Errorf("%d samples, want %d", got, want)
	}
	if got := trimSilence(silence(time.Second), engine.SpeechRateHz); len(got) != 0 {
		t.Errorf("%d samples of silence", len(got))
	}
}
