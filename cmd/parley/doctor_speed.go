package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance"
	"parley/appliance/audio"
	"parley/appliance/box"
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/contract"
)

const (
	// speedTimeout bounds the calls: with loading the models and the speech before, the
	// measurement takes two minutes.
	speedTimeout = 90 * time.Second
	// lateAfter is by how much an answer may come later than the silence that ends a
	// turn: after that, people begin to ask whether anybody is there.
	lateAfter = time.Second
	// speedAnswerTimeout is when an answer counts as missing.
	speedAnswerTimeout = 10 * time.Second
	// callerOffset keeps callers from speaking in step.
	callerOffset = 700 * time.Millisecond
	maxCallers   = 8

	easyQuestion   = "What is the capital of France?"
	fifteenSeconds = "The museum opens at ten in the morning and closes at six. " +
		"Breakfast is served on the first floor until half past nine. " +
		"If you turn left behind the library, you will see the post office on the other side of the square. " +
		"Would you like to book a table for two people this evening?"
)

// speed is the result of doctor --speed.
type speed struct {
	AnswerMS        int64     `json:"answer_ms"`         // from a question's last sound to the answer's first, median
	SpeechPerSecond float64   `json:"speech_per_second"` // seconds of speech made per second
	Callers         int       `json:"callers"`           // most parallel callers with nine of ten answers in time
	FourCallers     bool      `json:"four_callers"`
	InTimeMS        int64     `json:"in_time_ms"` // the longest answer time that counts as in time
	Tried           []callers `json:"tried"`
}

// callers is the result for a number of parallel callers.
type callers struct {
	Callers  int   `json:"callers"`
	MedianMS int64 `json:"median_ms"`
	Answers  int   `json:"answers"`
	InTime   int   `json:"in_time"`
}

// measureSpeed starts a box with the models of the settings in a temporary folder, and
// times its speech and its answers to one and to several parallel callers.
func (c *console) measureSpeed(ctx context.Context, cfg config.Config, most int) (s speed, err error) {
	if url, err := box.Running(cfg.Data); err == nil && url != "" {
		fmt.Fprintf(c.err, "A box runs at %s: only the remaining capacity of the machine is measured.\n", url)
	}
	if cfg.Data, err = os.MkdirTemp("", "parley-speed-"); err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cfg.Data)) }()
	fmt.Fprintln(c.err, "Loading the models …")
	ctx, stop := context.WithCancel(ctx)
	b, err := c.startTestBox(ctx, cfg)
	defer func() { stop(); <-b.stopped }()
	if err != nil {
		return s, err
	}
	fmt.Fprintln(c.err, "Measuring speech …")
	question, err := b.client().speak(ctx, cfg.Engines.Voice, easyQuestion)
	if err != nil {
		return s, err
	}
	for len(question) > 0 && !audible(question[len(question)-1]) {
		question = question[:len(question)-1]
	}
	begun := time.Now()
	said, err := b.client().speak(ctx, cfg.Engines.Voice, fifteenSeconds)
	if err != nil {
		return s, err
	}
	s.SpeechPerSecond = float64(len(said)) / chatRateHz / time.Since(begun).Seconds()
	err = c.measureCallers(ctx, b, question, most, &s)
	return s, err
}

// measureCallers doubles the parallel callers until answers come late.
func (c *console) measureCallers(ctx context.Context, b testBox, question []float32, most int, s *speed) error {
	limit := chat.DefaultSettings().EndOfTurnSilence + lateAfter
	s.InTimeMS = limit.Milliseconds()
	calling, cancel := context.WithTimeout(ctx, speedTimeout)
	defer cancel()
	for n := 1; n <= most; n *= 2 {
		fmt.Fprintf(c.err, "Asking, %d callers …\n", n)
		waited, err := b.call(calling, n, question, max(2, 4-n)) // three times, or twice each
		if calling.Err() != nil && ctx.Err() == nil {            // the time is over
			if n > 1 {
				return nil
			}
			waited, err = append(waited, speedAnswerTimeout), nil
		}
		if err != nil {
			return err
		}
		late := slices.IndexFunc(append(waited, math.MaxInt64), func(d time.Duration) bool { return d > limit })
		t := callers{
			Callers:  n,
			MedianMS: waited[len(waited)/2].Milliseconds(),
			Answers:  len(waited),
			InTime:   late,
		}
		if s.Tried = append(s.Tried, t); n == 1 {
			s.AnswerMS = t.MedianMS
		}
		if 10*t.InTime < 9*t.Answers {
			return nil
		}
		s.Callers, s.FourCallers = n, n >= 4
	}
	return nil
}

// testBox is a running box to be measured.
type testBox struct {
	url, key string
	stopped  chan struct{} // closed when it has stopped
}

// client returns a client of the box.
func (b testBox) client() spokenClient { return spokenClient{http.DefaultClient, b.url, b.key} }

