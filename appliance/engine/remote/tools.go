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

// maxCallBytes bounds the arguments of one call: as much as a whole prompt of
// the API may be is no call any more.
const maxCallBytes = 256 << 10

var errCallSize = fmt.Errorf("the call of a tool has more than %d bytes", maxCallBytes)

// takeCalls joins the parts of a call as they come. One call was asked for, and
// servers that make more at once are held to the first.
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

// deliverCall emits the call that the answer made, now that all of it is there.
// Whether its arguments are what the tool asks for, and JSON at all, is for who
// offers the tool to say: the model may be told, and try again.
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

// maxLogprobs is of how many tokens servers of the OpenAI API tell the
// probability at most.
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

// Choose asks for one token and the probabilities of the likeliest of them; see
// engine.LanguageModel. A server that does not tell any is an ErrCannot. Which
// tokens a choice is made of is the server's affair, so it begins with the
// longest of the tokens that it begins with as text.
func (m *Model) Choose(ctx context.Context, p engine.Prompt, choices []string) ([]float64, error) {
	if err := unsupported(p); err != nil {
		return nil, err
	}
	p.Tools = nil // what is chosen from are the choices
	p.MaxTokens, p.Temperature = 1, 0
	q := m.chatRequest(p)
	q.Logprobs, q.TopLogprobs = true, maxLogprobs
	a, err := m.exchange(ctx, time.Now(), q, func(engine.Part) error { return nil })
	if err != nil {
		return nil, err
	}
	if len(a.first) == 0 {
		return nil, fmt.Errorf("remote model: %s tells no probabilities: %w", m.server, engine.ErrUnsupported)
	}
	return matchChoices(a.first, choices)
}

// matchChoices finds the first token of each choice among those that were told.
func matchChoices(told []topLogprob, choices []string) ([]float64, error) {
	out := make([]float64, len(choices))
	by := map[string]string{}
	for i, c := range choices {
		longest := ""
		out[i] = math.Inf(-1)
		for _, t := range told {
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
			return nil, fmt.Errorf("remote model: the choices %q and %q begin with the same token, by which they "+
				"cannot be told apart", other, c)
		}
		by[longest] = c
	}
	return out, nil
}

// unsupported says what of p a server of the OpenAI API has no way to do.
func unsupported(p engine.Prompt) error {
	if p.Grammar != "" {
		return fmt.Errorf("remote model: the OpenAI API knows no grammars: %w", engine.ErrUnsupported)
	}
	return nil
}
