package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/appliance/text"
)

// limit is how soon this machine could have answered a turn, with each engine running
// alone.
type limit struct {
	pause      time.Duration // after which the box may expect the end of the turn
	transcribe time.Duration // transcribing the user's words
	think      time.Duration // prefilling these words, and generating the first clause
	speak      time.Duration // from the clause to its first audible sound
}

// chain is the time from the user's last sound to the answer's first.
func (l limit) chain() time.Duration { return l.pause + l.transcribe + l.think + l.speak }

// forSilence is the limit for turns that end with that silence: no answer may come before
// the silence is over, and none can come before the chain has run.
func (l limit) forSilence(silence time.Duration) time.Duration { return max(silence, l.chain()) }

// String formats the four times.
func (l limit) String() string {
	ms := time.Duration.Milliseconds
	return fmt.Sprintf("%d + %d + %d + %d ms", ms(l.pause), ms(l.transcribe), ms(l.think), ms(l.speak))
}

// limitMeter measures limits with engines of its own.
type limitMeter struct {
	opened   *engines.Set
	voice    engine.Synthesizer
	messages []engine.Message // the conversation so far
}

// limitConversation names the conversation in the model's cache.
const limitConversation = "limit"

// openLimitMeter opens the engines and prefills the prompt of the conversations.
func openLimitMeter(ctx context.Context, o Options) (_ *limitMeter, err error) {
	o.announce("loading the engines once more, to find the limit of this machine")
	opened, err := engines.Open(ctx, o.Config, engines.All, o.Log)
	if err != nil {
		return nil, err
	}
	a := &limitMeter{opened: opened}
	if a.voice, err = opened.Voice(ctx, ""); err == nil {
		err = a.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return a, nil
}

// begin drops the conversation and prefills the prompt of the next.
func (a *limitMeter) begin(ctx context.Context) error {
	a.opened.Model.Forget(limitConversation)
	a.messages = []engine.Message{{Role: engine.System, Content: hotel}}
	return a.opened.Model.Prefill(ctx, a.prompt(a.messages))
}

func (a *limitMeter) close() error { return a.opened.Close() }

func (a *limitMeter) prompt(said []engine.Message) engine.Prompt {
	return engine.Prompt{
		Conversation: limitConversation,
		Messages:     said,
		MaxTokens:    replyTokens,
		Urgency:      engine.Live.Urgency(),
	}
}

// measure measures the limit of a turn with pcm as the user's speech and t as its result,
// and continues the conversation with it.
func (a *limitMeter) measure(ctx context.Context, pcm []float32, t turn) (limit, error) {
	l := limit{pause: engine.DefaultSegmentOptions().ShortPause}
	begun := time.Now()
	_, err := a.opened.Transcriber.Transcribe(ctx, trimSilence(pcm, engine.SpeechRateHz),
		engine.TranscribeOptions{Urgency: engine.Live.Urgency(), Language: "en"})
	if err != nil {
		return l, err
	}
	l.transcribe = time.Since(begun)
	asked := append(a.messages, engine.Message{Role: engine.User, Content: t.transcript})
	clause, took, err := a.firstClause(ctx, asked)
	if err != nil {
		return l, err
	}
	l.think = took
	if l.speak, err = a.firstSound(ctx, clause); err != nil {
		return l, err
	}
	a.messages = append(asked, engine.Message{Role: engine.Assistant, Content: t.answer})
	return l, a.opened.Model.Prefill(ctx, a.prompt(a.messages))
}

// firstClause returns the first clause of the model's answer, or its first sentence if
// that is one clause, and how long the model took.
func (a *limitMeter) firstClause(ctx context.Context, asked []engine.Message) (clause string, took time.Duration,
	err error) {
	enough := errors.New("the first clause is there")
	var cutter text.Cutter
	begun := time.Now()
	_, err = a.opened.Model.Generate(ctx, a.prompt(asked), func(part engine.Part) error {
		if sentences := cutter.Push(part.Text); len(sentences) > 0 {
			clause = sentences[0]
		} else if clause, _ = cutter.Early(1, 0); clause == "" {
			return nil
		}
		took = time.Since(begun)
		return enough
	})
	if errors.Is(err, enough) {
		return clause, took, nil
	}
	return cutter.Rest(), time.Since(begun), err
}

// firstSound returns the time to the first audible sound of a text, played as it is made.
func (a *limitMeter) firstSound(ctx context.Context, said string) (time.Duration, error) {
	begun := time.Now()
	enough := errors.New("the first sound is there")
	var took, silence time.Duration
	err := a.voice.Speak(ctx, said, engine.SpeakOptions{Urgency: engine.Live.Urgency()},
		func(piece engine.Sound) error {
			if took == 0 {
				took = time.Since(begun)
			}
			lead, audible := leadingSilence(piece.PCM, a.voice.RateHz())
			silence += lead
			if !audible {
				return nil
			}
			return enough
		})
	if err != nil && !errors.Is(err, enough) {
		return 0, err
	}
	return took + silence, nil
}
