package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"parley/appliance/contract"
)

const (
	// laterLimit is how much later than a second answer the first of a chat may
	// come whose prompt the box knows, in milliseconds: nobody notices it.
	laterLimit = 100
	// dryLimit is for how long a newcomer may make somebody's answer fall silent.
	dryLimit = 50
	// mostNewcomerRounds bounds the rounds: one takes two minutes with the
	// default model on a slow machine.
	mostNewcomerRounds = 10
)

// Newcomer measures what the first answer of a new chat takes, with a prompt
// that the box knows and with one that it does not, and what a newcomer costs
// who is listening already.
func Newcomer(ctx context.Context, o Options) (r Report, err error) {
	if o.Rounds > mostNewcomerRounds {
		return r, &ErrOption{fmt.Sprintf("rounds is %d; allowed are 1 to %d", o.Rounds, mostNewcomerRounds)}
	}
	if err := o.check(); err != nil {
		return r, err
	}
	said, err := recordings(o.Recordings)
	if err != nil {
		return r, err
	}
	asked := turns(said, o.Rounds)
	if len(asked) == 0 {
		return r, fmt.Errorf("no recording in %s is %v to %v long without a pause over %v: such are needed for turns",
			o.Recordings, shortestTurn, longestTurn, longestTurnPause)
	}
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return r, fmt.Errorf("a data folder for the box: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e := o.Config.Engines
	r = Report{Bench: "newcomer", Machine: describe(o.Config, "turn", e.Transcriber, e.LanguageModel.Pack, e.Voice)}
	n := newcomers{o: o, asked: asked, data: filepath.Join(dir, "data")}
	return r, n.measure(ctx, &r)
}

// newcomers are those who come to one box, which is started more than once.
type newcomers struct {
	o       Options
	asked   []recording
	data    string
	box     *box
	configs []string
	prompts int // made so far: no two are alike
}

func (n *newcomers) measure(ctx context.Context, r *Report) (err error) {
	if err := n.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.box.stop()) }()
	if err := n.known(ctx, r); err != nil {
		return err
	}
	if err := n.unknown(ctx, r); err != nil {
		return err
	}
	return n.beside(ctx, r)
}

