package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"parley/appliance/engine"
)

// maxCallBytes limits the arguments of one call to the size of the largest prompt of the API.
const maxCallBytes = 256 << 10

var errCallSize = fmt.Errorf("the call of a tool has more than %d bytes", maxCallBytes)

// takeCalls joins the parts of a call. One call was requested; if a server makes several at once,
// only the first counts.
func (a *answer) takeCalls(parts []wireCall) error {
	for _, p := range parts {
		if p.Index != nil && *p.Index != 0 || a.call != nil && p.Index == nil && p.ID != "" && p.ID != a.call.ID {
			continue
		}
		if a.call == nil {
			a.call = &engine.ToolCall{}
		}
		if a.call.ID == "" {
			a.call.ID = p.ID
		}
		if a.call.Name == "" {
			a.call.Name = p.Function.Name
		}
		if a.callSize += len(p.Function.Arguments); a.callSize > maxCallBytes {
			return errCallSize
		}
		a.call.Arguments += p.Function.Arguments
	}
	return nil
}

// deliverCall emits the call of the answer. Whether its arguments are valid, or JSON at all, is
// checked by the provider of the tool, who may ask the model to try again.
func (a *answer) deliverCall() error {
	if a.call == nil {
		return nil
	}
	if strings.TrimSpace(a.call.Arguments) == "" {
		a.call.Arguments = "{}"
	}
	if a.call.Name == "" {
		return errors.New("the answer calls a tool without its name")
	}
	return a.emitPart(engine.Part{Call: a.call})
}

// maxLogprobs is the most probabilities that servers of the OpenAI API return for a token.
const maxLogprobs = 20

type logprobs struct {
	Content []struct {
		TopLogprobs []topLogprob `json:"top_logprobs"`
	} `json:"content"`
}

type topLogprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// Choose requests one token with the probabilities of the likeliest ones; see engine.LanguageModel.
// A server that returns none is an ErrUnsupported. The server decides how a choice is tokenized, so
// the longest returned token that the choice begins with counts.
func (m *Model) Choose(ctx context.Context, p engine.Prompt, choices []string) ([]float64, error) {
	if err := unsupported(p); err != nil {
		return nil, err
	}
	p.Tools = nil // the choices take their place
	p.MaxTokens, p.Temperature = 1, 0
	q := m.chatRequest(p)
	q.Logprobs, q.TopLogprobs = true, maxLogprobs
	a, err := m.exchange(ctx, time.Now(), q, func(engine.Part) error { return nil })
	if err != nil {
		return nil, err
	}
	if len(a.first) == 0 {
		return nil, fmt.Errorf("remote model: %s returns no probabilities: %w", m.name, engine.ErrUnsupported)
	}
	return matchChoices(a.first, choices)
}

// matchChoices finds the first token of each choice among the returned ones.
func matchChoices(top []topLogprob, choices []string) ([]float64, error) {
	out := make([]float64, len(choices))
	by := map[string]string{}
	for i, c := range choices {
		longest := ""
		out[i] = math.Inf(-1)
		for _, t := range top {
			text := strings.TrimLeft(t.Token, " \u0120\u2581\n")
			if text != "" && strings.HasPrefix(c, text) &&
				(len(text) > len(longest) || text == longest && t.Logprob > out[i]) {
				longest, out[i] = text, t.Logprob
			}
		}
		if longest == "" {
			continue
		}
		if other, taken := by[longest]; taken {
			return nil, fmt.Errorf("remote model: the choices %q and %q begin with the same token and "+
				"cannot be distinguished", other, c)
		}
		by[longest] = c
	}
	return out, nil
}

// unsupported returns an error for what the OpenAI API cannot do.
func unsupported(p engine.Prompt) error {
	if p.Grammar != "" {
		return fmt.Errorf("remote model: the OpenAI API does not support grammars: %w", engine.ErrUnsupported)
	}
	return nil
}
