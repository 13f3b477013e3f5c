package bench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engines"
	"parley/bench/yardstick"
)

// hotel is a system prompt as an operator writes one: who speaks, how, and the
// facts.
const hotel = `You are the voice of the Riverside Hotel, which answers guests on the phone and at the desk. ` +
	`Everything you write is spoken aloud: answer in one short sentence. If you do not know something, say so.
The hotel has eighty rooms on six floors. Check-in is from three in the afternoon, check-out until eleven in the ` +
	`morning.
Breakfast is on the first floor from seven until half past ten, and costs fourteen dollars.
The pool is on the sixth floor, open from eight until nine in the evening; towels are free.
Parking is in the basement and costs twelve dollars a night. The airport shuttle leaves every hour on the hour and ` +
	`is free for guests.
Wireless internet is free; its password is on the back of the room key. Pets are welcome for ten dollars a night.
To leave a message for another guest, callers say the name and the message after the tone. The front desk never closes.`

// What guests ask. The first is answered at length, so that generation can be
// timed.
const (
	longQuestion = "Please tell me everything that you know about the hotel, its floors, its times and its prices, " +
		"from the beginning."
	shortQuestion = "Thank you. And where do I park my car, and what does that cost?"
)

const (
	// replyTokens is how much of a long answer is timed.
	replyTokens = 48
	// shortReply is how much of an answer is made where only its beginning
	// matters.
	shortReply = 4
	// mostLLMRounds bounds the rounds with a yardstick, which reads the whole
	// prompt: five seconds each with the default model.
	mostLLMRounds = 7
)

// aboutModel begins a report on the language model, which is about to be loaded.
func (o Options) aboutModel(bench string) Report {
	m := o.Config.Engines.LanguageModel
	r := Report{Bench: bench, Machine: describe(o.Config, "runtime-llama", m.Pack)}
	if m.OpenAI != "" { // what runs there is not known
		r.Machine.Packs, r.Machine.Box = []string{}, m.OpenAI
	}
	o.say("loading %s", m.Pack+m.OpenAI)
	return r
}

// LLM measures the language model.
func LLM(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	r := o.aboutModel("llm")
	begun := time.Now()
	opened, err := engines.Open(ctx, o.Config, engines.Thinking, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	r.figure("load", time.Since(begun).Seconds(), "s", "to the end of the first answer")
	t := &thinking{model: opened.Model, rounds: min(o.Rounds, mostLLMRounds), say: o.say}
	if err := t.kept(ctx, &r); err != nil {
		return r, err
	}
	if err := t.together(ctx, &r); err != nil {
		return r, err
	}
	if plain, ok := opened.Model.(*llama.Model); ok {
		r.memory(self(), 0) // before the yardstick makes a context of its own
		return r, t.straight(ctx, &r, plain)
	}
	return r, t.alone(ctx, &r)
}

// thinking measures a language model over so many rounds.
type thinking struct {
	model  engine.LanguageModel
	rounds int
	say    func(format string, args ...any)

	prompts int // made by anew
}

// reply is one answer and how long it took.
type reply struct {
	engine.Usage
	text string
	took time.Duration
}

// readRate and writeRate are tokens a second.
func (r reply) readRate() float64 {
	return float64(r.PromptTokens-r.CachedTokens) / r.FirstToken.Seconds()
}
func (r reply) writeRate() float64 {
	return float64(r.ReplyTokens-1) / (r.took - r.FirstToken).Seconds()
}

func (t *thinking) ask(ctx context.Context, conversation string, maxTokens int, messages ...engine.Message) (reply,
	error) {
	var r reply
	begun := time.Now()
	var err error
	r.Usage, err = t.model.Generate(ctx, engine.Prompt{
		Conversation: conversation,
		Messages:     messages,
		MaxTokens:    maxTokens,
		Urgency:      engine.Live.Urgency(),
	}, func(part engine.Part) error {
		r.text += part.Text
		return nil
	})
	r.took = time.Since(begun)
	return r, err
}

func opening(question string) []engine.Message {
	return []engine.Message{{Role: engine.System, Content: hotel}, {Role: engine.User, Content: question}}
}

// anew is opening with a prompt that was never read: what a model keeps of
// prompts is of no use to it.
func (t *thinking) anew(question string) []engine.Message {
	t.prompts++
	messages := opening(question)
	messages[0].Content = fmt.Sprintf("Line %d. ", t.prompts) + messages[0].Content
	return messages
}

// kept times the first token of a second turn, of which only the user's new
// words are to be read, beside that of a conversation without a cache.
func (t *thinking) kept(ctx context.Context, r *Report) error {
	t.say("second turns, %d times", t.rounds)
	var first, second []time.Duration
	var fresh int
	var known []time.Duration
	for i := range t.rounds + 1 {
		const name = "bench"
		messages := t.anew(longQuestion)
		one, err := t.ask(ctx, name, shortReply, messages...)
		if err != nil {
			return err
		}
		messages = append(messages, engine.Message{Role: engine.Assistant, Content: one.text},
			engine.Message{Role: engine.User, Content: shortQuestion})
		two, err := t.ask(ctx, name, shortReply, messages...)
		if err != nil {
			return err
		}
		t.model.Forget(name)
		messages[1].Content = shortQuestion
		next, err := t.ask(ctx, "next", shortReply, messages[:2]...)
		if err != nil {
			return err
		}
		t.model.Forget("next")
		if i > 0 {
			first, second, known = append(first, one.FirstToken), append(second, two.FirstToken),
				append(known, next.FirstToken)
		}
		fresh = two.PromptTokens - two.CachedTokens
	}
	r.figure("first_token_without_cache", median(first)/1e6, "ms", "first turn of a conversation")
	r.against("first_token_known_prompt", median(known)/1e6, "ms", median(second)/1e6,
		"first turn of the next conversation with the prompt, the one before being over; a second turn")
	r.against("first_token_with_cache", median(second)/1e6, "ms", median(first)/1e6,
		fmt.Sprintf("second turn, %d new tokens; the first turn", fresh))
	return nil
}

// together times several conversations answered at once, each with an opening
// that it has read already.
func (t *thinking) together(ctx context.Context, r *Report) error {
	var alone float64
	for _, n := range []int{1, 2, 4} {
		t.say("%d answers at once", n)
		rate, err := t.sideBySide(ctx, n)
		if err != nil {
			return err
		}
		if n == 1 {
			alone = rate
		}
		r.against(fmt.Sprintf("tokens_at_%d_at_once", n), rate, "1/s", alone, "all answers together; one alone")
	}
	return nil
}

func (t *thinking) sideBySide(ctx context.Context, n int) (rate float64, err error) {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("bench %d", i)
		if _, err := t.ask(ctx, names[i], 1, opening(longQuestion)...); err != nil {
			return 0, err
		}
	}
	replies := make([]reply, n)
	begun := time.Now()
	all, within := errgroup.WithContext(ctx)
	for i, name := range names {
		all.Go(func() (err error) {
			replies[i], err = t.ask(within, name, replyTokens, opening(longQuestion)...)
			return err
		})
	}
	err = all.Wait()
	took := time.Since(begun)
	tokens := 0
	for i, reply := range replies {
		t.model.Forget(names[i])
		tokens += reply.ReplyTokens
	}
	return float64(tokens) / took.Seconds(), err
}

