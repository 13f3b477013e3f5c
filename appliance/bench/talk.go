package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance/chat"
	"parley/appliance/text"
)

const (
	// A box that has just started, or opened a chat, reads its prompt ahead. It
	// is idle when a second of it costs less than restless of a core, and waited
	// for no longer than settling: what still runs then is how it idles.
	restless = 0.1
	settling = time.Minute
	// What an idle box, and a silent chat, may use of one core, in percent.
	idleLimit, silentLimit = 1, 1.5
	// beforeSpeaking is how long a user takes to begin once the line is open.
	beforeSpeaking = 2 * time.Second
	// readyLimit is how long a start may take, in seconds.
	readyLimit = 3
	// Added latency in milliseconds that nobody notices (median), and that
	// nobody minds now and then (95th percentile).
	addedLimit, addedLimit95 = 100, 300
)

// memoryLimits are what a box may take, in GiB, by profile.
func memoryLimits() map[string]float64 { return map[string]float64{"default": 2.4, "small": 1.1} }

// Talk measures conversations with a box through its socket, in real time.
func Talk(ctx context.Context, o Options) (r Report, err error) {
	if err := o.check(); err != nil {
		return r, err
	}
	said, err := recordings(o.Recordings)
	if err != nil {
		return r, err
	}
	asked := turns(said, o.Turns)
	if len(asked) == 0 {
		return r, fmt.Errorf("no recording in %s is %v to %v long without a pause over %v: such are needed for turns", o.Recordings, shortestTurn, longestTurn, longestTurnPause)
	}
	e := o.Config.Engines
	r = Report{Bench: "talk", Machine: describe(o.Config, "turn", e.Transcriber, e.LanguageModel.Pack, e.Voice)}
	if o.URL != "" {
		r.Machine.Box, r.Machine.Profile, r.Machine.Packs = o.URL, "", []string{}
		return r, r.staged(ctx, o, place{o.URL, o.Key, o.Client}, asked)
	}
	o.say("starting a box")
	b, err := startBox(ctx, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	r.against("ready", b.ready.Seconds(), "s", readyLimit, "from the start of the process; the limit")
	if o.Idle > 0 {
		if err := r.idle(ctx, o, b); err != nil {
			return r, err
		}
	}
	if err := r.staged(ctx, o, b.place, asked); err != nil {
		return r, err
	}
	r.memory(b.pid, memoryLimits()[o.Config.Profile])
	return r, nil
}

// idle watches the box with no chat, and with one in which nobody speaks.
func (r *Report) idle(ctx context.Context, o Options, b *box) error {
	o.say("watching the idle box for %v", o.Idle)
	share, err := restingShare(ctx, b.pid, o.Idle)
	if err != nil {
		return err
	}
	r.against("idle", 100*share, "% of a core", idleLimit, "no chat is open; the limit")
	o.say("watching a silent chat for %v", o.Idle)
	c, err := call(ctx, b.place)
	if err != nil {
		return err
	}
	defer c.hangUp()
	share, err = restingShare(ctx, b.pid, o.Idle)
	r.against("silent_chat", 100*share, "% of a core", silentLimit, "digital silence in real time; the limit")
	return err
}

// restingShare is the share of a core that a process uses over d, once it is
// idle.
func restingShare(ctx context.Context, pid int, d time.Duration) (float64, error) {
	for begun := time.Now(); time.Since(begun) < settling; {
		share, err := cpuShare(ctx, pid, time.Second)
		if err != nil {
			return 0, err
		}
		if share < restless {
			break
		}
	}
	return cpuShare(ctx, pid, d)
}

// staged holds the conversations and, where the key opens the box's figures,
// adds from them where the time of its turns went.
func (r *Report) staged(ctx context.Context, o Options, at place, asked []recording) error {
	before, err := at.stageTimes(ctx)
	if err != nil {
		return err
	}
	if err := r.converse(ctx, o, at, asked); err != nil || before == nil {
		return err
	}
	after, err := at.stageTimes(ctx)
	if err != nil {
		return err
	}
	r.stages(before, after)
	return nil
}

// converse holds the conversations and adds what came of them.
func (r *Report) converse(ctx context.Context, o Options, at place, asked []recording) error {
	chats := make([][]turn, o.Chats)
	var talking errgroup.Group
	var mu sync.Mutex
	done := 0
	for i := range chats {
		talking.Go(func() (err error) {
			chats[i], err = hold(ctx, at, from(asked, i), func(t turn) {
				mu.Lock()
				defer mu.Unlock()
				done++
				o.say("turn %d of %d: %s", done, len(asked)*o.Chats, t)
			})
			return err
		})
	}
	if err := talking.Wait(); err != nil {
		return err
	}
	var all []turn
	for _, turns := range chats {
		all = append(all, turns...)
	}
	r.latency("", all)
	r.understanding(asked, chats)
	if o.Chats > 1 {
		for i, turns := range chats {
			r.latency(fmt.Sprintf("chat_%d_", i+1), turns)
		}
	}
	return nil
}

// from is what is asked in the i-th of several chats: the same, begun at
// another place, so that they do not all speak and pause in step.
func from(asked []recording, i int) []recording {
	at := i * 3 % len(asked)
	return append(append([]recording{}, asked[at:]...), asked[:at]...)
}

// hold has one conversation.
func hold(ctx context.Context, at place, asked []recording, tell func(turn)) (turns []turn, err error) {
	c, err := call(ctx, at)
	if err != nil {
		return nil, err
	}
	defer c.hangUp()
	if err := sleep(ctx, beforeSpeaking); err != nil {
		return nil, err
	}
	for _, q := range asked {
		t, err := c.ask(ctx, q.PCM)
		if err != nil {
			return turns, fmt.Errorf("%s: %w", q.Name, err)
		}
		turns = append(turns, t)
		tell(t)
	}
	return turns, nil
}

// latency adds the times of the turns that went as turns go, and counts those
// that did not.
func (r *Report) latency(prefix string, turns []turn) {
	silence := chat.DefaultSettings().EndOfTurnSilence
	var total, added, words, sentence, clip []time.Duration
	var early, mute, failed int
	for _, t := range turns {
		switch {
		case t.ok():
			total, added = append(total, t.sounded), append(added, t.sounded-silence)
			words, sentence, clip = append(words, t.understood), append(sentence, t.answered), append(clip, t.clip)
		case t.early || t.interrupted:
			early++
		case t.fault != "":
			failed++
		default:
			mute++
		}
	}
	of := fmt.Sprintf("of %d turns", len(total))
	r.figure(prefix+"answer_median", median(total)/1e6, "ms", of+", from the user's last sound to the answer's first")
	r.figure(prefix+"answer_p95", quantile(total, 0.95)/1e6, "ms", of)
	note := fmt.Sprintf("the same without the configured %v of silence; the limit", silence)
	r.against(prefix+"added_median", median(added)/1e6, "ms", addedLimit, note)
	r.against(prefix+"added_p95", quantile(added, 0.95)/1e6, "ms", addedLimit95, note)
	if prefix == "" {
		r.figure("user_message_median", median(words)/1e6, "ms", "after the user's last sound")
		r.figure("assistant_message_median", median(sentence)/1e6, "ms", "after the user's last sound")
		r.figure("audio_output_median", median(clip)/1e6, "ms", "after the user's last sound")
	}
	r.figure(prefix+"turns_early", float64(early), "", "the box took the turn before the user had finished, or was interrupted")
	r.figure(prefix+"turns_unanswered", float64(mute), "", fmt.Sprintf("no sound within %v", unanswered))
	r.figure(prefix+"turns_failed", float64(failed), "", faults(turns))
}

func faults(turns []turn) string {
	var all []string
	for _, t := range turns {
		if t.fault != "" {
			all = append(all, t.fault)
		}
	}
	return strings.Join(all, "; ")
}

// understanding adds the share of words that the box got wrong.
func (r *Report) understanding(asked []recording, chats [][]turn) {
	var wrong, words int
	for i, turns := range chats {
		for j, q := range from(asked, i) {
			want := text.Words(q.Text)
			if j >= len(turns) || len(want) == 0 {
				continue
			}
			wrong, words = wrong+text.WordErrors(want, text.Words(turns[j].words)), words+len(want)
		}
	}
	r.figure("word_error", 100*float64(wrong)/float64(words), "%", fmt.Sprintf("of %d words in user_message", words))
}
