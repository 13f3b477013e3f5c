package turn

import (
	"slices"
	"strings"
	"time"
)

// AdviceLimit is how long plugins may take over what the user said before the model is asked without them. At
// the pause in which an answer is prepared, the transcript is known some 200 ms into a silence of 800, and a
// small model needs most of the rest; 300 ms more are noticed, but not yet taken for a fault. A late plugin
// may not be at fault: the box may be busy with others.
const AdviceLimit = 300 * time.Millisecond

type (
	// ConsultPlugins asks plugins about what the user said, before the model is asked. Due and Speculative
	// are those of a Think: the transcript may still change.
	ConsultPlugins struct {
		Turn        int
		Plugins     []string
		Speculative bool
		Due         time.Duration
		Conversation
	}
	// StopPlugins stops waiting for the plugins.
	StopPlugins struct{ Turn int }
	// PluginAdvised holds a plugin's advice; a plugin that failed gives empty advice.
	PluginAdvised struct {
		At
		Turn   int
		Advice Advice
	}
)

func (ConsultPlugins) effect() {}
func (StopPlugins) effect()    {}

// Advice is a plugin's response to the user's words.
type Advice struct {
	Plugin  string
	Context string // added to the words, for the model only
	Answer  string // replaces the model's answer
}

// consultation is the state of the plugins that are asked for a reply.
type consultation struct {
	open         []string // plugins that have not responded
	since        time.Duration
	advice       []Advice
	extraEntries []Entry // for the model, beyond the history
}

func (c consultation) pending() bool { return len(c.open) > 0 }

// consult asks the plugins of the chat, and reports whether there are any to ask.
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

// endsWithUser reports whether the user spoke last.
func endsWithUser(history []Entry) bool {
	for _, e := range slices.Backward(history) {
		if e.Role != Context {
			return e.Role == User
		}
	}
	return false
}

// collectAdvice takes the advice of one plugin.
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

// adviceDue returns when the time of the plugins is over.
func (s State) adviceDue() time.Duration {
	if !s.reply.consultation.pending() {
		return never
	}
	return s.reply.consultation.since + AdviceLimit
}

// stopConsultation asks the model with the advice that has come by now.
func (s *State) stopConsultation(out *effects) {
	out.add(StopPlugins{s.turn})
	s.takeAdvice(out)
}

// takeAdvice continues with the answer: a plugin's, if one gave an answer, otherwise the model's. Context
// from plugins is added to the user's words.
func (s *State) takeAdvice(out *effects) {
	c := s.reply.consultation
	s.reply.consultation = consultation{}
	context, answer := c.merged(s.settings.TurnHooks)
	more := c.extraEntries
	if context != "" {
		entry := Entry{Role: Context, Text: context}
		if s.reply.phase == preparing {
			s.reply.pluginContext = []Entry{entry}
			more = append(slices.Clip(more), entry)
		} else if endsWithUser(s.history) {
			s.history = append(s.history, entry)
		}
	}
	if answer != "" {
		out.add(SayText{Turn: s.turn, Text: answer})
		return
	}
	s.askMind(out, more)
}

// merged returns all contexts and one answer, in the order of the plugins: if several answer, the first one
// counts.
func (c consultation) merged(order []string) (context, answer string) {
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
