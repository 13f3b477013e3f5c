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
	// patience is how long after the moment at which its sound is missed a
	// sentence is still waited for before it is cut in the middle of a clause,
	// which is heard.
	patience = 50 * time.Millisecond
	// impatience is the same for a cut between any two words, which a hearer may
	// notice; he notices a silence of that length too.
	impatience = 200 * time.Millisecond
)

// mind thinks of replies: it streams the language model's answer and cuts it
// into sentences as it comes.
type mind struct {
	chatID  string
	model   engine.LanguageModel
	certain bool // the model is asked for no answer that may not be wanted
	pace    *Pace
	log     *slog.Logger
	clock   func() time.Duration
	post    func(turn.Event)
}

// prompt is what the model is asked to go on with.
func (m mind) prompt(c turn.Conversation, u *engine.Urgency) engine.Prompt {
	return engine.Prompt{Conversation: m.chatID, Messages: messages(c), Tools: tools(c.Tools), MaxTokens: replyTokens, Urgency: u}
}

// Prefill has a model read the prompt of a conversation ahead, for every chat
// that will have it. It returns when the prompt is read, or an error that says
// why it is not.
func Prefill(ctx context.Context, m engine.LanguageModel, c turn.Conversation) error {
	return m.Prefill(ctx, mind{}.prompt(c, engine.Ahead.Urgency()))
}

// messages are a conversation as the model sees it: the sentences that the
// assistant said one after the other are one message, and a context belongs to
// the message before it.
func messages(c turn.Conversation) []engine.Message {
	out := make([]engine.Message, 0, 1+len(c.History))
	out = append(out, engine.Message{Role: engine.System, Content: c.Prompt, Changing: c.Changing})
	for _, e := range c.History {
		last := &out[len(out)-1]
		switch e.Role {
		case turn.User:
			out = append(out, userMessage(e))
		case turn.Context:
			last.Content += " {Context: " + e.Text + "}"
		case turn.Assistant:
			if last.Role == engine.Assistant && len(last.Calls) == 0 {
				last.Content += " " + e.Text
				continue
			}
			out = append(out, engine.Message{Role: engine.Assistant, Content: e.Text})
		case turn.ToolCall:
			if last.Role != engine.Assistant {
				out = append(out, engine.Message{Role: engine.Assistant})
				last = &out[len(out)-1]
			}
			last.Calls = append(last.Calls, engine.ToolCall{ID: e.ID, Name: e.Name, Arguments: e.Text})
		case turn.ToolResult:
			out = append(out, engine.Message{Role: engine.ToolRole, CallID: e.ID, Content: e.Text})
		}
	}
	return out
}

func userMessage(e turn.Entry) engine.Message {
	m := engine.Message{Role: engine.User, Content: e.Text, Begin: e.Begin, End: e.End}
	if e.Scores != nil {
		m.Scores = e.Scores
	}
	return m
}

// prefill has the model read the conversation so far ahead of the next turn. It
// is a hint: what cannot be read ahead is read then.
func (m mind) prefill(ctx context.Context, c turn.Conversation) {
	if err := m.model.Prefill(ctx, m.prompt(c, engine.Ahead.Urgency())); err != nil && ctx.Err() == nil {
		m.log.Warn("cannot read the conversation ahead", "err", err)
	}
}

// reply thinks of the reply to t. It returns when all of it was posted: its
// sentences, and then its end or the tool that the model calls.
func (m mind) reply(ctx context.Context, t turn.Think, how Manner, s *schedule) {
	if m.certain && !s.awaited(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	prompt := m.prompt(t.Conversation, s.mind)
	prompt.Temperature, prompt.Session, prompt.Key, prompt.NoCall = how.Temperature, how.Session, how.Key, t.NoCall
	call, err := m.generate(ctx, t.Turn, prompt, s)
	misfit := ""
	if err == nil && call != nil {
		if misfit = unfit(t.Tools, *call); misfit != "" {
			m.log.Info("a call does not fit its tool; the model is told", "turn", t.Turn, "tool", call.Name, "why", misfit)
			prompt.Messages = append(prompt.Messages, again(*call, misfit)...)
			if call, err = m.generate(ctx, t.Turn, prompt, s); err == nil && call != nil {
				misfit = unfit(t.Tools, *call)
			}
		}
	}
	switch now := turn.At(m.clock()); {
	case err != nil:
		m.post(turn.Failed{At: now, Turn: t.Turn, Fault: contract.Fault{Code: contract.ProviderFailed, Cause: err}})
	case call != nil:
		if misfit != "" {
			m.log.Warn("a call does not fit its tool, twice; its fallback answers", "turn", t.Turn, "tool", call.Name, "why", misfit)
		}
		m.post(turn.Called{At: now, Turn: t.Turn, Call: turn.Call{ID: contract.NewID(), Name: call.Name, Arguments: call.Arguments, Misfit: misfit}})
	default:
		m.post(turn.ThoughtEnded{At: now, Turn: t.Turn})
	}
}

// generate has the model go on with a prompt. What it says is posted sentence by
// sentence; the tool that it calls is returned, nil where it calls none.
func (m mind) generate(ctx context.Context, n int, prompt engine.Prompt, s *schedule) (call *engine.ToolCall, err error) {
	var cutter text.Cutter
	var w writing
	tell := func(goesOn bool, sentences ...string) {
		for _, line := range sentences {
			w.cut(m.pace)
			s.thought(line)
			m.post(turn.Thought{At: turn.At(m.clock()), Turn: n, Sentence: turn.Sentence{ID: contract.NewID(), Text: line, GoesOn: goesOn}})
		}
	}
	usage, err := m.model.Generate(ctx, prompt, func(part engine.Part) error {
		if part.Call != nil {
			call = part.Call
			return context.Cause(ctx)
		}
		w.came(part.Text)
		tell(false, cutter.Push(part.Text)...)
		if early, ended := m.early(&cutter, s); early != "" {
			tell(!ended, early)
		}
		return context.Cause(ctx)
	})
	m.log.Debug("reply", "turn", n, "prompt_tokens", usage.PromptTokens, "cached_tokens", usage.CachedTokens,
		"reply_tokens", usage.ReplyTokens, "first_token_ms", usage.FirstToken.Milliseconds(), "err", err)
	if err != nil {
		return nil, err
	}
	if rest := cutter.Rest(); rest != "" {
		tell(false, rest)
	}
	return call, nil
}

// early cuts a sentence short where all of it would come too late: at a clause
// when its sound would just be missed, at a phrase when it is, and behind any
// word when it is missed for long. A sentence that seems to be over is not kept
// back until that is sure.
func (m mind) early(c *text.Cutter, s *schedule) (begin string, ended bool) {
	haste := text.AtClause
	switch late := s.lateBy(m.pace.lead()); {
	case late <= 0:
		return "", false
	case late > impatience:
		haste = text.AtWord
	case late > patience:
		haste = text.AtPhrase
	}
	return c.Early(haste, m.pace.least(clauseBreath), m.pace.least(0))
}

// Sentences cuts a text that the assistant is to say as it stands.
func Sentences(s string) []turn.Sentence {
	var out []turn.Sentence
	for _, line := range text.Sentences(s) {
		out = append(out, turn.Sentence{ID: contract.NewID(), Text: line})
	}
	return out
}
