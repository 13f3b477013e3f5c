package llama

import (
	"context"
	_ "embed"
	"errors"
	"regexp"
	"strings"
	"time"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// Small models claim to have done what they cannot do. In English, most of these sentences begin
// with one of a few phrases and contain one of these verbs.

//go:embed claims.txt
var claimVerbs string

var (
	// claim matches a sentence that claims that something was or will be done: "Sure, I've just
	// booked it", "Your order has been placed".
	claim = regexp.MustCompile(`(?i)^(?:[\w'’ ]{0,20}[,!;] ?)?(?:` +
		`i(?:['’](?:ve|ll|m)| have| will| am)?(?: just| already| now| also| going to| gone ahead and| go ahead and)*` +
		`|let me|your [^,;:]{1,60}? (?:has|have) been|your [^,;:]{1,60}? (?:is|are) now) (` +
		strings.Join(strings.Fields(claimVerbs), "|") + `)(?:[^\pL]|$)`)
	// claimBegins matches a beginning that may become a claim within a few words.
	claimBegins = regexp.MustCompile(`(?i)^(?:[\w'’ ]{0,20}[,!;] ?)?` +
		`(?:i(?:['’](?:ve|ll|m))?(?: \w+){0,3}|l|le|let|let m|let me|y|yo|you|your(?: [\w'’]+){0,8})?['’ ]?$`)
	// failure matches tool results that report that nothing was done.
	failure = regexp.MustCompile(`(?i)\b(fail(ed|ure)?|errors?|nothing|unable|cannot|could ?n[o']t|not ` +
		`(possible|available|found|made|done)|refused|denied)\b`)
	// sentenceEnd matches the end of a sentence.
	sentenceEnd = regexp.MustCompile(`[` + text.Terminators + `][)"'”’]*\s`)
)

// cannot replaces a claim. Claims are only detected in English, so it is English too.
const cannot = "I'm sorry, I can't do that from here."

// errClaim ends an answer that claims an action which no tool has done.
var errClaim = errors.New("llama: the answer claims an action that no tool has done")

// claimCheck passes an answer on as it is generated and ends it at a claim that no tool result
// supports. A sentence is held back only while its first words may become a claim; one that becomes
// a claim later is broken off there.
type claimCheck struct {
	emit     func(engine.Part) error
	did      string // names, descriptions and results of the tools that have succeeded
	done     bool   // a tool has just succeeded: every claim is allowed
	sentence string // the current sentence
	passed   int    // bytes of sentence that were emitted
}

func newClaimCheck(p engine.Prompt, emit func(engine.Part) error) *claimCheck {
	c := &claimCheck{emit: emit}
	called := map[string]string{}
	for _, m := range p.Messages {
		for _, call := range m.Calls {
			called[call.ID] = call.Name
		}
		if c.done = m.Role == engine.ToolRole && !failure.MatchString(m.Content); c.done {
			c.did += " " + called[m.CallID] + " " + m.Content
			for _, t := range p.Tools {
				if t.Name == called[m.CallID] {
					c.did += " " + t.Description
				}
			}
		}
	}
	c.did = strings.ToLower(c.did)
	return c
}

// take adds a part of the answer.
func (c *claimCheck) take(part engine.Part) error {
	if part.Call != nil {
		return c.emit(part)
	}
	c.sentence += part.Text
	return c.pass(false)
}

// pass emits what is certainly no claim; whole says that the answer is complete.
func (c *claimCheck) pass(whole bool) error {
	for c.passed < len(c.sentence) {
		sentence, over := c.sentence, whole
		if end := sentenceEnd.FindStringIndex(sentence); end != nil {
			sentence, over = sentence[:end[1]], true
		}
		words := sentence
		if !over { // the last word may be incomplete
			words = strings.TrimRightFunc(sentence, text.IsWordRune)
		}
		if m := claim.FindStringSubmatch(words); m != nil && !c.supported(strings.ToLower(m[1])) {
			return errClaim
		}
		if !over && claimBegins.MatchString(sentence) {
			return nil
		}
		piece := sentence[c.passed:]
		if c.passed = len(sentence); over {
			c.sentence, c.passed = c.sentence[len(sentence):], 0
		}
		if err := c.emit(engine.Part{Text: piece}); err != nil {
			return err
		}
	}
	return nil
}

// supported reports whether a tool did what the verb says, judged by the beginning of the verb.
func (c *claimCheck) supported(verb string) bool {
	return c.done || strings.Contains(c.did, verb[:max(3, len(verb)-3)])
}

// end finishes the answer, which failed with err if err is not nil. It replaces a claim with an
// apology.
func (c *claimCheck) end(err error) error {
	if err == nil {
		err = c.pass(true)
	}
	if !errors.Is(err, errClaim) {
		return err
	}
	before := ""
	if c.passed > 0 {
		before = "… "
	}
	return c.emit(engine.Part{Text: before + cannot})
}

// replyInWords generates a reply without tool calls, with the claim check.
func (m *Model) replyInWords(ctx context.Context, p engine.Prompt, set *toolset, begun time.Time,
	emit func(engine.Part) error) (engine.Usage, error) {
	c := newClaimCheck(p, emit)
	u, err := m.reply(ctx, p, set, begun, c.take)
	return u, c.end(err)
}
