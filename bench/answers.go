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
	"parley/bench/desks"
)

// The halves of the questions.
const (
	tunedHalf = "tuned" // looked at while rules, examples and prompts were made
	heldHalf  = "held"  // not looked at
	// selfPart are the questions about the assistant, which count for themselves.
	selfPart = "self"
)

// Answer is one that a desk gave.
type Answer struct {
	Desk    string        `json:"desk"`
	Kind    string        `json:"kind"`
	Half    string        `json:"half"` // tuned or held, or self
	Asked   string        `json:"asked"`
	Said    string        `json:"said"`
	Verdict desks.Verdict `json:"verdict"`
	Why     string        `json:"why,omitempty"` // it is not right
	// Tokens were written until all was said; Read were new in the prompt behind
	// the user's last word and before.
	Tokens int `json:"tokens"`
	Read   int `json:"read"`
}

// Answers measures how right the language model answers from the facts in its
// prompt.
func Answers(ctx context.Context, o Options) (Report, error) {
	if o.Half != "" && o.Half != tunedHalf && o.Half != heldHalf && o.Half != selfPart {
		return Report{},
			&ErrOption{fmt.Sprintf("half is %q; allowed are %s, %s and %s", o.Half, tunedHalf, heldHalf, selfPart)}
	}
	for _, k := range o.Only {
		if !slices.Contains(desks.Kinds, k) {
			return Report{},
				&ErrOption{fmt.Sprintf("only: %q is no kind of question; there are %s", k,
					strings.Join(desks.Kinds, ", "))}
		}
	}
	all, err := desks.All()
	if err != nil {
		return Report{}, err
	}
	r := o.aboutModel("answers")
	opened, err := engines.Open(ctx, o.Config, engines.Thinking, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	parts := chat.Parts{Defaults: chat.DefaultSettings(), Rules: opened.Rules}
	if rules := opened.Rules(opened.Model).Before; rules != "" { // as a box reads them, once for all prompts
		o.say("reading the rules")
		read := engine.Prompt{Conversation: "bench rules",
			Messages: []engine.Message{{Role: engine.System, Content: rules}}, Urgency: engine.Live.Urgency()}
		if err := opened.Model.Prefill(ctx, read); err != nil {
			return r, err
		}
	}
	for i, d := range all {
		o.say("desk %d of %d, the %s", i+1, len(all), d.Name)
		answers, err := atDesk(ctx, d, o, parts, opened.Model)
		if err != nil {
			return r, err
		}
		r.Answers = append(r.Answers, answers...)
	}
	r.tally()
	return r, nil
}

// atDesk has the questions of a desk answered, each in a conversation of its
// own, as in a chat whose config has the desk's prompt and examples.
func atDesk(ctx context.Context, d desks.Desk, o Options, parts chat.Parts, model engine.LanguageModel) ([]Answer,
	error) {
	settings := parts.Settings(deskConfig(d), model)
	var out []Answer
	for _, q := range d.Questions {
		half := tunedHalf
		switch {
		case d.Own:
			half = selfPart
		case q.Held:
			half = heldHalf
		}
		if o.Half != "" && half != o.Half || len(o.Only) > 0 && !slices.Contains(o.Only, q.Kind) {
			continue
		}
		// The name is the same for all, so that each goes on from what was read
		// of the prompt before.
		asked := talking.NewState(settings, time.Now(),
			[]talking.Entry{{Role: talking.User, Text: q.Ask}}).Conversation()
		said, usage, err := answering.Answer(ctx, "bench "+d.Name, model, asked)
		if err != nil && !errors.Is(err, answering.ErrSilent) { // who says nothing is wrong
			return nil, fmt.Errorf("%s: %q: %w", d.Name, q.Ask, err)
		}
		verdict, why := d.Judge(q, said)
		out = append(out, Answer{d.Name, q.Kind, half, q.Ask, said, verdict, why, usage.ReplyTokens,
			usage.PromptTokens - usage.CachedTokens})
	}
	model.Forget("bench " + d.Name)
	return out, nil
}

// deskConfig is the config that a desk's owner would make.
func deskConfig(d desks.Desk) contract.ReturnConfig {
	c := contract.PostedConfigVersion{}.Record()
	if d.Own {
		return c
	}
	c.Prompt = &contract.ReturnPrompt{Text: d.Prompt()}
	for _, e := range d.Examples {
		c.Examples = append(c.Examples, contract.Example{User: e.User, Assistant: e.Assistant})
	}
	return c
}

// tally counts the answers, all of them and those of each half.
func (r *Report) tally() {
	for _, half := range []string{"", tunedHalf, heldHalf, selfPart} {
		counts, kinds, total, tokens := map[desks.Verdict]int{}, map[string]int{}, 0, 0
		var order []string
		for _, a := range r.Answers {
			if a.Half != half && (half != "" || a.Half == selfPart) {
				continue
			}
			total++
			tokens += a.Tokens
			counts[a.Verdict]++
			if a.Verdict == desks.Right {
				continue
			}
			if kinds[a.Kind] == 0 {
				order = append(order, a.Kind)
			}
			kinds[a.Kind]++
		}
		if total == 0 {
			continue
		}
		name := func(figure string) string { return strings.TrimPrefix(half+"_"+figure, "_") }
		var missed []string
		for _, kind := range order {
			missed = append(missed, fmt.Sprintf("%s %d", kind, kinds[kind]))
		}
		r.against(name("right"), 100*float64(counts[desks.Right])/float64(total), "%", 80,
			fmt.Sprintf("%d of %d; not right: %s", counts[desks.Right], total, strings.Join(missed, ", ")))
		r.figure(name("partly_right"), 100*float64(counts[desks.Partly])/float64(total), "%", "")
		r.figure(name("wrong"), 100*float64(counts[desks.Wrong])/float64(total), "%", "")
		r.figure(name("answer_tokens"), float64(tokens)/float64(total), "", "written for an answer, in the mean")
	}
}
