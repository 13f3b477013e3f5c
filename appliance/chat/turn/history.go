package turn

import (
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
)

// Role says what an Entry is.
type Role int

// What a history is made of.
const (
	User       Role = iota // the user's words
	Context                // goes with the user's words before it, for the model alone
	Assistant              // a sentence of the assistant's, as far as it was heard
	ToolCall               // a tool that the assistant called
	ToolResult             // what the tool answered
)

// Entry is one thing of a conversation, as the model is to see it.
type Entry struct {
	Role Role
	// ID names a sentence of the assistant's on the wire; a ToolCall and its
	// ToolResult have that of the call.
	ID string
	// Name is the tool that a ToolCall calls.
	Name string
	// Text is what was said or answered; of a ToolCall its arguments, a JSON
	// object.
	Text string
	// AfterTool says of what the assistant said that its sentence is not over: unless
	// more of the assistant's follows, it was interrupted there.
	GoesOn bool
	// Scores and Sounds are those of the Words that a User said; a history that
	// was resumed has none.
	Scores   *contract.EmotionScores
	Feelings string
	// Begin and End are when a User said it, counted from the beginning of the
	// chat; both are 0 in a history that was resumed.
	Begin, End time.Duration
}

// size is what an entry holds, in bytes.
func (e Entry) size() int {
	n := len(e.ID) + len(e.Name) + len(e.Text) + len(e.Feelings)
	if e.Scores != nil {
		n += 8 * contract.EmotionCount
	}
	return n
}

// Conversation is what the model goes on with.
type Conversation struct {
	Prompt string // its variables filled in
	// VariableBytes is how many bytes at the end of Prompt other chats do not have:
	// those from its first variable on.
	VariableBytes int
	History       []Entry
	// CustomPrompt is what of the Prompt a config or a client wrote; empty: it is the
	// box's own.
	CustomPrompt string
	// Identity is what is said to who asks the assistant what it is or who made it, where
	// its prompt is the box's own; empty: that is the model's to say.
	Identity string
	// CheckAnswers: answers are checked, see Rules. Factual: what somebody brought as Prompt
	// holds facts.
	CheckAnswers, Factual bool
	// Language is that in which the user speaks, BCP 47; empty: it is not known.
	Language string
	Tools    []Tool // that the model may call
}

// boxIdentity is the Self of a Conversation. It is said to questions in English.
const boxIdentity = "I'm the voice assistant on this box, and that is all I know about myself."

// CutMark ends what was interrupted. It is all there is of a sentence of which
// not a word was heard.
const CutMark = "…"

// maxHistory is how many bytes of a conversation are kept for the model, more
// than one reads that talks in real time; a client that writes as fast as it
// can, with a long context beside every message, must not fill the memory. When
// there is more, the older half is forgotten, and not a little with each
// message, since a model reads all anew of which the beginning has changed.
const maxHistory = 1 << 20

// conversation is what the model is to go on with, and more that is not in the
// history.
func (s State) conversation(more ...Entry) Conversation {
	rules := s.rules()
	prompt := s.withRules(rules)
	brought, self := "", ""
	switch {
	case s.settings.CustomPrompt:
		brought = s.prompt
	case s.settings.Rules.CheckAnswers:
		self = boxIdentity
	}
	return Conversation{
		Prompt:        prompt,
		VariableBytes: len(prompt) - s.constantLength(rules),
		CustomPrompt:  brought,
		Identity:      self,
		CheckAnswers:  s.settings.Rules.CheckAnswers,
		Factual:       s.settings.CustomPrompt && factual(s.prompt),
		Language:      s.settings.userLanguage,
		History:       append(slices.Clip(s.history), more...),
		Tools:         s.settings.Tools,
	}
}

// userEntries is what the user said, with the context that goes with it.
func (s State) userEntries(w Transcript) []Entry {
	said := []Entry{{
		Role:     User,
		Text:     w.Text,
		Scores:   w.Scores,
		Feelings: w.Feelings,
		Begin:    w.Begin,
		End:      w.End,
	}}
	if s.settings.Context != nil {
		said = append(said, Entry{Role: Context, Text: s.settings.Context.Text})
	}
	return said
}

// appendUser adds what the user said to the history.
func (s *State) appendUser(w Transcript) {
	s.history = append(recent(s.history), s.userEntries(w)...)
}

// recent is the newer half of a history that has become too long, and any other
// whole. It begins with something that was said: no context or result of what
// is forgotten.
func recent(history []Entry) []Entry {
	all := 0
	for _, e := range history {
		all += e.size()
	}
	if all <= maxHistory {
		return history
	}
	n := 0
	for ; n < len(history) && (all > maxHistory/2 || history[n].Role == Context ||
		history[n].Role == ToolResult); n++ {
		all -= history[n].size()
	}
	return history[n:]
}

// appendAssistant adds a sentence that is sent to the history, or to the beginning of it
// that is there.
func (s *State) appendAssistant(sentence Sentence) {
	e := Entry{
		Role:   Assistant,
		ID:     sentence.Row(),
		Text:   sentence.SoFar(),
		GoesOn: sentence.GoesOn,
	}
	if i := s.assistantEntry(e.ID); i >= 0 && sentence.First != "" {
		s.history = slices.Clone(s.history)
		s.history[i] = e
		return
	}
	s.history = append(s.history, e)
}

// assistantEntry is where a sentence of the assistant's stands in the history, -1: nowhere.
func (s State) assistantEntry(row string) int {
	for i, e := range slices.Backward(s.history) {
		if e.Role == Assistant && e.ID == row {
			return i
		}
	}
	return -1
}

// cutShort puts what was heard of a sentence in place of the whole, in the history
// and in the records: the two always agree.
func (s *State) cutShort(out *effects, p playingSentence, heard string) {
	line := p.sentence
	line.Text = strings.TrimSpace(heard)
	heard = line.SoFar()
	s.publish(out, CutShort{Sentence{
		ID:       line.Row(),
		Text:     heard + CutMark,
		Dictated: line.Dictated,
		Quick:    line.Quick,
	}})
	i := s.assistantEntry(line.Row())
	if i < 0 {
		return
	}
	s.history = slices.Clone(s.history)
	if heard == "" {
		s.history = slices.Delete(s.history, i, i+1)
		return
	}
	s.history[i].Text, s.history[i].GoesOn = heard+CutMark, true
}
