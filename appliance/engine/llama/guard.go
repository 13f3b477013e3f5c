package llama

import (
	"errors"
	"regexp"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// refusal begins an answer anew that claimed to have done something: whatever
// follows it, it is no claim. Claims are known in English alone, so it is too.
const refusal = "I'm sorry, I can't"

// errClaim is what an answer ends with that says that something was done which no
// tool has done.
var errClaim = errors.New("llama: the answer claims what no tool has done")

// guard passes an answer on, sentence by sentence as they come, and ends it
// where it claims something. A sentence is held back only while its first words
// may become a claim; of most answers that is nothing, and never more than a few
// words. One that turns into a claim later is broken off there.
type guard struct {
	emit     func(engine.Part) error
	sentence string // that has begun
	passed   int    // so many bytes of it
	harmless bool   // it will be no claim
	off      bool   // a tool has just answered: what it did may be said
	unable   bool   // nothing can be done: nor may it be promised
	did      []string
	said     bool // something was emitted
}

func newGuard(p engine.Prompt, set *toolset, emit func(engine.Part) error) *guard {
	g := &guard{emit: emit}
	failed := map[string]bool{}
	for _, m := range p.Messages {
		if m.Role == engine.ToolRole {
			failed[m.CallID] = failure.MatchString(m.Content)
		}
	}
	for _, m := range p.Messages {
		for _, c := range m.Calls {
			if failed[c.ID] {
				continue
			}
			g.did = append(g.did, nameWords(c.Name)...)
			for _, t := range set.tools {
				if t.Name == c.Name {
					g.did = append(g.did, wordsOf(t.Description)...)
				}
			}
		}
	}
	if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == engine.ToolRole {
		g.off = !failed[p.Messages[n-1].CallID]
	}
	return g
}

// failure is how tools say that they did nothing.
var failure = regexp.MustCompile(`(?i)\b(fail(ed|ure)?|errors?|nothing|unable|cannot|could ?n[o']t|not ` +
	`(possible|available|found|made|done)|refused|denied)\b`)

// ends is where a sentence is over.
var ends = regexp.MustCompile(`[` + text.Terminators + `][)"'”’]*\s`)

// take takes a part of the answer.
func (g *guard) take(part engine.Part) error {
	if g.off || part.Call != nil {
		g.said = true
		return g.emit(part)
	}
	g.sentence += part.Text
	return g.pass(false)
}

// rest is the end of the answer.
func (g *guard) rest() error {
	if g.off {
		return nil
	}
	return g.pass(true)
}

// pass emits what of the sentence that has begun is no claim.
func (g *guard) pass(whole bool) error {
	for g.passed < len(g.sentence) {
		sentence, over := g.sentence, whole
		if end := ends.FindStringIndex(g.sentence); end != nil {
			sentence, over = g.sentence[:end[1]], true
		}
		if !g.harmless {
			verdict, verb, hold := judgeClaim(sentence, over, g.unable)
			if verdict == claimed && !g.has(verb) {
				return errClaim
			}
			if hold {
				return nil
			}
			g.harmless = verdict == harmless || verdict == claimed
		}
		text := sentence[g.passed:]
		g.said, g.passed = true, len(sentence)
		if over {
			g.sentence, g.passed, g.harmless = g.sentence[len(sentence):], 0, false
		}
		if err := g.emit(engine.Part{Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// has tells whether a tool did what a verb says.
func (g *guard) has(verb string) bool {
	for _, did := range g.did {
		n := 0
		for n < min(len(did), len(verb)) && did[n] == verb[n] {
			n++
		}
		if n >= min(3, len(did)) {
			return true
		}
	}
	return false
}

// between is what stands between what was said and what is said anew.
func (g *guard) between() string {
	switch {
	case g.passed > 0:
		return "… "
	case g.said:
		return " "
	}
	return ""
}
