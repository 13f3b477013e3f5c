package turn

import (
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
)

// Role is the kind of an Entry.
type Role int

// The kinds of entries.
const (
	User       Role = iota // the user's words
	Context                // the client's context for the user's words before it; only the model sees it
	Assistant              // a sentence of the assistant, as far as it was heard
	ToolCall               // a tool that the assistant called
	ToolResult             // the tool's answer
)

// Entry is one entry of a conversation's history, as the model sees it.
type Entry struct {
	Role Role
	// ID names a sentence of the assistant on the wire. A ToolCall and its ToolResult have the ID of the
	// call.
	ID string
	// Name is the tool that a ToolCall calls.
	Name string
	// Text is what was said or answered; for a ToolCall, its arguments as a JSON object.
	Text string
	// GoesOn means that the assistant's sentence is incomplete. If no further entry of the Assistant follows,
	// the sentence was interrupted there.
	GoesOn bool
	// AnswerID names the approved answer that the assistant's sentence is part of; empty: it is part of none.
	AnswerID string
	// Scores and Feelings are those of a User's Transcript. A resumed history has none.
	Scores   *contract.EmotionScores
	Feelings string
	// Begin and End are the times of the User's words, counted from the beginning of the chat. Both are 0 in a
	// resumed history.
	Begin, End time.Duration
}

// size returns the size of an entry in bytes.
func (e Entry) size() int {
	n := len(e.ID) + len(e.Name) + len(e.Text) + len(e.AnswerID) + len(e.Feelings)
	if e.Scores != nil {
		n += 8 * contract.EmotionCount
	}
	return n
}

// Conversation is what the model continues from.
type Conversation struct {
	Prompt string // with its variables filled in
	// VariableBytes is how many bytes at the end of Prompt differ from chat to chat: everything from its
	// first variable on.
	VariableBytes int
	History       []Entry
	// CustomPrompt is the part of Prompt that a config or a client wrote. It is empty for the box's own
	// prompt.
	CustomPrompt string
	// Identity is the answer to a user who asks the assistant what it is or who made it, for the box's own
	// prompt. If Identity is empty, the model answers.
	Identity string
	// CheckAnswers is Rules.CheckAnswers. Factual means that CustomPrompt states facts.
	CheckAnswers, Factual bool
	// Language is the language that the user speaks, BCP 47; empty if unknown.
	Language string
	Tools    []Tool // that the model may call
}

// boxIdentity is the Identity of a Conversation with the box's own prompt. It answers questions in English.
const boxIdentity = "I'm the voice assistant on this box, and that is all I know about myself."

// CutMark ends a sentence that was interrupted. Alone, it stands for a sentence of which no word was heard.
const CutMark = "…"

// maxHistory bounds the history that is held for the model, in bytes. A conversation in real time stays below
// it; a client that writes as fast as it can, with a long context in every message, must not fill the memory.
// Beyond it, the older half is dropped at once, not a little with each message, because a model must process
// the whole prompt again when its beginning has changed.
const maxHistory = 1 << 20

// conversation returns what the model continues from: the history and more.
func (s State) conversation(more ...Entry) Conversation {
	rules := s.rules()
	prompt := s.withRules(rules)
	custom, identity := "", ""
	switch {
	case s.settings.CustomPrompt:
		custom = s.prompt
	case s.settings.Rules.CheckAnswers:
		identity = boxIdentity
	}
	return Conversation{
		Prompt:        prompt,
		VariableBytes: len(prompt) - s.constantLength(rules),
		CustomPrompt:  custom,
		Identity:      identity,
		CheckAnswers:  s.settings.Rules.CheckAnswers,
		Factual:       s.settings.CustomPrompt && factual(s.prompt),
		Language:      s.settings.userLanguage,
		History:       append(slices.Clip(s.history), more...),
		Tools:         s.settings.Tools,
	}
}

// userEntries returns the entries for a transcript of the user: its text, and the context in force.
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

// appendUser adds the user's words to the history.
func (s *State) appendUser(w Transcript) {
	s.history = append(recent(s.history), s.userEntries(w)...)
}

// recent returns the newer half of a history that is too long, and any other history unchanged. The result
// does not begin with a context or a tool result whose entry was dropped.
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

// appendAssistant adds a sentence to the history, or extends the beginning of the sentence that is there.
func (s *State) appendAssistant(sentence Sentence) {
	e := Entry{
		Role:     Assistant,
		ID:       sentence.RowID(),
		Text:     sentence.SoFar(),
		GoesOn:   sentence.GoesOn,
		AnswerID: sentence.AnswerID,
	}
	if i := s.assistantEntry(e.ID); i >= 0 && sentence.First != "" {
		s.history = slices.Clone(s.history)
		s.history[i] = e
		return
	}
	s.history = append(s.history, e)
}

// assistantEntry returns the index of a sentence of the assistant in the history, or -1.
func (s State) assistantEntry(row string) int {
	for i, e := range slices.Backward(s.history) {
		if e.Role == Assistant && e.ID == row {
			return i
		}
	}
	return -1
}

// cutShort replaces a sentence by the part that was heard, in the history and in the records, so that the two
// always agree.
func (s *State) cutShort(out *effects, p playingSentence, heard string) {
	line := p.sentence
	line.Text = strings.TrimSpace(heard)
	heard = line.SoFar()
	s.publish(out, CutShort{Sentence{
		ID:       line.RowID(),
		Text:     heard + CutMark,
		Dictated: line.Dictated,
		Quick:    line.Quick,
		AnswerID: line.AnswerID,
	}})
	i := s.assistantEntry(line.RowID())
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