// startTestBox runs a box in this process until ctx ends, and returns when it accepts
// chats.
func (c *console) startTestBox(ctx context.Context, cfg config.Config) (b testBox, err error) {
	cfg.Listen, cfg.TLS.Mode, cfg.WebRTC.Listen, cfg.Kiosk.Enabled = "127.0.0.1:0", config.TLSOff, config.Off, false
	cfg.Plugins, cfg.Chat.MaxAddedMS = nil, 0 // a slow answer is a result here, no reason to refuse chats
	cfg.Chat.MaxChats, cfg.Limits.ChatsPerAccount = maxCallers, maxCallers
	var why error
	b.stopped = make(chan struct{})
	go func() {
		defer close(b.stopped)
		why = appliance.Run(ctx, cfg, appliance.Console{Log: c.quietLogger(cfg.Log)})
	}()
	for ready := false; !ready; {
		select {
		case <-b.stopped:
			return b, errors.Join(why, ctx.Err())
		case <-time.After(pieceDuration):
		}
		if b.url, err = box.Running(cfg.Data); err != nil || b.url == "" {
			continue
		}
		if r, err := http.Get(b.url + "/readyz"); err == nil {
			ready = r.StatusCode == http.StatusOK
			r.Body.Close()
		}
	}
	// It goes with the folder.
	b.key, _, err = makeKey(ctx, cfg, temporaryKey{label: "parley doctor", life: speechKeyLife})
	return b, err
}

// call runs n parallel callers that ask the question so many times each, and returns the
// answer times in order.
func (b testBox) call(ctx context.Context, n int, question []float32, times int) ([]time.Duration, error) {
	waited := make([][]time.Duration, n)
	var all errgroup.Group
	for i := range n {
		all.Go(func() (err error) {
			waited[i], err = b.ask(ctx, question, times, time.Duration(i+1)*callerOffset)
			return err
		})
	}
	err := all.Wait()
	return slices.Sorted(slices.Values(slices.Concat(waited...))), err
}

// ask asks the question in one chat, each time after the previous answer has been played,
// and returns the times to the first sound of each answer.
func (b testBox) ask(ctx context.Context, question []float32, times int, after time.Duration) ([]time.Duration,
	error) {
	a := testCaller{complete: true}
	gaveUp := false
	err := b.client().talk(ctx, func(at time.Time, piece []float32) bool {
		// The caller gives up: an answer that comes now would be to nothing.
		gaveUp = a.waiting && time.Since(a.questionEnd) > speedAnswerTimeout
		if gaveUp || len(a.waited) >= times && a.complete {
			return false
		}
		if a.heardUntil.IsZero() {
			a.heardUntil = at.Add(after)
		}
		if a.complete && at.After(a.heardUntil) {
			a.question, a.complete, a.waiting = question, false, true
			a.questionEnd = at.Add(time.Duration(len(question)) * time.Second / chatRateHz)
		}
		a.question = a.question[copy(piece, a.question):]
		return true
	}, a.receive)
	if gaveUp {
		return append(a.waited, slices.Repeat([]time.Duration{speedAnswerTimeout}, times-len(a.waited))...), nil
	}
	return a.waited, err
}

// testCaller is the state of a caller.
type testCaller struct {
	question    []float32       // the rest of the question, still to be sent
	questionEnd time.Time       // when its last sound is sent
	waiting     bool            // for the first sound of the answer
	complete    bool            // the answer is complete
	heardUntil  time.Time       // when the answer ends
	waited      []time.Duration // for each answer
}

// receive handles a message of the box.
func (a *testCaller) receive(m received) error {
	if m.err != nil {
		return fmt.Errorf("a chat ended: %w", m.err)
	}
	switch message := m.message.(type) {
	case contract.AudioOutput:
		pcm, err := audio.DecodeAll(message.Data, chatRateHz)
		if m.at.After(a.heardUntil) {
			a.heardUntil = m.at
		}
		if silence := slices.IndexFunc(pcm, audible); a.waiting && silence >= 0 {
			first := a.heardUntil.Add(time.Duration(silence) * time.Second / chatRateHz)
			a.waiting, a.waited = false, append(a.waited, first.Sub(a.questionEnd))
		}
		a.heardUntil = a.heardUntil.Add(time.Duration(len(pcm)) * time.Second / chatRateHz)
		return err
	case contract.AssistantEnd:
		a.complete = !a.waiting
	case contract.WebSocketError:
		return fmt.Errorf("the box reports an error: %s %s", message.Code, message.Message)
	}
	return nil
}

// audible tells sound from silence: -40 dB, where voices are at -20.
func audible(x float32) bool { return max(x, -x) > 0.01 }

// write prints the result as text.
func (s speed) write(out io.Writer) error {
	seconds := func(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }
	text := fmt.Sprintf("answer   %s from the end of a spoken question to the first sound of its answer\n"+
		"speech   %.1f s made in a second\n"+
		"callers  %d in parallel, with nine of ten answers within %s\n", seconds(s.AnswerMS), s.SpeechPerSecond,
		s.Callers, seconds(s.InTimeMS))
	for _, n := range s.Tried {
		text += fmt.Sprintf("         of %d: %d of %d answers in time, median %s\n", n.Callers, n.InTime, n.Answers,
			seconds(n.MedianMS))
	}
	verdict := "no"
	if s.FourCallers {
		verdict = "yes"
	}
	_, err := fmt.Fprintf(out, "%s\nFour callers: %s.\n", text, verdict)
	return err
}
