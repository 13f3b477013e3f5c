package llama

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"parley/appliance/engine"
)

// Figures are the times of one greedy reply.
type Figures struct {
	PromptTokens int
	ReplyTokens  int
	FirstToken   time.Duration // until the first token is chosen
	Total        time.Duration
}

// PromptRate is how many tokens of the prompt were read in a second.
func (f Figures) PromptRate() float64 { return float64(f.PromptTokens) / f.FirstToken.Seconds() }

// ReplyRate is how many tokens after the first were written in a second; 0 if
// there were none.
func (f Figures) ReplyRate() float64 {
	if f.ReplyTokens < 2 {
		return 0
	}
	return float64(f.ReplyTokens-1) / (f.Total - f.FirstToken).Seconds()
}

// straightBatch is libllama's own default for the tokens of one batch.
const straightBatch = 512

// Straight is the yardstick for Generate: it answers p, greedily and without
// any cache, with the plainest loop over the C library: one sequence, the
// prompt in the largest batches, the library's own sampler. It makes a context
// for itself, keeps the cores for all of its time, and gives each piece of the
// reply to emit.
func (m *Model) Straight(ctx context.Context, p engine.Prompt, emit func(piece string)) (Figures, error) {
	m.use.RLock()
	defer m.use.RUnlock()
	if m.closed {
		return Figures{}, ErrClosed
	}
	prompt, maxTokens, err := m.write(p, true)
	if err != nil {
		return Figures{}, err
	}
	c, err := m.lib.openContext(m.model, shape{
		cells: len(prompt) + maxTokens, sequences: 1,
		batchTokens: straightBatch, threads: m.o.Threads,
	})
	if err != nil {
		return Figures{}, fmt.Errorf("llama: %w", err)
	}
	defer m.lib.free(c)
	leave, err := m.o.Gate.Enter(ctx, p.Priority, m.o.Threads)
	if err != nil {
		return Figures{}, err
	}
	defer leave()
	return m.straight(ctx, c, prompt, maxTokens, emit)
}

func (m *Model) straight(ctx context.Context, c handle, prompt []Token, maxTokens int, emit func(string)) (Figures, error) {
	greedy := m.lib.samplerInitGreedy()
	defer m.lib.samplerFree(greedy)
	vocab := m.template.vocab
	f := Figures{PromptTokens: len(prompt)}
	begun := time.Now()
	for len(prompt) > 0 {
		n := min(len(prompt), straightBatch)
		if err := m.decodeOne(ctx, c, prompt[:n]); err != nil {
			return f, err
		}
		prompt = prompt[n:]
	}
	for {
		t := m.lib.samplerSample(greedy, c, -1)
		f.Total = time.Since(begun)
		if f.FirstToken == 0 {
			f.FirstToken = f.Total
		}
		if vocab.ends(t) {
			return f, nil
		}
		f.ReplyTokens++
		emit(string(vocab.piece(t, false)))
		if f.ReplyTokens == maxTokens {
			return f, nil
		}
		if err := m.decodeOne(ctx, c, []Token{t}); err != nil {
			return f, err
		}
	}
}

func (m *Model) decodeOne(ctx context.Context, c handle, tokens []Token) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	result := m.lib.decode(c, m.lib.batchGetOne(&tokens[0], int32(len(tokens))))
	runtime.KeepAlive(tokens)
	if result != 0 {
		return errors.New("llama: libllama cannot decode" + m.lib.why())
	}
	return nil
}
