package turn

import (
	"slices"
	"strings"
	"time"
)

// AdviceLimit is how long plugins may take over what the user said, before the
// model is asked without them. At the pause in which an answer is prepared, the
// words are known some 200 ms into a silence of 800, and a small model needs most
// of the rest; 300 ms more are noticed, and not yet taken for a fault. A plugin that
// is late is not to blame: the box may be busy with others.
const AdviceLimit = 300 * time.Millisecond

type (
	// Consult asks plugins about what the user said, before the model is. Due and
	// Speculative are those of a Think: the words may be a guess.
	Consult struct {
		Turn        int
		Plugins     []string
		Speculative bool
		Due         time.Duration
		Conversation
	}
	// StopAdvice says that the plugins are not waited for any longer.
	StopAdvice struct{ Turn int }
	// Advised is what a plugin says to the user's words; nothing, where it failed.
	Advised struct {
		At
		Turn   int
		Advice Advice
	}
)

func (Consult) effect()    {}
func (StopAdvice) effect() {}

// Advice is what a plugin says to the user's words.
type Advice struct {
	Plugin  string
	Context string // for the model's eyes, beside the words
	Answer  string // in place of the model's
}

// consulting is what is known of the plugins that are asked for a reply.
type consulting struct {
	open  []string // have said nothing yet
	since time.Duration
	said  []Advice
	more  []Entry // what the model is to see beyond the history
}

func (c consulting) is() bool { return len(c.open) > 0 }

// consult asks the plugins of the chat, if it has any that want to be asked.
func (s *State) consult(out *effects, t Think, more []Entry) bool {
	if len(s.settings.TurnHooks) == 0 || t.Unasked || !endsWithUser(t.History) {
		return false
	}
	s.reply.consult = consulting{open: s.settings.TurnHooks, since: s.now, more: more}
	out.add(Consult{
		Turn:         t.Turn,
		Plugins:      s.settings.TurnHooks,
		Speculative:  t.Speculative,
		Due:          t.Due,
		Conversation: t.Conversation,
	})
	return true
}

// endsWithUser reports whether the user has said something last.
func endsWithUser(history []Entry) bool {
	for _, e := range slices.Backward(history) {
		if e.Role != Context {
			return e.Role == User
		}
	}
	return false
}

// advised: a plugin has said what it has to.
func (s *State) advised(out *effects, e Advised) {
	c := &s.reply.consult
	i := slices.Index(c.open, e.Advice.Plugin)
	if !s.at(e.Turn) || i < 0 {
		return
	}
	c.open = slices.Delete(slices.Clone(c.open), i, i+1)
	c.said = append(slices.Clip(c.said), e.Advice)
	if !c.is() {
		s.takeAdvice(out)
	}
}

// adviceDue is when the plugins have had their time.
func (s State) adviceDue() time.Duration {
	if !s.reply.consult.is() {
		return never
	}
	return s.reply.consult.since + AdviceLimit
}

// adviceIsLate: the model is asked with what the plugins have said by now.
func (s *State) adviceIsLate(out *effects) {
	out.add(StopAdvice{s.turn})
	s.takeAdvice(out)
}

// takeAdvice goes on to the answer: what a plugin says in place of the model, else
// the model's. What plugins have told the model stays beside the user's words.
func (s *State) takeAdvice(out *effects) {
	c := s.reply.consult
	s.reply.consult = consulting{}
	told, answer := c.result(s.settings.TurnHooks)
	more := c.more
	if told != "" {
		told := Entry{Role: Context, Text: told}
		if s.reply.phase == preparing {
			s.reply.told = []Entry{told}
			more = append(slices.Clip(more), told)
		} else if endsWithUser(s.history) {
			s.history = append(s.history, told)
		}
	}
	if answer != "" {
		out.add(Read{Turn: s.turn, Text: answer})
		return
	}
	s.ask(out, more)
}

// result is what was advised, in the order of the plugins: who is first in it
// answers, where several would.
func (c consulting) result(order []string) (told, answer string) {
	slices.SortStableFunc(c.said, func(a, b Advice) int {
		return slices.Index(order, a.Plugin) - slices.Index(order, b.Plugin)
	})
	var all []string
	for _, a := range c.said {
		if a.Context != "" {
			all = append(all, a.Context)
		}
		if answer == "" {
			answer = a.Answer
		}
	}
	return strings.Join(all, "\n"), answer
}
