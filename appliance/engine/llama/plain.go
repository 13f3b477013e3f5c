package llama

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"parley/appliance/engine"
)

// Plain is a context of its own on a Model's weights, for one sequence: calls
// of libllama and nothing around them, for measuring what the rest of this
// package costs. One goroutine uses it.
type Plain struct {
	Prompt    []Token // what was asked, as Generate would write it
	MaxTokens int     // of the reply

	m      *Model
	ctx    handle
	greedy handle
}

// OpenPlain makes room for p and its reply, to be decoded in batches of up to
// batchTokens. The Model is not closed before the Plain.
func (m *Model) OpenPlain(p engine.Prompt, batchTokens int) (*Plain, error) {
	m.use.RLock()
	c, err := m.openPlain(p, batchTokens)
	if err != nil {
		m.use.RUnlock()
		return nil, err
	}
	return c, nil
}

func (m *Model) openPlain(p engine.Prompt, batchTokens int) (*Plain, error) {
	if m.closed {
		return nil, ErrClosed
	}
	prompt, _, maxTokens, err := m.write(context.Background(), p, nil, true)
	if err != nil {
		return nil, err
	}
	ctx, err := m.lib.openContext(m.model, shape{
		cells:       len(prompt) + maxTokens,
		sequences:   1,
		batchTokens: batchTokens,
		threads:     m.o.Threads,
	})
	if err != nil {
		return nil, fmt.Errorf("llama: %w", err)
	}
	return &Plain{
		Prompt:    prompt,
		MaxTokens: maxTokens,
		m:         m,
		ctx:       ctx,
		greedy:    m.lib.samplerInitGreedy(),
	}, nil
}

// Close gives the context back. It is called once.
func (c *Plain) Close() {
	c.m.lib.samplerFree(c.greedy)
	c.m.lib.free(c.ctx)
	c.m.use.RUnlock()
}

// Enter waits at the Model's gate for the cores of one decode.
func (c *Plain) Enter(ctx context.Context, u *engine.Urgency) (leave func(), err error) {
	return c.m.o.Gate.Enter(ctx, u, c.m.o.Threads)
}

// Decode reads tokens after those it has read.
func (c *Plain) Decode(tokens []Token) error {
	result := c.m.lib.decode(c.ctx, c.m.lib.batchGetOne(&tokens[0], int32(len(tokens))))
	runtime.KeepAlive(tokens)
	if result != 0 {
		return errors.New("llama: libllama cannot decode" + c.m.lib.why())
	}
	return nil
}

// Greedy is the likeliest token to follow.
func (c *Plain) Greedy() Token { return c.m.lib.samplerSample(c.greedy, c.ctx, -1) }

// Ends says whether t ends a reply.
func (c *Plain) Ends(t Token) bool { return c.m.template.vocab.ends(t) }

// Text is what t stands for, which may be a part of a rune.
func (c *Plain) Text(t Token) string { return string(c.m.template.vocab.piece(t, false)) }
