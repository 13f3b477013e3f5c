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

// limit is how soon a turn could have been answered by the engines of this
// machine if each had it for itself.
type limit struct {
	pause      time.Duration // after which the end of a turn may be guessed at
	transcribe time.Duration // the user's words, at once
	think      time.Duration // reading those words, and the first clause of the answer
	speak      time.Duration // rotated the clause to the first sound of it that can be heard
}

// chain is the time from the user's last sound to the answer's first.
func (l limit) chain() time.Duration { return l.pause + l.transcribe + l.think + l.speak }

// forSilence is the limit of a turn that ends with so much silence: no answer may come
// before the silence is over, and none can come before the chain is through.
func (l limit) forSilence(silence time.Duration) time.Duration { return max(silence, l.chain()) }

// String is the limit in words.
func (l limit) String() string {
	ms := time.Duration.Milliseconds
	return fmt.Sprintf("%d + %d + %d + %d ms", ms(l.pause), ms(l.transcribe), ms(l.think), ms(l.speak))
}

// wholeAnswers measures limits with engines of its own.
type limitMeter struct {
	opened   *engines.Set
	voice    engine.Synthesizer
	messages []engine.Message // the conversation so far
}

// limitConversation names the cache of the conversation at the engine.
const limitConversation = "limit"

// openLimitMeter opens the engines and has the model read the prompt that the
// conversations have.
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

// begin forgets the conversation and has the model read the prompt of the next.
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

// measure finds the limit of a turn in which pcm was said and the box answered
// as t says, and goes on from there with the next.
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

// firstClause is the first clause of the model's answer, or its first sentence
// where that is one clause, and how long the model takes to it.
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

// firstSound is how long the voice takes to the first sound of a text that can
// be heard, were it played as it comes.
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
