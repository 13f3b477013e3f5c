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

// A small model says that it has done what it cannot do. In English most of such
// sentences begin with one of a few words, and have one of these verbs.

//go:embed claims.txt
var claimVerbs string

var (
	// claim is a sentence that says that something was done, or will be: "Sure, I've
	// just booked it", "Your order has been placed".
	claim = regexp.MustCompile(`(?i)^(?:[\w'’ ]{0,20}[,!;] ?)?(?:` +
		`i(?:['’](?:ve|ll|m)| have| will| am)?(?: just| already| now| also| going to| gone ahead and| go ahead and)*` +
		`|let me|your [^,;:]{1,60}? (?:has|have) been|your [^,;:]{1,60}? (?:is|are) now) (` +
		strings.Join(strings.Fields(claimVerbs), "|") + `)(?:[^\pL]|$)`)
	// claimBegins is a beginning that may become one within a few words.
	claimBegins = regexp.MustCompile(`(?i)^(?:[\w'’ ]{0,20}[,!;] ?)?` +
		`(?:i(?:['’](?:ve|ll|m))?(?: \w+){0,3}|l|le|let|let m|let me|y|yo|you|your(?: [\w'’]+){0,8})?['’ ]?$`)
	// failure is how tools say that they did nothing.
	failure = regexp.MustCompile(`(?i)\b(fail(ed|ure)?|errors?|nothing|unable|cannot|could ?n[o']t|not ` +
		`(possible|available|found|made|done)|refused|denied)\b`)
	// sentenceEnd is where a sentence is over.
	sentenceEnd = regexp.MustCompile(`[` + text.Terminators + `][)"'”’]*\s`)
)

// cannot is said in place of a claim. Claims are known in English alone, so it is
// English too.
const cannot = "I'm sorry, I can't do that from here."

// errClaim is what an answer ends with that says that something was done which no
// tool has done.
var errClaim = errors.New("llama: the answer claims what no tool has done")

// claimCheck passes an answer on as it comes, and ends it where it claims what no
// tool has done. A sentence is held back only while its first words may become a
// claim; one that turns into a claim later is broken off there.
type claimCheck struct {
	emit     func(engine.Part) error
	did      string // what tools that have answered are called, do, and said
	done     bool   // one has just answered: whatever it did may be said
	sentence string // that has begun
	passed   int    // so many bytes of it
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

// take takes a part of the answer.
func (c *claimCheck) take(part engine.Part) error {
	if part.Call != nil {
		return c.emit(part)
	}
	c.sentence += part.Text
	return c.pass(false)
}

// pass emits what of the sentence that has begun is no claim; whole: there will be
// no more.
func (c *claimCheck) pass(whole bool) error {
	for c.passed < len(c.sentence) {
		sentence, over := c.sentence, whole
		if end := sentenceEnd.FindStringIndex(sentence); end != nil {
			sentence, over = sentence[:end[1]], true
		}
		words := sentence
		if !over { // the last word may go on
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

// supported reports whether a tool did what a verb says, by how it begins.
func (c *claimCheck) supported(verb string) bool {
	return c.done || strings.Contains(c.did, verb[:max(3, len(verb)-3)])
}

// end ends the answer, which failed with err or did not: in place of a claim it says
// that it cannot be done.
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

// replyInWords answers without calling anything.
func (m *Model) replyInWords(ctx context.Context, p engine.Prompt, set *toolset, begun time.Time,
	emit func(engine.Part) error) (engine.Usage, error) {
	c := newClaimCheck(p, emit)
	u, err := m.reply(ctx, p, set, begun, c.take)
	return u, c.end(err)
}