// straight compares whole answers with the plainest loop over the C library.
func (t *thinking) straight(ctx context.Context, r *Report, plain *llama.Model) error {
	var read, write, took, readPlain, writePlain, tookPlain, readRatio, writeRatio, tookRatio []float64
	var tokens int
	for i := range t.rounds + 1 {
		t.say("answer %d of %d beside its yardstick", i, t.rounds)
		ours, theirs, err := t.pair(ctx, plain, i%2 == 0)
		if err != nil {
			return err
		}
		if i == 0 {
			continue // the first does not count
		}
		tokens = ours.PromptTokens
		read, readPlain = append(read, ours.readRate()), append(readPlain, theirs.PromptRate())
		readRatio = append(readRatio, ours.readRate()/theirs.PromptRate())
		write, writePlain = append(write, ours.writeRate()), append(writePlain, theirs.ReplyRate())
		writeRatio = append(writeRatio, ours.writeRate()/theirs.ReplyRate())
		took, tookPlain = append(took, milliseconds(ours.took)), append(tookPlain, milliseconds(theirs.Total))
		tookRatio = append(tookRatio, float64(ours.took)/float64(theirs.Total))
	}
	r.paired("prompt_tokens", median(read), "1/s", median(readPlain), median(readRatio),
		fmt.Sprintf("a prompt of %d; %s", tokens, straight))
	r.paired("reply_tokens", median(write), "1/s", median(writePlain), median(writeRatio), straight)
	r.paired("answer", median(took), "ms", median(tookPlain), median(tookRatio),
		fmt.Sprintf("prompt and %d tokens; %s", replyTokens, straight))
	return nil
}

// pair has the same answered by us, without any cache, and straight.
func (t *thinking) pair(ctx context.Context, plain *llama.Model, oursFirst bool) (ours reply, theirs yardstick.Reply,
	err error) {
	messages := t.anew(longQuestion)
	both := []func() error{
		func() (err error) { ours, err = t.ask(ctx, "", replyTokens, messages...); return err },
		func() (err error) {
			theirs, err = yardstick.Llama(ctx, plain, engine.Prompt{
				Messages: messages, MaxTokens: replyTokens, Urgency: engine.Live.Urgency(),
			}, func(string) {})
			return err
		},
	}
	if !oursFirst {
		both[0], both[1] = both[1], both[0]
	}
	for _, run := range both {
		if err := run(); err != nil {
			return ours, theirs, err
		}
	}
	return ours, theirs, nil
}

// alone times answers of a model on a server, which has no yardstick here.
func (t *thinking) alone(ctx context.Context, r *Report) error {
	var rates []float64
	for range t.rounds {
		answer, err := t.ask(ctx, "", replyTokens, opening(longQuestion)...)
		if err != nil {
			return err
		}
		rates = append(rates, answer.writeRate())
	}
	r.figure("reply_tokens", median(rates), "1/s", "")
	return nil
}
