package llama

import (
	"errors"
	"regexp"
	"strings"

	"parley/appliance/engine"
)

// refusal begins an answer anew that claimed to have done something: whatever
// follows it, it is no claim. Claims are known in English alone, so it is too.
const refusal = "I'm sorry, I can't"

// errClaim is what an answer ends with that says that something was done which no
// tool has done.
var errClaim = errors.New("llama: the answer claims what no tool has done")

// guard passes an answer on, sentence by sentence as they come, and ends it
// where it claims something. A sentence is held back only while its first words
// may become a claim; of most answers that is nothing.
type guard struct {
	emit   func(engine.Part) error
	held   string // of the sentence that has begun
	passes bool   // the rest of that sentence
	off    bool   // a tool has just answered: what it did may be said
	did    []string
	said   bool // something was emitted
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
var failure = regexp.MustCompile(`(?i)\b(fail(ed|ure)?|errors?|nothing|unable|cannot|could ?n[o']t|not (possible|available|found|made|done)|refused|denied)\b`)

// The words of a claim, in English: the tools' and the house's are in all
// languages, but what a small model claims it mostly claims in English.
const (
	claimLead = `^\W*(?:(?:ok|okay|sure|yes|great|certainly|absolutely|of course|alright|all right|perfect|no problem|thank you|thanks|done|hello|hi)\b[\s,.!:;–-]*)*`
	claimVerb = `(?:booked|reserved|ordered|arranged|cancell?ed|scheduled|rescheduled|set|sent|placed|added|removed|updated|changed|moved|switched|turned|locked|unlocked|opened|closed|started|stopped|played|called|confirmed|requested|forwarded|transferred|notified|informed|processed|completed|submitted|created|made|put|saved|refunded|returned|renewed|registered|emailed|written|done|searched|looked|checked)`
	willVerb  = `(?:book|reserve|order|arrange|cancel|schedule|reschedule|set|send|place|add|remove|update|change|move|switch|turn|lock|unlock|open|close|start|stop|play|call|confirm|request|forward|transfer|connect|notify|inform|process|submit|create|make|put|save|refund|renew|register|email|write|look|search|check|get|bring|have|let)`
)

var (
	claims = regexp.MustCompile(`(?i)` + claimLead + `(?:` +
		`i(?:['’]ve| have)? (?:just |already |now |also |gone ahead and )*(` + claimVerb + `)\b` +
		`|(?:i(?:['’]ll| will|['’]m going to| am going to)|let me) (?:now |just |also |go ahead and )*(` + willVerb + `)\b(?:[^?]*[.!]|[^?]*$)` +
		`|(?:your|the|it|that|this)\b[^.?!,]{0,60}?(?:['’]s| has| have)(?: now| just| already)* been (` + claimVerb + `)\b` +
		`|your\b[^.?!,]{0,60}? (?:is|are)(?: now| just| already)* (booked|reserved|ordered|arranged|cancell?ed|scheduled|confirmed|set|on (?:its|the|their) way)\b` +
		`|(done|booked|reserved|ordered|cancell?ed|confirmed|sent|added|scheduled)[.!,])`)
	ends = regexp.MustCompile(`[.!?…。！？][)"'”’]*\s`)
)

// Words of a sentence after which it is known that it claims nothing, as its
// beginning is.
const (
	knownAfter     = 4
	knownAfterYour = 9
)

// take takes a part of the answer.
func (g *guard) take(part engine.Part) error {
	if g.off || part.Call != nil {
		g.said = true
		return g.emit(part)
	}
	g.held += part.Text
	return g.pass(false)
}

// rest is the end of the answer.
func (g *guard) rest() error {
	if g.off {
		return nil
	}
	return g.pass(true)
}

// pass emits what of the held text is no claim.
func (g *guard) pass(whole bool) error {
	for g.held != "" {
		sentence, over := g.held, whole
		if end := ends.FindStringIndex(g.held); end != nil {
			sentence, over = g.held[:end[1]], true
		}
		if !g.passes {
			if g.isClaim(sentence) {
				return errClaim
			}
			if !over && undecided(sentence) {
				return nil
			}
		}
		g.said, g.passes = true, !over
		g.held = g.held[len(sentence):]
		if err := g.emit(engine.Part{Text: sentence}); err != nil {
			return err
		}
	}
	return nil
}

// isClaim tells whether a sentence, or its beginning, says that something was
// done, or is about to be, that no tool did.
func (g *guard) isClaim(sentence string) bool {
	m := claims.FindStringSubmatch(sentence)
	if m == nil {
		return false
	}
	verb := strings.ToLower(strings.Join(m[1:], ""))
	for _, did := range g.did {
		n := 0
		for n < min(len(did), len(verb)) && did[n] == verb[n] {
			n++
		}
		if n >= min(3, len(did)) {
			return false // it did that
		}
	}
	return true
}

// undecided tells whether the beginning of a sentence may become a claim.
func undecided(sentence string) bool {
	lead := leads.FindString(sentence)
	rest := strings.ToLower(strings.TrimLeft(sentence[len(lead):], " "))
	words := len(strings.Fields(rest))
	first, _, _ := strings.Cut(rest, " ")
	switch strings.ReplaceAll(first, "’", "'") {
	case "":
		return true
	case "your":
		return words <= knownAfterYour
	case "i", "i've", "i'll", "i'm", "let", "it", "it's", "that", "that's":
		return words <= knownAfter
	}
	return words == 1 && !strings.HasSuffix(sentence, " ") && len(first) < 5 // a word that has only begun
}

var leads = regexp.MustCompile(`(?i)` + claimLead)

// between is what stands between what was said and what is said anew.
func (g *guard) between() string {
	if g.said {
		return " "
	}
	return ""
}
