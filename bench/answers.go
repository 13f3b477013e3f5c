package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/chat"
	answering "parley/appliance/chat/reply"
	talking "parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/bench/cases"
)

// openHalf are the cases whose answers may be inspected during development; those of
// heldHalf may not.
const openHalf = "open"

// Answer is an answer of an assistant.
type Answer struct {
	Assistant string `json:"assistant"`
	Kind      string `json:"kind"`
	Half      string `json:"half"`
	Question  string `json:"asked"`
	Reply     string `json:"said"`
	Right     bool   `json:"right"`
	// Tokens is the number of generated tokens; Read is the number of prompt tokens that
	// were not cached.
	Tokens int `json:"tokens"`
	Read   int `json:"read"`
}

// Answers measures how often the language model, as the box runs it, answers right.
func Answers(ctx context.Context, o Options) (Report, error) {
	if o.Half != "" && o.Half != openHalf && o.Half != heldHalf {
		return Report{}, &ErrOption{fmt.Sprintf("half is %q; allowed are %s and %s", o.Half, openHalf, heldHalf)}
	}
	for _, k := range o.Only {
		if !slices.Contains(cases.Kinds, k) {
			return Report{}, &ErrOption{fmt.Sprintf("only: %q is not a kind of case; allowed are %s", k,
				strings.Join(cases.Kinds, ", "))}
		}
	}
	all, err := cases.All()
	if err != nil {
		return Report{}, err
	}
	r := o.aboutModel("answers")
	opened, err := engines.Open(ctx, o.Config, engines.Thinking, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	parts := chat.Parts{Defaults: chat.DefaultSettings(), Rules: chat.RulesOf(opened.Rules)}
	for i, a := range all {
		o.announce("assistant %d of %d, %s", i+1, len(all), a.Name)
		answers, err := answersOf(ctx, a, o, parts, opened.Model)
		if err != nil {
			return r, err
		}
		r.Answers = append(r.Answers, answers...)
	}
	r.tally()
	return r, nil
}

// answersOf runs the cases of an assistant, each in a conversation of its own, as in a
// chat whose config has its prompt.
func answersOf(ctx context.Context, a cases.Assistant, o Options, parts chat.Parts,
	model engine.LanguageModel) ([]Answer, error) {
	config := contract.PostedConfigVersion{}.Record()
	config.Prompt = &contract.ReturnPrompt{Text: a.Prompt}
	settings := parts.Settings(config, model)
	// One name for all conversations, so that each reuses the cached prompt.
	name := "bench " + a.Name
	defer model.Forget(name)
	var out []Answer
	for _, c := range a.Cases {
		half := openHalf
		if c.Held {
			half = heldHalf
		}
		if o.Half != "" && half != o.Half || len(o.Only) > 0 && !slices.Contains(o.Only, c.Kind) {
			continue
		}
		var history []talking.Entry
		for _, b := range c.Before {
			history = append(history, talking.Entry{Role: talking.User, Text: b.User},
				talking.Entry{Role: talking.Assistant, Text: b.Assistant})
		}
		history = append(history, talking.Entry{Role: talking.User, Text: c.Ask})
		asked := talking.NewState(settings, time.Now(), history).Conversation()
		said, usage, err := answering.Answer(ctx, name, model, asked)
		if err != nil && !errors.Is(err, answering.ErrSilent) { // silence is a wrong answer
			return nil, fmt.Errorf("%s: %q: %w", a.Name, c.Ask, err)
		}
		right, err := c.Passes(said)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", a.Name, c.Ask, err)
		}
		out = append(out, Answer{
			Assistant: a.Name,
			Kind:      c.Kind,
			Half:      half,
			Question:  c.Ask,
			Reply:     said,
			Right:     right,
			Tokens:    usage.ReplyTokens,
			Read:      usage.PromptTokens - usage.CachedTokens,
		})
	}
	return out, nil
}

// tally counts the right answers of each half, and of each kind in both.
func (r *Report) tally() {
	for _, part := range append([]string{openHalf, heldHalf}, cases.Kinds...) {
		right, total, tokens := 0, 0, 0
		for _, a := range r.Answers {
			if a.Half != part && a.Kind != part {
				continue
			}
			total++
			tokens += a.Tokens
			if a.Right {
				right++
			}
		}
		if total == 0 {
			continue
		}
		r.figure(part+"_right", 100*float64(right)/float64(total), "%",
			fmt.Sprintf("%d of %d; %.0f tokens per answer", right, total, float64(tokens)/float64(total)))
	}
}
