package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// beforeSpeaking is how long a user waits before the first words.
	beforeSpeaking = 2 * time.Second
	// startSpread is the time over which the first words of several callers are spread,
	// about the length of a turn. hesitation is the longest pause of a caller before the
	// next question, so that callers do not fall into step.
	startSpread = 6 * time.Second
	hesitation  = 1500 * time.Millisecond
)

// golden is the golden ratio: the fractional parts of its multiples are spread over 0 to
// 1 as evenly as possible, in no order.
const golden = 0.6180339887498949

// spread returns the i-th of these numbers.
func spread(i int) float64 {
	at := float64(i) * golden
	return at - float64(int(at))
}

// rounds holds the conversations for each number of callers.
func (r *Report) rounds(ctx context.Context, o Options, at endpoint, asked []recording, a *limitMeter) error {
	for _, n := range o.Chats {
		prefix := ""
		if len(o.Chats) > 1 {
			prefix = fmt.Sprintf("chats_%d_", n)
		}
		k := talk{
			callers:    n,
			recordings: asked,
			meter:      a,
			prefix:     prefix,
		}
		if load := loadOf(o, at); load.name != "" {
			if err := r.loadedRounds(ctx, o, at, k, load); err != nil {
				return err
			}
			continue
		}
		chats, err := k.converse(ctx, o, at)
		if err != nil {
			return err
		}
		r.addTalk(k, chats)
	}
	return nil
}

// talk describes the conversations of parallel callers.
type talk struct {
	callers    int
	recordings []recording
	meter      *limitMeter // nil if the limit is not measured
	prefix     string      // of the names of its figures
	batch      bool        // an analysis job runs
}

// converse holds the conversations. The limit of the machine is measured while nobody
// speaks: with one caller after each turn, with several after all have hung up, for the
// turns of the first.
func (k talk) converse(ctx context.Context, o Options, at endpoint) ([][]turn, error) {
	var mu sync.Mutex
	done := 0
	tell := func(t turn) {
		mu.Lock()
		defer mu.Unlock()
		done++
		of := fmt.Sprintf("turn %d of %d", done, len(k.recordings)*k.callers)
		if k.callers > 1 {
			of += fmt.Sprintf(" of %d callers", k.callers)
		}
		o.announce("%s: %s", of, t)
	}
	if k.meter != nil {
		if err := k.meter.begin(ctx); err != nil {
			return nil, err
		}
	}
	if k.callers == 1 {
		turns, err := k.single(ctx, at, tell)
		return [][]turn{turns}, err
	}
	chats, err := k.parallel(ctx, at, tell)
	if err != nil || k.meter == nil {
		return chats, err
	}
	o.announce("the limit of this machine for the turns of %d callers", k.callers)
	return chats, k.limits(ctx, chats)
}

// limits measures the limit for the turns of the first caller. It also applies to the
// other callers' turns with the same recordings.
func (k talk) limits(ctx context.Context, chats [][]turn) error {
	known := map[string]limit{}
	for i, t := range chats[0] {
		if !t.ok() {
			continue
		}
		l, err := k.meter.measure(ctx, k.recordings[i].PCM, t)
		if err != nil {
			return err
		}
		known[t.recording] = l
	}
	for _, turns := range chats {
		for i := range turns {
			turns[i].limit = known[turns[i].recording]
		}
	}
	return nil
}

// single holds one conversation.
func (k talk) single(ctx context.Context, at endpoint, tell func(turn)) (turns []turn, err error) {
	c, err := call(ctx, at, hotel)
	if err != nil {
		return nil, err
	}
	defer c.hangUp()
	if err := sleep(ctx, beforeSpeaking); err != nil {
		return nil, err
	}
	for _, q := range k.recordings {
		t, err := c.askRecording(ctx, q)
		if err != nil {
			return turns, err
		}
		if k.meter != nil && t.ok() {
			if t.limit, err = k.meter.measure(ctx, q.PCM, t); err != nil {
				return turns, err
			}
		}
		turns = append(turns, t)
		tell(t)
	}
	return turns, nil
}

// parallel holds parallel conversations. A caller that has finished goes on until all
// have, so that the load stays the same.
func (k talk) parallel(ctx context.Context, at endpoint, tell func(turn)) ([][]turn, error) {
	callers := make([]*caller, k.callers)
	for i := range callers {
		c, err := call(ctx, at, hotel)
		if err != nil {
			return nil, err
		}
		defer c.hangUp()
		callers[i] = c
	}
	chats := make([][]turn, k.callers)
	busy, through := context.WithCancelCause(ctx)
	defer through(nil)
	var left atomic.Int32
	left.Store(int32(k.callers))
	var talking errgroup.Group
	for i, c := range callers {
		talking.Go(func() error {
			if err := sleep(ctx, beforeSpeaking+time.Duration(spread(i)*float64(startSpread))); err != nil {
				return err
			}
			for j := 0; ; j++ {
				if j == len(k.recordings) && left.Add(-1) == 0 {
					through(errFinished)
				}
				q := rotated(k.recordings, i)[j%len(k.recordings)]
				t, err := c.askRecording(busy, q)
				switch {
				case errors.Is(err, errFinished):
					return nil
				case err != nil:
					through(err) // ends the other callers
					return err
				}
				if j < len(k.recordings) {
					chats[i] = append(chats[i], t)
					tell(t)
				}
				if err := sleep(busy, time.Duration(spread(i*len(k.recordings)+j)*float64(hesitation))); err != nil &&
					!errors.Is(err, errFinished) {
					return err
				}
			}
		})
	}
	return chats, talking.Wait()
}

// errFinished ends the turns that do not count.
var errFinished = errors.New("all callers have finished")

// rotated returns the recordings for the i-th of parallel chats: the same, from another
// start, so that the callers do not speak and pause in step.
func rotated(asked []recording, i int) []recording {
	at := i * 3 % len(asked)
	return append(append([]recording{}, asked[at:]...), asked[:at]...)
}

// askRecording is ask for a recording.
func (c *caller) askRecording(ctx context.Context, q recording) (turn, error) {
	t, err := c.ask(ctx, q.PCM)
	if err != nil {
		return t, fmt.Errorf("%s: %w", q.Name, err)
	}
	t.recording = q.Name
	return t, nil
}
