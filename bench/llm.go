package bench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/appliance/engine"
	"parley/appliance/engines"
)

// hotel is a system prompt as an operator writes one: the role, the style and the facts.
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

// Questions of guests. The first has a long answer, so that generation can be timed.
const (
	longQuestion = "Please tell me everything that you know about the hotel, its floors, its times and its prices, " +
		"from the beginning."
	shortQuestion = "Thank you. And where do I park my car, and what does that cost?"
)

const (
	// replyTokens is how much of a long answer is timed.
	replyTokens = 48
	// shortReply is how much of an answer is generated if only its beginning matters.
	shortReply = 4
	// maxLLMRounds bounds the rounds that prefill the whole prompt: five seconds each
	// with the default model.
	maxLLMRounds = 7
)

// aboutModel begins a report on the language model, before it is loaded.
func (o Options) aboutModel(bench string) Report {
	m := o.Config.Engines.LanguageModel
	r := Report{Bench: bench, Machine: describe(o.Config, "runtime-llama", m.Pack)}
	if m.OpenAI != "" { // the server's model is unknown
		r.Machine.Packs, r.Machine.Box = []string{}, m.OpenAI
	}
	o.announce("loading %s", m.Pack+m.OpenAI)
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
	t := &modelBench{model: opened.Model, rounds: min(o.Rounds, maxLLMRounds), announce: o.announce}
	if err := t.cachedTurns(ctx, &r); err != nil {
		return r, err
	}
	if err := t.parallelAnswers(ctx, &r); err != nil {
		return r, err
	}
	if o.Config.Engines.LanguageModel.OpenAI == "" {
		r.memory(self(), 0)
	}
	return r, t.wholeAnswers(ctx, &r)
}

// modelBench measures a language model.
type modelBench struct {
	model    engine.LanguageModel
	rounds   int
	announce func(format string, args ...any)

	prompts int // made by freshPrompt
}

// reply is an answer and how long it took.
type reply struct {
	engine.Usage
	text string
	took time.Duration
}

// prefillRate and decodeRate are in tokens per second.
func (r reply) prefillRate() float64 {
	return float64(r.PromptTokens-r.CachedTokens) / r.FirstToken.Seconds()
}
func (r reply) decodeRate() float64 {
	return float64(r.ReplyTokens-1) / (r.took - r.FirstToken).Seconds()
}

func (t *modelBench) ask(ctx context.Context, conversation string, maxTokens int, messages ...engine.Message) (reply,
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

// freshPrompt is opening with a prompt that was never prefilled, so that no cache has it.
func (t *modelBench) freshPrompt(question string) []engine.Message {
	t.prompts++
	messages := opening(question)
	messages[0].Content = fmt.Sprintf("Line %d. ", t.prompts) + messages[0].Content
	return messages
}

// cachedTurns times the first token of a second turn, for which only the user's new words
// are prefilled, compared with a conversation without a cache.
func (t *modelBench) cachedTurns(ctx context.Context, r *Report) error {
	t.announce("second turns, %d times", t.rounds)
	var first, second []time.Duration
	var fresh int
	var known []time.Duration
	for i := range t.rounds + 1 {
		const name = "bench"
		messages := t.freshPrompt(longQuestion)
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
		"first turn of the next conversation with that prompt, after the previous one; a second turn")
	r.against("first_token_with_cache", median(second)/1e6, "ms", median(first)/1e6,
		fmt.Sprintf("second turn, %d new tokens; the first turn", fresh))
	return nil
}

// parallelAnswers times parallel answers to prompts that are cached.
func (t *modelBench) parallelAnswers(ctx context.Context, r *Report) error {
	var alone float64
	for _, n := range []int{1, 2, 4} {
		t.announce("%d answers at once", n)
		rate, err := t.parallelRate(ctx, n)
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

func (t *modelBench) parallelRate(ctx context.Context, n int) (rate float64, err error) {
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

// wholeAnswers times whole answers to prompts that were never prefilled.
func (t *modelBench) wholeAnswers(ctx context.Context, r *Report) error {
	t.announce("answers, %d times", t.rounds)
	var read, write, took []float64
	for range t.rounds {
		answer, err := t.ask(ctx, "", replyTokens, t.freshPrompt(longQuestion)...)
		if err != nil {
			return err
		}
		read, write = append(read, answer.prefillRate()), append(write, answer.decodeRate())
		took = append(took, milliseconds(answer.took))
	}
	r.figure("prompt_tokens", median(read), "1/s", "prefilled, without any cache")
	r.figure("reply_tokens", median(write), "1/s", "written")
	r.figure("answer", median(took), "ms", fmt.Sprintf("prompt and %d tokens", replyTokens))
	return nil
}
