package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

const (
	// speechOver is what the assistant says while it is disturbed: ten seconds.
	speechOver = "The museum was built more than a hundred years ago by a rich merchant who loved ships. " +
		"Its largest hall holds the whole bow of an old ferry, which was carried here in nine parts. " +
		"Children like the room below it best, where they may pull every rope."
	// disturbedAfter is how long it has been speaking then.
	disturbedAfter = 1200 * time.Millisecond
	// disturbedSeen is how long an interruption is waited for behind the last
	// sound: it takes the voice detector and the threshold less than that.
	disturbedSeen = time.Second
	// takenUp is how long a sentence that was cut for nothing may take to go on.
	takenUp = 4 * time.Second
	// echoSeen is how long an answer to its own voice is waited for.
	echoSeen = 3 * time.Second
	// stopLimit and stopLimit95 are how long in milliseconds after the threshold
	// a speaking assistant may go on.
	stopLimit, stopLimit95 = 50, 120
)

// speechRate is the rate of all that is said to a box.
const speechRate = engine.SpeechRateHz

// disturbed is what came of a disturbance.
type disturbed struct {
	disturbance
	stopped  bool
	late     time.Duration // after the voice had lasted for as long as interrupts
	goesOn   bool          // what was stopped was taken up again
	answered bool          // as if it had been said
	fault    string
}

// String is what came of it, in words.
func (d disturbed) String() string {
	switch {
	case d.fault != "":
		return d.fault
	case d.stopped && d.goesOn:
		return "stopped the assistant, which went on"
	case d.stopped && d.kind == someSpeech:
		return fmt.Sprintf("stopped the assistant %d ms after the threshold", d.late.Milliseconds())
	case d.stopped:
		return "stopped the assistant"
	case d.answered:
		return "was answered"
	}
	return "left the assistant alone"
}

type disturbeds []disturbed

// disturbing has the assistant speak, and disturbs it, in as many chats at once
// as there are cores to hear them.
func (t *turnTaking) disturbing(ctx context.Context, w mode, all []disturbance) (disturbeds, error) {
	t.begin("disturbing a speaking assistant: %d times", len(all))
	found := make(disturbeds, len(all))
	talking, ctx := errgroup.WithContext(ctx)
	talking.SetLimit(runtime.NumCPU()) // more would not all be spoken to in time
	for i, d := range all {
		talking.Go(func() (err error) {
			if found[i], err = t.disturb(ctx, w, d); err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
			t.say(len(all), "%s (%s) %s", d.kind, d.name, found[i])
			return nil
		})
	}
	return found, talking.Wait()
}

// disturb has one disturbance in a chat of its own.
func (t *turnTaking) disturb(ctx context.Context, w mode, d disturbance) (disturbed, error) {
	out := disturbed{disturbance: d}
	c, err := call(ctx, t.at, terms{config: w.config})
	if err != nil {
		return out, err
	}
	defer c.hangUp()
	if err := sleep(ctx, settled); err != nil {
		return out, err
	}
	c.echo = d.echo
	if err := c.send(ctx, contract.AssistantInput{Text: speechOver}); err != nil {
		return out, err
	}
	var spoken turn
	asked := time.Now()
	follow := func(h heard) error { return c.take(&spoken, h, asked) }
	err = c.watch(ctx, asked.Add(unanswered), func(h heard) (bool, error) { return spoken.began, follow(h) })
	if err != nil || !spoken.began {
		out.fault = "the assistant did not speak " + spoken.fault
		return out, err
	}
	if d.kind == anEcho {
		return out, c.hearItself(ctx, &out, &spoken, follow)
	}
	if err := c.watch(ctx, time.Now().Add(disturbedAfter), func(h heard) (bool, error) {
		return false, follow(h)
	}); err != nil {
		return out, err
	}
	return out, c.disturb(ctx, &out, &spoken, follow)
}

// disturb plays the disturbance and sees what comes of it.
func (c *caller) disturb(ctx context.Context, out *disturbed, spoken *turn, follow func(heard) error) error {
	first, end, ok := span(out.pcm, speechRate)
	if !ok {
		return fmt.Errorf("%s has no sound", out.name)
	}
	begin, err := c.microphone.speak(ctx, out.pcm)
	if err != nil {
		return err
	}
	threshold := begin.Add(first + contract.DefaultMinInterruptionMS*time.Millisecond)
	err = c.watch(ctx, begin.Add(end+disturbedSeen), func(h heard) (bool, error) {
		if _, yes := h.message.(contract.UserInterruption); yes {
			out.stopped, out.late = true, h.at.Sub(threshold)
		}
		return out.stopped && out.kind == someSpeech, follow(h)
	})
	if err != nil || !out.stopped || out.kind == someSpeech {
		out.fault = spoken.fault
		return err
	}
	return c.watch(ctx, time.Now().Add(takenUp), func(h heard) (bool, error) {
		switch h.message.(type) {
		case contract.UserMessage:
			out.answered = true
		case contract.AssistantMessage:
			out.goesOn = !out.answered
		}
		return out.goesOn || out.answered, follow(h)
	})
}

