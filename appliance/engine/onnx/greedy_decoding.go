package onnx

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
)

// greedy builds a text from the likeliest token of each step.
type greedy struct {
	limit int   // tokens
	end   int64 // token that ends the text
	ids   []int64
}

// last returns the token to continue from, or start if there is none yet.
func (g *greedy) last(start int64) int64 {
	if len(g.ids) == 0 {
		return start
	}
	return g.ids[len(g.ids)-1]
}

// add appends a token and reports whether the text continues. A text that begins to repeat itself
// ends before the second repetition. A text that only consists of a repeated word or two is not
// speech and becomes empty.
func (g *greedy) add(id int64) bool {
	if id == g.end {
		return false
	}
	g.ids = append(g.ids, id)
	if n := repeats(g.ids); n > 0 {
		keep := len(g.ids) - loopTokens(n) + n
		if keep == n && n <= maxMurmurTokens {
			keep = 0
		}
		g.ids = g.ids[:keep]
		return false
	}
	return len(g.ids) < g.limit
}

const (
	maxLoopTokens   = 20 // tokens
	maxMurmurTokens = 4
)

// loopTokens returns how many tokens repetitions of n tokens must fill to be a loop of the model
// and not of a person: at least 16, and four rounds of a phrase or three of a sentence. People do
// say "no" five times, and spell 0000.
func loopTokens(n int) int {
	if n > 8 {
		return 3 * n
	}
	return max((16+n-1)/n, 4) * n
}

// repeats returns the length of the loop at the end of ids, or 0.
func repeats(ids []int64) int {
	for n := 1; n <= maxLoopTokens; n++ {
		if tail := len(ids) - loopTokens(n); tail >= 0 && slices.Equal(ids[tail:len(ids)-n], ids[tail+n:]) {
			return n
		}
	}
	return 0
}

// argmax returns the index of the largest number, the first of equals.
func argmax(x []float32) int64 {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return int64(best)
}

// runPieces runs work in pieces: each of pieces once, in order, and the last one until it reports
// that it is done. After each piece it checks ctx, and releases the cores if more urgent work
// waits. If it released the cores each time, less urgent work would get in between and hold them
// for a piece of its own.
func runPieces(ctx context.Context, gate *engine.Gate, u *engine.Urgency, cores int,
	pieces ...func() (done bool, err error)) error {
	next, done := 0, false
	for !done {
		err := gate.Do(ctx, u, cores, func() (err error) {
			for {
				done, err = pieces[next]()
				next = min(next+1, len(pieces)-1)
				if done || err != nil || ctx.Err() != nil || gate.Wanted(u.Get()) {
					return err
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// recallableCost is how long a step of an encoder is expected to take. The gate uses it for requests, which
// encodeAndRun does not restart.
const recallableCost = time.Second

// encodeAndRun runs the steps of an encoder, which take longer than other work should wait, and then pieces as
// runPieces does. Where nobody waits for the result, a step returns the cores as soon as something more urgent comes,
// and starts again later.
func encodeAndRun(ctx context.Context, gate *engine.Gate, u *engine.Urgency, cores int,
	encoding []func(context.Context) error, pieces ...func() (done bool, err error)) error {
	if u.Get().Priority > engine.Prefetch {
		var all []func() (bool, error)
		for i, step := range encoding {
			last := i == len(encoding)-1 && len(pieces) == 0
			all = append(all, func() (bool, error) { return last, step(ctx) })
		}
		return runPieces(ctx, gate, u, cores, append(all, pieces...)...)
	}
	for _, step := range encoding {
		if err := gate.DoRestartable(ctx, u, cores, recallableCost, step); err != nil {
			return err
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	return runPieces(ctx, gate, u, cores, pieces...)
}

// checkLength returns an error for sound that is too long for one call.
func checkLength(pcm []float32) error {
	if len(pcm) > MaxSamples {
		return fmt.Errorf("onnx: %.1f s of sound in one call: at most %d s are allowed; cut it at its pauses",
			float64(len(pcm))/engine.SpeechRateHz, MaxSamples/engine.SpeechRateHz)
	}
	return nil
}

// cleanText makes a model's text presentable: valid UTF-8 without surrounding space.
func cleanText(s string) string {
	return strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
}
