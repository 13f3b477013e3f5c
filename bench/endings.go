package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance/contract"
)

const (
	// semanticMode is the mode of turn detection that asks a model whether a
	// sentence is finished; the other modes are silences in milliseconds.
	semanticMode = "semantic"
	// shortPrompt makes answers that cost the machine next to nothing: what is
	// measured is when they come.
	shortPrompt = "Whatever is said to you, answer with one word: Okay."
	// settled is how long a chat is open before anything is said in it.
	settled = 500 * time.Millisecond
	// cutSeen is how long after a sentence a cut in the middle of it is still
	// waited for: what a box decided in a pause it tells within a second.
	cutSeen = 700 * time.Millisecond
	// ended is how long a finished sentence may wait for its answer: a turn-end
	// model that is wrong waits for 3 s, and the answer takes some more.
	ended = 8 * time.Second
	// anEnding is how long a machine is busy with the end of a turn, and
	// beforeEnding how long ahead of the last sound that begins: nobody else's
	// turn is to end then, or they would be measured together.
	anEnding     = 2500 * time.Millisecond
	beforeEnding = 300 * time.Millisecond
	// Chats at once whose moments nobody measures, for each core.
	chatsPerCore = 3
)

// Turns measures how well a box knows when a user has finished, and whether it
// lets itself be interrupted by those who mean it, and by nobody else.
func Turns(ctx context.Context, o Options) (r Report, err error) {
	if err := o.checkModes(); err != nil {
		return r, err
	}
	said, err := recordings(o.Recordings)
	if err != nil {
		return r, err
	}
	m := material{paused: hesitations(said, o.Sentences), whole: finished(said, o.Sentences)}
	if o.wants(hesitating) && len(m.paused) == 0 || o.wants(finishing) && len(m.whole) == 0 {
		return r, fmt.Errorf("of the recordings in %s %d have a pause of %v or more between two phrases and %d are "+
			"of a whole sentence: some of both are needed, with their words", cmp.Or(o.Recordings, debianRecordings),
			len(m.paused), phraseGap, len(m.whole))
	}
	e := o.Config.Engines
	r = Report{Bench: "turns", Machine: describe(o.Config, "turn", e.Transcriber, e.LanguageModel.Pack, e.Voice)}
	if m.disturbing, m.of, err = disturbances(ctx, o, said); err != nil {
		return r, err
	}
	at := place{o.URL, o.Key, o.Client}
	if o.URL != "" {
		r.Machine.Box, r.Machine.Profile, r.Machine.Packs = o.URL, "", []string{}
	} else {
		o.say("starting a box")
		o.Chats = []int{4 * chatsPerCore * runtime.NumCPU()} // one that is over keeps its seat for a moment
		b, err := startBox(ctx, o)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, b.stop()) }()
		at = b.place
	}
	return r, measureTurns(ctx, &r, o, at, m)
}

// What is said to the box beside the kinds of disturbances.
const (
	hesitating = "hesitations"
	finishing  = "endings"
)

var turnParts = [...]string{hesitating, finishing, aCough, aNoise, aWord, aBackchannel, anEcho, someSpeech}

// wants reports whether a part is to be measured.
func (o Options) wants(part string) bool { return len(o.Only) == 0 || slices.Contains(o.Only, part) }

// material is what is said to the box.
type material struct {
	paused     []paused
	whole      []recording
	disturbing []disturbance
	of         map[string]string // what each kind of disturbance is made of
}

