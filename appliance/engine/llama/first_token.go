package llama

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"parley/appliance/engine"
)

// Choose returns the logarithm of the probability that the reply to p begins as each of the choices
// does; see engine.LanguageModel.
func (m *Model) Choose(ctx context.Context, p engine.Prompt, choices []string) ([]float64, error) {
	firsts, err := m.firstTokens(choices)
	if err != nil {
		return nil, err
	}
	logits, err := m.nextLogits(ctx, p)
	if err != nil {
		return nil, err
	}
	return logProbabilities(logits, firsts), nil
}

// firstTokens returns the first token of each choice.
func (m *Model) firstTokens(choices []string) ([]Token, error) {
	m.use.RLock()
	defer m.use.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	firsts := make([]Token, len(choices))
	by := map[Token]string{}
	for i, c := range choices {
		tokens, err := m.template.vocab.plain(c)
		if err != nil {
			return nil, err
		}
		if len(tokens) == 0 {
			return nil, fmt.Errorf("llama: choices[%d] is empty", i)
		}
		firsts[i] = tokens[0]
		if other, taken := by[tokens[0]]; taken {
			return nil, fmt.Errorf("llama: the choices %q and %q begin with the same token and cannot be "+
				"distinguished", other, c)
		}
		by[tokens[0]] = c
	}
	return firsts, nil
}

// firstTokenBiases returns the first tokens of words with the bias of their logits. If several
// words begin with the same token, the lowest bias counts.
func (m *Model) firstTokenBiases(words map[string]float64) (map[Token]float32, error) {
	out := make(map[Token]float32, len(words))
	for word, more := range words {
		tokens, err := m.template.vocab.plain(word)
		if err != nil {
			return nil, err
		}
		if len(tokens) == 0 {
			continue
		}
		if so, there := out[tokens[0]]; !there || float32(more) < so {
			out[tokens[0]] = float32(more)
		}
	}
	return out, nil
}

// markup lists beginnings of text that is markup and not speech, above all tool calls. A model with
// a call earlier in its conversation tends to write another one as text, which nothing would run
// and a voice would read out.
var markup = [...]string{"{", "{\"name", "{'name", "{\n", "{}", "[", "[{\"name", "<", "<tool", "</", "```", "```json",
	"\"name", "\"arguments"}

// markupTokens returns the first tokens of markup.
func (m *Model) markupTokens() ([]Token, error) {
	var out []Token
	for _, w := range markup {
		tokens, err := m.template.vocab.plain(w)
		if err != nil {
			return nil, err
		}
		out = append(out, tokens[:min(1, len(tokens))]...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// excludedBias is added to the logits of tokens that must not begin a reply.
const excludedBias = -1e4

// nextLogits returns the logits of the first token of the reply to p.
func (m *Model) nextLogits(ctx context.Context, p engine.Prompt) ([]float32, error) {
	p.MaxTokens = 1
	var set *toolset
	if len(p.Tools) > 0 { // the tools are part of the prompt, as when it was prefilled
		var err error
		if set, err = m.toolset(p.Tools); err != nil {
			return nil, err
		}
	}
	r, err := m.request(ctx, p, set, false, "")
	if err != nil {
		return nil, err
	}
	var logits []float32
	r.onLogits = func(l []float32) { logits = append([]float32(nil), l...) }
	if err := m.mailbox.put(r); err != nil {
		return nil, err
	}
	defer p.Urgency.Watch(func() { m.mailbox.promoted(r) })()
	if _, err := r.stream(ctx, m.mailbox, time.Now(), discardPart); err != nil {
		return nil, err
	}
	return logits, nil
}

// logProbabilities returns the log-probabilities of some tokens.
func logProbabilities(logits []float32, of []Token) []float64 {
	most := math.Inf(-1)
	for _, l := range logits {
		most = max(most, float64(l))
	}
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l) - most)
	}
	out := make([]float64, len(of))
	for i, t := range of {
		out[i] = float64(logits[t]) - most - math.Log(sum)
	}
	return out
}