// start starts the box and waits until it does nothing more.
func (n *newcomers) start(ctx context.Context) (err error) {
	n.o.say("starting a box")
	// The box warns of it at every start, and nobody keeps this one.
	if err := os.Remove(filepath.Join(n.data, "first-key.env")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if n.box, err = startBoxOn(ctx, n.o, n.data); err != nil {
		return err
	}
	return n.rest(ctx)
}

// rest waits until the box is ready and idle: what it means to read ahead, it
// has read.
func (n *newcomers) rest(ctx context.Context) error {
	if err := n.box.place.untilReady(ctx); err != nil {
		return err
	}
	_, err := untilIdle(ctx, n.box.pid, settling)
	return err
}

func (n *newcomers) prompt(tokens int) string {
	n.prompts++
	return brochure(n.prompts, tokens)
}

// known times the first answers with prompts that a config has: the first chat
// there ever was with it, one after another was closed, and one after a restart
// of the box.
func (n *newcomers) known(ctx context.Context, r *Report) error {
	n.o.say("making %d configs with prompts of about %d tokens, which the box may read ahead", n.o.Rounds, knownTokens)
	for i := range n.o.Rounds {
		id, err := n.box.place.newConfig(ctx,
			contract.PostedConfig{Name: fmt.Sprintf("bench %d", i), PostedConfigVersion: contract.PostedConfigVersion{
				EVIVersion: contract.EVI4Mini, Prompt: &contract.ConfigPrompt{Text: n.prompt(knownTokens)},
			}})
		if err != nil {
			return err
		}
		n.configs = append(n.configs, id)
	}
	if err := n.rest(ctx); err != nil {
		return err
	}
	if err := n.visits(ctx, r, "known", "the first chat with a config"); err != nil {
		return err
	}
	if err := n.visits(ctx, r, "closed", "a chat after another with the same config was closed"); err != nil {
		return err
	}
	if err := n.box.stop(); err != nil {
		return err
	}
	if err := n.start(ctx); err != nil {
		return err
	}
	return n.visits(ctx, r, "restarted", "the first chat with a config after the box was started anew")
}

// visits has one chat with each config, and holds its first answer against its
// second.
func (n *newcomers) visits(ctx context.Context, r *Report, name, which string) error {
	var p pairs
	for i, id := range n.configs {
		n.o.say("%s, %d of %d", which, i+1, len(n.configs))
		if err := n.visit(ctx, terms{config: id}, n.asked[i], &p); err != nil {
			return err
		}
	}
	p.report(r, name, which)
	return nil
}

// pairs are first answers and the second ones of the same chats.
type pairs struct{ first, second []time.Duration }

// report adds the answers, and how much later the first came than the second.
func (p pairs) report(r *Report, name, which string) {
	var later []time.Duration
	for i := range p.first {
		later = append(later, p.first[i]-p.second[i])
	}
	r.against(name+"_first_answer", median(p.first)/1e6, "ms", median(p.second)/1e6,
		which+"; the second answer of the same chat")
	r.against(name+"_first_later", median(later)/1e6, "ms", laterLimit,
		fmt.Sprintf("than the second, %d chats; the limit", len(later)))
}

// visit asks the same twice in a new chat. A chat in which a turn went wrong
// does not count.
func (n *newcomers) visit(ctx context.Context, with terms, q recording, p *pairs) error {
	c, err := call(ctx, n.box.place, with)
	if err != nil {
		return err
	}
	defer c.hangUp()
	if err := sleep(ctx, beforeSpeaking); err != nil {
		return err
	}
	first, err := c.asks(ctx, q)
	if err != nil {
		return err
	}
	n.o.say("first answer: %s", first)
	if !first.ok() {
		return nil
	}
	second, err := c.asks(ctx, q)
	if err != nil {
		return err
	}
	n.o.say("second answer: %s", second)
	if second.ok() {
		p.first, p.second = append(p.first, first.sounded), append(p.second, second.sounded)
	}
	return nil
}

// unknown times the reading of a prompt that comes with the settings, while
// nobody speaks, and what the first answer takes if the visitor speaks as soon
// as people do.
func (n *newcomers) unknown(ctx context.Context, r *Report) error {
	for _, tokens := range []int{knownTokens, longTokens} {
		name := fmt.Sprintf("unknown_%d", tokens)
		var read []time.Duration
		var p pairs
		for i, q := range n.asked {
			n.o.say("an unknown prompt of about %d tokens, %d of %d", tokens, i+1, len(n.asked))
			took, err := n.reading(ctx, tokens)
			if err != nil {
				return err
			}
			n.o.say("it was read after %d ms", took.Milliseconds())
			read = append(read, took)
			if err := n.visit(ctx, terms{prompt: n.prompt(tokens)}, q, &p); err != nil {
				return err
			}
		}
		r.figure(name+"_read", median(read)/1e6, "ms",
			fmt.Sprintf("from its settings until the box is idle; the visitor of the next figure speaks after %v",
				beforeSpeaking))
		r.against(name+"_first_answer", median(p.first)/1e6, "ms", median(p.second)/1e6,
			"from the user's last sound to the answer's first; the second answer of the same chat")
	}
	return nil
}

// reading is how long a box is busy with the prompt of a newcomer who is silent.
func (n *newcomers) reading(ctx context.Context, tokens int) (time.Duration, error) {
	if err := n.rest(ctx); err != nil {
		return 0, err
	}
	begun := time.Now()
	c, err := call(ctx, n.box.place, terms{prompt: n.prompt(tokens)})
	if err != nil {
		return 0, err
	}
	defer c.hangUp()
	idle, err := untilIdle(ctx, n.box.pid, boxReady)
	return max(0, idle.Sub(begun)), err
}

// beside measures for how long at most the sound of an answer runs dry, without
// a newcomer and with one whose prompt is long.
func (n *newcomers) beside(ctx context.Context, r *Report) error {
	var alone, beside []time.Duration
	for i := range n.o.Rounds {
		for _, joined := range []bool{false, true} {
			n.o.say("a long answer, newcomer %v, %d of %d", joined, i+1, n.o.Rounds)
			t, err := n.listen(ctx, joined)
			if err != nil {
				return err
			}
			if !t.ok() {
				n.o.say("it does not count: %s", t)
				continue
			}
			n.o.say("its sound ran dry for %d ms at most", t.dry.Milliseconds())
			if joined {
				beside = append(beside, t.dry)
			} else {
				alone = append(alone, t.dry)
			}
		}
	}
	r.figure("alone_longest_gap", quantile(alone, 1)/1e6, "ms",
		"the longest time for which the sound of a long answer runs dry")
	r.against("newcomer_longest_gap", quantile(beside, 1)/1e6, "ms", dryLimit,
		fmt.Sprintf("the same while somebody comes with a prompt of %d tokens that the box does not know; the limit",
			longTokens))
	return nil
}

// listen has a long answer spoken, into whose sound a newcomer comes if joined.
func (n *newcomers) listen(ctx context.Context, joined bool) (t turn, err error) {
	if err := n.rest(ctx); err != nil {
		return t, err
	}
	listener, err := call(ctx, n.box.place, terms{prompt: storyteller})
	if err != nil {
		return t, err
	}
	defer listener.hangUp()
	if err := n.rest(ctx); err != nil { // the storyteller's prompt is read
		return t, err
	}
	coming := make(chan error, 1)
	leave := make(chan struct{})
	came := false
	t, err = listener.tell(ctx, storyWish, func() {
		if !joined {
			return
		}
		came = true
		prompt := n.prompt(longTokens)
		go func() {
			c, err := call(ctx, n.box.place, terms{prompt: prompt})
			if err == nil {
				<-leave
				c.hangUp()
			}
			coming <- err
		}()
	})
	close(leave)
	if came {
		err = cmp.Or(err, <-coming)
	}
	return t, err
}
