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
	// ConsultPlugins asks plugins about what the user said, before the model is. Due and
	// Speculative are those of a Think: the words may be a guess.
	ConsultPlugins struct {
		Turn        int
		Plugins     []string
		Speculative bool
		Due         time.Duration
		Conversation
	}
	// StopPlugins says that the plugins are not waited for any longer.
	StopPlugins struct{ Turn int }
	// PluginAdvised is what a plugin says to the user's words; nothing, where it failed.
	PluginAdvised struct {
		At
		Turn   int
		Advice Advice
	}
)

func (ConsultPlugins) effect() {}
func (StopPlugins) effect()    {}

// Advice is what a plugin says to the user's words.
type Advice struct {
	Plugin  string
	Context string // for the model's eyes, beside the words
	Answer  string // in place of the model's
}

// consultation is what is known of the plugins that are asked for a reply.
type consultation struct {
	open         []string // have said nothing yet
	since        time.Duration
	advice       []Advice
	extraEntries []Entry // what the model is to see beyond the history
}

func (c consultation) pending() bool { return len(c.open) > 0 }

// consultation asks the plugins of the chat, if it has any that want to be asked.
func (s *State) consult(out *effects, t Think, more []Entry) bool {
	if len(s.settings.TurnHooks) == 0 || t.Unprompted || !endsWithUser(t.History) {
		return false
	}
	s.reply.consultation = consultation{open: s.settings.TurnHooks, since: s.now, extraEntries: more}
	out.add(ConsultPlugins{
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

// collectAdvice: a plugin has said what it has to.
func (s *State) collectAdvice(out *effects, e PluginAdvised) {
	c := &s.reply.consultation
	i := slices.Index(c.open, e.Advice.Plugin)
	if !s.isCurrent(e.Turn) || i < 0 {
		return
	}
	c.open = slices.Delete(slices.Clone(c.open), i, i+1)
	c.advice = append(slices.Clip(c.advice), e.Advice)
	if !c.pending() {
		s.takeAdvice(out)
	}
}

// adviceDue is when the plugins have had their time.
func (s State) adviceDue() time.Duration {
	if !s.reply.consultation.pending() {
		return never
	}
	return s.reply.consultation.since + AdviceLimit
}

// stopConsultation: the model is asked with what the plugins have said by now.
func (s *State) stopConsultation(out *effects) {
	out.add(StopPlugins{s.turn})
	s.takeAdvice(out)
}

// takeAdvice goes on to the answer: what a plugin says in place of the model, else
// the model's. What plugins have told the model stays beside the user's words.
func (s *State) takeAdvice(out *effects) {
	c := s.reply.consultation
	s.reply.consultation = consultation{}
	told, answer := c.merged(s.settings.TurnHooks)
	more := c.extraEntries
	if told != "" {
		told := Entry{Role: Context, Text: told}
		if s.reply.phase == preparing {
			s.reply.pluginContext = []Entry{told}
			more = append(slices.Clip(more), told)
		} else if endsWithUser(s.history) {
			s.history = append(s.history, told)
		}
	}
	if answer != "" {
		out.add(SayText{Turn: s.turn, Text: answer})
		return
	}
	s.askMind(out, more)
}

// merged is what was advised, in the order of the plugins: who is first in it
// answers, where several would.
func (c consultation) merged(order []string) (told, answer string) {
	slices.SortStableFunc(c.advice, func(a, b Advice) int {
		return slices.Index(order, a.Plugin) - slices.Index(order, b.Plugin)
	})
	var all []string
	for _, a := range c.advice {
		if a.Context != "" {
			all = append(all, a.Context)
		}
		if answer == "" {
			answer = a.Answer
		}
	}
	return strings.Join(all, "\n"), answer
}
