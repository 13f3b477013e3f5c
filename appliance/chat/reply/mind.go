package reply

import (
	"context"
	"log/slog"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

const (
	// replyTokens is how long a reply may become: about 90 spoken words, half
	// a minute of speech.
	replyTokens = 120
	// replyTimeout bounds one reply: 120 tokens at the slowest rate seen on
	// two busy cores (5 a second), and as much again.
	replyTimeout = 60 * time.Second
	// voiceAhead is what the voice needs for a first sentence, at the slower of
	// two machines tried, with the step of the model that it has to wait for.
	voiceAhead = 200 * time.Millisecond
	// patience is how long after the end of the turn a sentence is still waited
	// for before it is cut in the middle of a clause, which is heard.
	patience = 50 * time.Millisecond
	// firstClauseWords is the length from which the first sentence may be cut
	// at a clause: eight words take the default model a third of a second, and
	// play three.
	firstClauseWords = 8
)

// mind thinks of replies: it streams the language model's answer and cuts it
// into sentences as it comes.
type mind struct {
	chatID string
	model  engine.LanguageModel
	log    *slog.Logger
	clock  func() time.Duration
	post   func(turn.Event)
}

// prompt is what the model is asked to go on with.
func (m mind) prompt(c turn.Conversation, u *engine.Urgency) engine.Prompt {
	return engine.Prompt{Conversation: m.chatID, Messages: messages(c), MaxTokens: replyTokens, Urgency: u}
}

// Prefill has a model read a conversation before there is a chat that has it.
func Prefill(ctx context.Context, m engine.LanguageModel, c turn.Conversation) error {
	return m.Prefill(ctx, mind{chatID: "ahead"}.prompt(c, nil))
}

// messages are a conversation as the model sees it.
func messages(c turn.Conversation) []engine.Message {
	out := make([]engine.Message, 0, 1+len(c.History))
	out = append(out, engine.Message{Role: engine.System, Content: c.Prompt})
	for _, e := range c.History {
		m := engine.Message{Role: engine.User, Content: e.Text}
		if e.Role == turn.Assistant {
			m.Role = engine.Assistant
		}
		if e.Context != "" {
			m.Content += " {Context: " + e.Context + "}"
		}
		out = append(out, m)
	}
	return out
}

// prefill has the model read the conversation so far ahead of the next turn. It
// is a hint: what cannot be read ahead is read then.
func (m mind) prefill(ctx context.Context, c turn.Conversation) {
	if err := m.model.Prefill(ctx, m.prompt(c, engine.Ahead.Urgency())); err != nil && ctx.Err() == nil {
		m.log.Warn("cannot read the conversation ahead", "err", err)
	}
}

// reply thinks of the reply to t. It returns when all of it was posted.
func (m mind) reply(ctx context.Context, t turn.Think, temperature float64, s *schedule) {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	cutter := text.Cutter{FirstClause: firstClauseWords}
	tell := func(sentences []string) {
		for _, line := range sentences {
			s.thought(line)
			m.post(turn.Thought{At: turn.At(m.clock()), Turn: t.Turn, Sentence: turn.Sentence{ID: contract.NewID(), Text: line}})
		}
	}
	prompt := m.prompt(t.Conversation, s.mind)
	prompt.Temperature = temperature
	usage, err := m.model.Generate(ctx, prompt, func(part engine.Part) error {
		tell(cutter.Push(part.Text))
		if early := m.early(&cutter, t.Due); early != "" {
			tell([]string{early})
		}
		return context.Cause(ctx)
	})
	m.log.Debug("reply", "turn", t.Turn, "prompt_tokens", usage.PromptTokens, "cached_tokens", usage.CachedTokens,
		"reply_tokens", usage.ReplyTokens, "first_token_ms", usage.FirstToken.Milliseconds(), "err", err)
	if err != nil {
		m.post(turn.Failed{At: turn.At(m.clock()), Turn: t.Turn, Fault: contract.Fault{Code: contract.ProviderFailed, Cause: err}})
		return
	}
	if rest := cutter.Rest(); rest != "" {
		tell([]string{rest})
	}
	m.post(turn.ThoughtEnded{At: turn.At(m.clock()), Turn: t.Turn})
}

// early cuts the first sentence short when the user will be waiting for it, and
// shorter when he is.
func (m mind) early(c *text.Cutter, due time.Duration) string {
	switch now := m.clock(); {
	case now >= due+patience:
		return c.Early(text.AtPhrase)
	case now >= due-voiceAhead:
		return c.Early(text.AtClause)
	}
	return ""
}

// Sentences cuts a text that the assistant is to say as it stands.
func Sentences(s string) []turn.Sentence {
	var out []turn.Sentence
	for _, line := range text.Sentences(s) {
		out = append(out, turn.Sentence{ID: contract.NewID(), Text: line})
	}
	return out
}