// hearItself follows an assistant that hears its own voice, until it has said all
// and been silent for a while.
func (c *caller) hearItself(ctx context.Context, out *disturbed, spoken *turn, follow func(heard) error) error {
	for {
		until := c.playingUntil.Add(echoSeen)
		if !spoken.over {
			until = c.playingUntil.Add(unanswered)
		}
		ended := spoken.over
		err := c.watch(ctx, until, func(h heard) (bool, error) {
			switch m := h.message.(type) {
			case contract.UserInterruption:
				out.stopped = true
			case contract.UserMessage:
				out.answered = out.answered || !m.Interim
			}
			err := follow(h)
			return out.stopped || out.answered || spoken.over != ended, err
		})
		switch {
		case err != nil || out.stopped || out.answered:
			return err
		case !spoken.over:
			out.fault = "the assistant fell silent in the middle"
			return nil
		case ended && !c.playingUntil.Add(echoSeen).After(until):
			out.fault = spoken.fault
			return nil
		}
	}
}

// echo lets the microphone hear what is played from a moment on.
func (c *caller) echoed(pcm []float32, from time.Time) {
	heard := audio.Resample(pcm, contract.OutputRateHz, speechRate)
	for i := range heard {
		heard[i] *= c.echo.gain
	}
	c.microphone.mix(heard, from.Add(c.echo.delay))
}

// of are those of a kind that came to an end.
func (all disturbeds) of(kind string) (some disturbeds) {
	for _, d := range all {
		if d.kind == kind && d.fault == "" {
			some = append(some, d)
		}
	}
	return some
}

// have reports whether there are some of a kind, whatever came of them.
func (all disturbeds) have(kind string) bool {
	return slices.ContainsFunc(all, func(d disturbed) bool { return d.kind == kind })
}

func (all disturbeds) count(what func(disturbed) bool) (n int) {
	for _, d := range all {
		if what(d) {
			n++
		}
	}
	return n
}

// report adds the shares of those that stopped the assistant for nothing, of
// those that should have and did not, and how soon it was silent.
func (all disturbeds) report(r *Report, made map[string]string, how string) {
	stopped := func(d disturbed) bool { return d.stopped }
	var stops, on int
	for _, kind := range []string{aCough, aNoise, aWord, aBackchannel, anEcho} {
		if !all.have(kind) {
			continue
		}
		some := all.of(kind)
		r.figure("false_"+kind, percent(some.count(stopped), len(some)), "%",
			fmt.Sprintf("of %d that interrupted; %s, %s", len(some), made[kind], how))
		if kind == aCough || kind == aNoise {
			stops += some.count(stopped)
			on += some.count(func(d disturbed) bool { return d.stopped && d.goesOn })
		}
	}
	if all.have(aCough) || all.have(aNoise) {
		r.figure("taken_up_again", percent(on, stops), "%",
			fmt.Sprintf("of %d answers that a cough or a noise stopped", stops))
	}
	if all.have(anEcho) {
		echo := all.of(anEcho)
		r.figure("echo_answered", percent(echo.count(func(d disturbed) bool {
			return d.answered
		}), len(echo)), "%", fmt.Sprintf("of %d, as if somebody had spoken", len(echo)))
	}
	r.figure("disturbances_failed", float64(all.count(func(d disturbed) bool { return d.fault != "" })), "", "")
	if all.have(someSpeech) {
		all.of(someSpeech).reportStops(r)
	}
}

// reportStops adds how soon those who meant to interrupt have done so.
func (speech disturbeds) reportStops(r *Report) {
	stopped := func(d disturbed) bool { return d.stopped }
	r.figure("missed", percent(len(speech)-speech.count(stopped), len(speech)), "%",
		fmt.Sprintf("of %d recordings of %v or more over the assistant that did not interrupt", len(speech),
			shortestSpeech))
	var late []time.Duration
	for _, d := range speech {
		if d.stopped {
			late = append(late, d.late)
		}
	}
	note := fmt.Sprintf("from %d ms after the first sound to user_interruption; the limit",
		contract.DefaultMinInterruptionMS)
	r.against("stop_median", median(late)/1e6, "ms", stopLimit, note)
	r.against("stop_p95", quantile(late, 0.95)/1e6, "ms", stopLimit95, note)
}
