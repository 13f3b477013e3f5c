package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/expression"
)

const (
	// feltWithinMS is for how long a message may wait for its feelings.
	feltWithinMS = 20
	// referenceMS is what the features of a second of voice take in the reference
	// that the models were trained with (NumPy, one core), and referenceTextUS what
	// the words of a sentence took where they were ported first.
	referenceMS     = 27
	referenceTextUS = 24
)

// Expression measures how long feelings take to measure, and whether they differ.
func Expression(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	r := Report{Bench: "expression", Machine: describe(o.Config)}
	meter, err := expression.New()
	if err != nil {
		return r, err
	}
	all, err := recordings(o.Recordings)
	if err != nil {
		return r, err
	}
	all = all[:min(len(all), o.Prompts)]
	o.say("measuring the feelings in %d recordings", len(all))
	var heard []time.Duration
	var seconds float64
	seen := newVariety()
	for _, x := range all {
		if err := context.Cause(ctx); err != nil {
			return r, err
		}
		s := meter.NewSound()
		took, err := worked(func() { inFrames(x.PCM, s.Hear) })
		if err != nil {
			return r, err
		}
		heard = append(heard, time.Duration(float64(took)/x.duration().Seconds()))
		seconds += x.duration().Seconds()
		scores, _ := s.Tone().Express(x.Text, "en")
		seen.add(scores)
	}
	r.against("second_of_speech", median(heard)/float64(time.Millisecond), "ms", referenceMS,
		fmt.Sprintf("as it comes, 32 ms at a time, the median of %d recordings (%.0f s); the reference in NumPy",
			len(all), seconds))
	for _, length := range []int{1, 3, 10, 20} {
		if err := r.pauseAfter(o, meter, all, length); err != nil {
			return r, err
		}
	}
	took, err := workedOften(max(o.Rounds, 100), func() { meter.Text(longSentence) })
	r.against("sentence", microseconds(took), "µs", referenceTextUS,
		fmt.Sprintf("the words of a sentence of %d characters; where they were ported first", len(longSentence)))
	seen.report(&r)
	return r, err
}

// worked is the processor time that a call takes: it is of one thread, so what else
// the machine does weighs little.
func worked(call func()) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &before); err != nil {
		return 0, fmt.Errorf("reading the clock of a thread: %w", err)
	}
	call()
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &after); err != nil {
		return 0, fmt.Errorf("reading the clock of a thread: %w", err)
	}
	return time.Duration(after.Nano() - before.Nano()), nil
}

// workedOften is the median of so many calls, after a first that does not count.
func workedOften(rounds int, call func()) (time.Duration, error) {
	var took []time.Duration
	for i := range rounds + 1 {
		t, err := worked(call)
		if err != nil {
			return 0, err
		}
		if i > 0 {
			took = append(took, t)
		}
	}
	return time.Duration(median(took)), nil
}

// inFrames gives a sound to hear as the ear does, in frames of 32 ms.
func inFrames(pcm []float32, hear func([]float32)) {
	const frame = engine.SpeechRateHz * 32 / 1000
	for len(pcm) > 0 {
		n := min(frame, len(pcm))
		hear(pcm[:n])
		pcm = pcm[n:]
	}
}

// pauseAfter times what is left when somebody falls silent who has spoken for so
// many seconds: the tone, and the words.
func (r *Report) pauseAfter(o Options, meter *expression.Meter, all []recording, seconds int) error {
	var pcm []float32
	for i := 0; len(pcm) < seconds*engine.SpeechRateHz; i++ {
		pcm = append(pcm, all[i%len(all)].PCM...)
	}
	s := meter.NewSound()
	inFrames(pcm[:seconds*engine.SpeechRateHz], s.Hear)
	took, err := workedOften(o.Rounds, func() {
		s.Tone().Express(longSentence, "en")
	})
	r.against(fmt.Sprintf("pause_after_%ds", seconds), milliseconds(took), "ms", feltWithinMS,
		"what is left at a pause, with the words; the limit, for which a message waits")
	return err
}

// variety is how the scores of several utterances differ.
type variety struct {
	least, most contract.EmotionScores
	tops        map[int]int
	number      int
}

func newVariety() *variety { return &variety{tops: map[int]int{}} }

func (v *variety) add(s contract.EmotionScores) {
	top := 0
	for i, x := range s {
		if v.number == 0 {
			v.least[i], v.most[i] = x, x
		}
		v.least[i], v.most[i] = min(v.least[i], x), max(v.most[i], x)
		if x > s[top] {
			top = i
		}
	}
	v.number++
	v.tops[top]++
}

func (v *variety) report(r *Report) {
	var ranges []float64
	constant, most := 0, 0
	for i := range v.least {
		if v.least[i] == v.most[i] {
			constant++
		}
		ranges = append(ranges, v.most[i]-v.least[i])
	}
	for _, n := range v.tops {
		most = max(most, n)
	}
	r.figure("names_on_top", float64(len(v.tops)), "",
		fmt.Sprintf("of %d that were the strongest in some recording", contract.EmotionCount))
	r.figure("most_on_top", 100*float64(most)/float64(v.number), "%",
		"of the recordings have the same strongest one; all that are spoken in one manner have")
	r.figure("constant_names", float64(constant), "",
		"that had one and the same score in all recordings: the words that they hang on were not said")
	r.figure("range", median(ranges), "", "from the least to the most of a name, the median of the names")
}
