package yardstick

import (
	"context"
	"runtime"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/llama"
)

// Reply is the times of one greedy reply.
type Reply struct {
	PromptTokens int
	ReplyTokens  int
	FirstToken   time.Duration // until the first token is chosen
	Total        time.Duration
}

// PromptRate is how many tokens of the prompt were read in a second.
func (r Reply) PromptRate() float64 { return float64(r.PromptTokens) / r.FirstToken.Seconds() }

// ReplyRate is how many tokens after the first were written in a second; 0 if
// there were none.
func (r Reply) ReplyRate() float64 {
	if r.ReplyTokens < 2 {
		return 0
	}
	return float64(r.ReplyTokens-1) / (r.Total - r.FirstToken).Seconds()
}

// llamaBatch is libllama's own default for the tokens of one batch.
const llamaBatch = 512

// Llama answers p, greedily and without any cache, with the plainest loop over
// libllama: one sequence, the prompt in the largest batches, the library's own
// sampler. It makes a context for itself, keeps the cores for all of its time,
// and gives each piece of the reply to emit.
func Llama(ctx context.Context, m *llama.Model, p engine.Prompt, emit func(piece string)) (r Reply, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // a thread of its own, as the engine's: see llama.Model
		r, err = plainLlama(ctx, m, p, emit)
	}()
	<-done
	return r, err
}

func plainLlama(ctx context.Context, m *llama.Model, p engine.Prompt, emit func(piece string)) (r Reply, err error) {
	c, err := m.OpenPlain(p, llamaBatch)
	if err != nil {
		return r, err
	}
	defer c.Close()
	leave, err := c.Enter(ctx, p.Urgency)
	if err != nil {
		return r, err
	}
	defer leave()
	prompt := c.Prompt
	r.PromptTokens = len(prompt)
	begun := time.Now()
	for len(prompt) > 0 {
		n := min(len(prompt), llamaBatch)
		if err := decode(ctx, c, prompt[:n]); err != nil {
			return r, err
		}
		prompt = prompt[n:]
	}
	for {
		t := c.Greedy()
		r.Total = time.Since(begun)
		if r.FirstToken == 0 {
			r.FirstToken = r.Total
		}
		if c.Ends(t) {
			return r, nil
		}
		r.ReplyTokens++
		emit(c.Text(t))
		if r.ReplyTokens == c.MaxTokens {
			return r, nil
		}
		if err := decode(ctx, c, []llama.Token{t}); err != nil {
			return r, err
		}
	}
}

func decode(ctx context.Context, c *llama.Plain, tokens []llama.Token) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return c.Decode(tokens)
}