func (o Options) checkModes() error {
	if len(o.Modes) == 0 {
		return &ErrOption{"modes names none; allowed are silences in milliseconds and " + semanticMode +
			", with commas between"}
	}
	for _, part := range o.Only {
		if !slices.Contains(turnParts[:], part) {
			return &ErrOption{fmt.Sprintf("only has %q; allowed are %s", part, strings.Join(turnParts[:], ", "))}
		}
	}
	for _, m := range o.Modes {
		n, err := strconv.Atoi(m)
		if m != semanticMode && (err != nil || n < contract.MinEndOfTurnSilenceMS ||
			n > contract.MaxEndOfTurnSilenceMS) {
			return &ErrOption{fmt.Sprintf("modes has %q; allowed are %d to %d, silences in milliseconds, and %s", m,
				contract.MinEndOfTurnSilenceMS, contract.MaxEndOfTurnSilenceMS, semanticMode)}
		}
	}
	if o.Sentences < 1 || o.Sentences > 1000 {
		return &ErrOption{fmt.Sprintf("sentences is %d; allowed are 1 to 1000", o.Sentences)}
	}
	return o.check()
}

// mode is one way to find the end of a turn, and the config that asks for it.
type mode struct{ name, config string }

func (m mode) prefix() string {
	if m.name == semanticMode {
		return "semantic_"
	}
	return "silence_" + m.name + "_"
}

// modes makes a config for each mode. One that the box does not know is left
// out, and said to be.
func modes(ctx context.Context, o Options, at place) (all []mode, err error) {
	for _, name := range o.Modes {
		detection := map[string]any{"mode": name}
		if ms, err := strconv.Atoi(name); err == nil {
			detection = map[string]any{"end_of_turn_silence_ms": ms}
		}
		id, kept, err := at.newTurnConfig(ctx, "bench turns "+name, detection)
		if err != nil {
			return nil, err
		}
		if name == semanticMode && kept != name {
			o.say("this box knows no mode %q: it is left out", name)
			continue
		}
		all = append(all, mode{name, id})
	}
	if len(all) == 0 {
		return nil, errors.New("the box knows none of these modes")
	}
	return all, nil
}

// measureTurns has everything said to the box in every mode.
func measureTurns(ctx context.Context, r *Report, o Options, at place, m material) error {
	ways, err := modes(ctx, o, at)
	if err != nil {
		return err
	}
	t := turnTaking{o: o, at: at}
	if o.wants(hesitating) {
		cut := make([]cuts, len(ways))
		if err := t.pausing(ctx, ways, m.paused, cut); err != nil {
			return err
		}
		for i, w := range ways {
			cut[i].report(r, w.prefix())
		}
	}
	if o.wants(finishing) {
		waits := make([]waits, len(ways))
		if err := t.finishing(ctx, ways, m.whole, waits); err != nil {
			return err
		}
		for i, w := range ways {
			waits[i].report(r, w.prefix())
		}
	}
	if len(m.disturbing) == 0 {
		return nil
	}
	last := ways[len(ways)-1]
	found, err := t.disturbing(ctx, last, m.disturbing)
	if err != nil {
		return err
	}
	found.report(r, m.of, "with "+last.name)
	return nil
}

// turnTaking says things to a box, each in a chat of its own.
type turnTaking struct {
	o  Options
	at place

	mu   sync.Mutex
	done int
	free time.Time // until when the end of a turn is being measured
}

// say tells how one of so many went.
func (t *turnTaking) say(of int, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	t.o.say("%d of %d: %s", t.done, of, fmt.Sprintf(format, args...))
}

func (t *turnTaking) begin(format string, args ...any) {
	t.done = 0
	t.o.say(format, args...)
}

// pausing has the hesitant sentences said, many at once: what counts is what is
// decided and not when.
func (t *turnTaking) pausing(ctx context.Context, ways []mode, said []paused, out []cuts) error {
	all := len(said) * len(ways)
	t.begin("sentences with a pause in them: %d", all)
	talking, ctx := errgroup.WithContext(ctx)
	talking.SetLimit(chatsPerCore * runtime.NumCPU())
	for _, p := range said {
		for i, w := range ways {
			talking.Go(func() error {
				heard, err := t.listen(ctx, w, p.PCM, time.Time{}, cutSeen)
				if err != nil {
					return fmt.Errorf("%s: %w", p.Name, err)
				}
				t.mu.Lock()
				out[i] = append(out[i], cutOff{p.pause, heard.cut()})
				t.mu.Unlock()
				t.say(all, "%s, a pause of %v in %s: cut off %v", w.name, p.pause, p.Name, heard.cut())
				return nil
			})
		}
	}
	return talking.Wait()
}

