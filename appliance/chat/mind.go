package chat

import (
	"context"
	"log/slog"
	"time"

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
	model engine.LanguageModel
	log   *slog.Logger
	clock func() time.Duration
	post  func(Event)
}

// reply thinks of the reply to t. It returns when all of it was posted.
func (m mind) reply(ctx context.Context, conversation string, t Think, s Settings) {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	cutter := text.Cutter{FirstClause: firstClauseWords}
	tell := func(sentences []string) {
		for _, line := range sentences {
			m.post(Thought{At(m.clock()), t.Turn, Sentence{ID: contract.NewID(), Text: line}})
		}
	}
	prompt := engine.Prompt{
		Conversation: conversation, Messages: t.Messages, MaxTokens: replyTokens,
		Temperature: s.Temperature, Priority: engine.Live,
	}
	if t.Speculative {
		prompt.Priority = engine.Speculative
	}
	usage, err := m.model.Generate(ctx, prompt, func(piece string) error {
		tell(cutter.Push(piece))
		if early := m.early(&cutter, t.Hurry); early != "" {
			tell([]string{early})
		}
		return context.Cause(ctx)
	})
	m.log.Debug("reply", "turn", t.Turn, "prompt_tokens", usage.PromptTokens, "cached_tokens", usage.CachedTokens,
		"reply_tokens", usage.ReplyTokens, "first_token_ms", usage.FirstToken.Milliseconds(), "err", err)
	if err != nil {
		if fault, ok := faultOf(err, contract.ProviderFailed); ok {
			m.post(Failed{At(m.clock()), t.Turn, fault})
		}
		return
	}
	if rest := cutter.Rest(); rest != "" {
		tell([]string{rest})
	}
	m.post(ThoughtEnded{At(m.clock()), t.Turn})
}

// early cuts the first sentence short when the user will be waiting for it, and
// shorter when he is.
func (m mind) early(c *text.Cutter, hurry time.Duration) string {
	switch now := m.clock(); {
	case now >= hurry+voiceAhead+patience:
		return c.Early(text.AtPhrase)
	case now >= hurry:
		return c.Early(text.AtClause)
	}
	return ""
}

// sentences cuts a text that the client wrote.
func sentences(s string) []Sentence {
	var out []Sentence
	for _, line := range text.Sentences(s) {
		out = append(out, Sentence{ID: contract.NewID(), Text: line})
	}
	return out
}

// DefaultPrompt makes a good spoken assistant when no config says otherwise.
// It is short, for every chat begins by reading it.
const DefaultPrompt = `You are a friendly voice assistant. Everything you write is spoken aloud, so answer in one or two short, natural sentences, without lists, markup, emoji or code. Answer from what you were told and from common knowledge. If you do not know, say so plainly. You cannot do things in the world: never say that you have done, booked, sent, called or changed anything. If you did not understand, ask one short question. The time now is {{now}}.`

// prompt is the system prompt with its variables filled in.
func (s Settings) prompt(now time.Time) string {
	p := s.SystemPrompt
	if p == "" {
		p = DefaultPrompt
	}
	return s.fill(p, now)
}