// finishing has the finished sentences said. They overlap, but for their ends.
func (t *turnTaking) finishing(ctx context.Context, ways []mode, said []recording, out []waits) error {
	all := len(said) * len(ways)
	t.begin("finished sentences: %d", all)
	talking, ctx := errgroup.WithContext(ctx)
	talking.SetLimit(2 * runtime.NumCPU())
	for _, q := range said {
		for i, w := range ways {
			talking.Go(func() error {
				heard, err := t.listen(ctx, w, q.PCM, t.reserve(q.duration()), ended)
				if err != nil {
					return fmt.Errorf("%s: %w", q.Name, err)
				}
				t.mu.Lock()
				out[i] = append(out[i], heard)
				t.mu.Unlock()
				t.say(all, "%s, %s: %s", w.name, q.Name, heard)
				return nil
			})
		}
	}
	return talking.Wait()
}

// reserve is when something so long may be begun, so that no two turns end at
// the same time.
func (t *turnTaking) reserve(length time.Duration) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	ahead := length - beforeEnding
	begin := time.Now().Add(2 * settled) // to open the chat
	if earliest := t.free.Add(-ahead); earliest.After(begin) {
		begin = earliest
	}
	t.free = begin.Add(ahead + beforeEnding + anEnding)
	return begin
}

// ending is what a box did at the end of something said: when it took the turn
// for over, and when it answered, both from the last sound. One that did not
// come is missing.
type ending struct {
	taken    []time.Duration // each final user_message
	answered time.Duration
	answer   bool
	fault    string
}

// cut says whether a turn was taken before the user had finished.
func (e ending) cut() bool { return len(e.taken) > 0 && e.taken[0] < 0 || len(e.taken) > 1 }

// String is the ending in words.
func (e ending) String() string {
	switch {
	case e.fault != "":
		return e.fault
	case len(e.taken) == 0:
		return "the turn was never over"
	case e.cut():
		return "cut off"
	case !e.answer:
		return fmt.Sprintf("over after %d ms", e.taken[0].Milliseconds())
	}
	return fmt.Sprintf("over after %d ms, answered after %d", e.taken[0].Milliseconds(), e.answered.Milliseconds())
}

// listen says pcm in a new chat, at once or at a moment that is to come, and listens
// until there is an answer, or for so long behind the last sound.
func (t *turnTaking) listen(ctx context.Context, w mode, pcm []float32, at time.Time, longest time.Duration) (e ending,
	err error) {
	_, end, ok := span(pcm, speechRate)
	if !ok {
		return e, errors.New("a recording without any sound")
	}
	if err := sleep(ctx, time.Until(at.Add(-settled))); err != nil {
		return e, err
	}
	c, err := call(ctx, t.at, terms{config: w.config})
	if err != nil {
		return e, err
	}
	defer c.hangUp()
	if err := sleep(ctx, max(settled, time.Until(at))); err != nil {
		return e, err
	}
	begin, err := c.microphone.speak(ctx, pcm)
	if err != nil {
		return e, err
	}
	last := begin.Add(end)
	var answer turn
	err = c.watch(ctx, last.Add(longest), func(h heard) (bool, error) {
		e.take(h, last)
		err := c.take(&answer, h, last)
		return answer.began && !e.cut(), err
	})
	e.answered, e.answer, e.fault = answer.sounded, answer.began && !e.cut(), answer.fault
	return e, err
}

// take notes that the box took the turn for over.
func (e *ending) take(h heard, last time.Time) {
	if m, ok := h.message.(contract.UserMessage); ok && !m.Interim {
		e.taken = append(e.taken, h.at.Sub(last))
	}
}
