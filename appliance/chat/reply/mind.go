package reply

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

const (
	// replyTokens is the longest reply: about 90 spoken words, half a minute of speech.
	replyTokens = 120
	// replyTimeout bounds one reply. It allows for the two minutes that a server may take, which then reports
	// its own timeout, or for 50 s, twice the time of 120 tokens at the slowest rate seen on two busy cores
	// (5 a second).
	replyTimeout = 130 * time.Second
	// restPatience is how long the rest of a sentence that was cut may be late before it is cut again. Each
	// cut is another line on a screen, but a second of silence within a sentence is worse.
	restPatience = time.Second
)

// errEnough ends a reply of which nothing more is said.
var errEnough = errors.New("nothing more of the reply is to be said")

// mind thinks of replies: it streams the language model's answer and cuts it into sentences as it comes.
type mind struct {
	chatID        string
	model         engine.LanguageModel
	noSpeculation bool // the model is not asked for answers that may not be wanted
	throughput    *Throughput
	fallback      []Fallback // models that answer when model fails, in order
	outage        *outage
	toolChecks    *toolChecks
	log           *slog.Logger
	clock         func() time.Duration
	post          func(turn.Event)
	approved      ApprovedAnswers
	spawn         func(func()) // runs a function on a goroutine of the chat
}

// prompt returns the prompt that the model continues.
func (m mind) prompt(c turn.Conversation, u *engine.Urgency) engine.Prompt {
	return engine.Prompt{
		Conversation: m.chatID,
		Messages:     messages(c),
		Tools:        tools(c.Tools),
		MaxTokens:    replyTokens,
		Urgency:      u,
	}
}

// Prefill prefills the prompt of a conversation, for every later chat with that prompt. It yields to all running
// conversations, even to their prefills, and returns when the model has processed the prompt.
func Prefill(ctx context.Context, m engine.LanguageModel, c turn.Conversation) error {
	return m.Prefill(ctx, mind{}.prompt(c, engine.Batch.Urgency()))
}

// messages returns a conversation as the model sees it. Consecutive sentences of the assistant are one
// message, and a context belongs to the message before it.
func messages(c turn.Conversation) []engine.Message {
	out := make([]engine.Message, 0, 1+len(c.History))
	out = append(out, engine.Message{Role: engine.System, Content: c.Prompt, VolatileBytes: c.VariableBytes})
	for _, e := range c.History {
		last := &out[len(out)-1]
		switch e.Role {
		case turn.User:
			out = append(out, userMessage(e))
		case turn.Context:
			last.Content += " {Context: " + e.Text + "}"
			last.NoteBytes = 0 // the notes are no longer at its end
		case turn.Assistant:
			if last.Role == engine.Assistant && len(last.Calls) == 0 {
				// it was resumed after an interruption
				last.Content = strings.TrimSuffix(last.Content, turn.CutMark) + " " + e.Text
				last.Interrupted = e.GoesOn
				continue
			}
			out = append(out, engine.Message{Role: engine.Assistant, Content: e.Text, Interrupted: e.GoesOn})
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
	m := engine.Message{
		Role:    engine.User,
		Content: e.Text,
		Begin:   e.Begin,
		End:     e.End,
	}
	if e.Feelings != "" {
		m.Content += " (sounds: " + e.Feelings + ")"
	}
	m.NoteBytes = len(m.Content) - len(e.Text)
	if e.Scores != nil {
		m.Scores = e.Scores
	}
	return m
}

// prefill prefills the conversation before the next turn. It is a hint: if it fails, the next turn processes
// the whole prompt. A model that neither speaks nor calls tools needs none.
func (m mind) prefill(ctx context.Context, c prefillRequest) {
	if m.approved.mode() == contract.AnswersOnly && len(c.Tools) == 0 {
		return
	}
	p := m.prompt(c.Conversation, engine.Prefetch.Urgency())
	p.Session, p.Key = c.options.Session, c.options.Key
	if err := m.model.Prefill(ctx, p); err != nil && ctx.Err() == nil {
		m.log.Warn("prefilling a conversation failed", "err", err)
	}
}

// reply thinks of the reply to t. It returns when everything was posted: the sentences, and then the end or a
// tool call.
func (m mind) reply(ctx context.Context, t turn.Think, options ModelOptions, s *schedule) {
	if m.noSpeculation && m.approved.Answers == nil && !s.waitUntilReal(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	prompt := m.prompt(t.Conversation, s.mind)
	prompt.Temperature, prompt.Session, prompt.Key, prompt.NoToolCalls = options.Temperature, options.Session,
		options.Key, t.NoCall
	r := thinking{
		mind:          m,
		turn:          t.Turn,
		language:      t.Language,
		schedule:      s,
		began:         new(time.Duration),
		identity:      newIdentity(t.Conversation),
		refusal:       newRefusal(t.Conversation),
		wordsExpected: !m.noSpeculation && !t.Unprompted,
		fill:          options.Fill,
		unanswered:    new(string),
	}
	prompt.NoClaims = t.CheckAnswers
	prompt.FirstWordBias = withoutSigns(r.identity.firstWordBias(asked(t.Conversation), firstWordBias(t.Conversation)))
	if options.Quick && m.approved.mode() != contract.AnswersOnly && !t.AfterTool && !t.Unprompted {
		r.quick = m.quickAnswer(t, s)
		defer r.quick.end()
	}
	if m.approved.Answers != nil {
		r.replyApproved(ctx, prompt, t)
		return
	}
	r.replyFromModel(ctx, prompt, t)
}

// replyFromModel posts what the model says or which tool it calls.
func (t thinking) replyFromModel(ctx context.Context, prompt engine.Prompt, c turn.Think) {
	if t.noSpeculation && !t.schedule.waitUntilReal(ctx) {
		return
	}
	if line := t.identity.answer(lastAsked(c.Conversation)); line != "" {
		if t.held.wait(ctx) == nil {
			t.postSentence(line, false, turn.Sentence{})
			t.postEnd(nil, "", nil)
		}
		return
	}
	call, misfit, err := t.generateCall(ctx, prompt, c.Tools)
	if t.held.wait(ctx) != nil {
		return
	}
	if errors.Is(err, ErrSilent) {
		t.log.Warn("language model wrote nothing that can be said, twice", "turn", t.turn, "err", err)
		t.postSentence(silenceReplacement(c), false, turn.Sentence{})
		err = nil
	}
	t.postEnd(call, misfit, err)
}

// generateCall generates a reply. If the model calls a tool in a way that does not fit, it is asked once more;
// misfit says why the second call does not fit.
func (t thinking) generateCall(ctx context.Context, prompt engine.Prompt, tools []turn.Tool) (call *engine.ToolCall,
	misfit string, err error) {
	call, err = t.generateWithFallback(ctx, prompt)
	if err != nil || call == nil {
		return call, "", err
	}
	if misfit = t.toolChecks.misfit(tools, *call); misfit == "" {
		return call, "", nil
	}
	t.log.Info("tool call does not fit; asking the model again", "turn", t.turn, "tool", call.Name, "why", misfit)
	prompt.Messages = append(prompt.Messages, retryMessages(*call, misfit, tools)...)
	if call, err = t.generateWithFallback(ctx, prompt); err != nil || call == nil {
		return call, "", err
	}
	if misfit = t.toolChecks.misfit(tools, *call); misfit != "" {
		t.log.Warn("tool call does not fit, twice; using the fallback", "turn", t.turn, "tool", call.Name, "why",
			misfit)
	}
	return call, misfit, nil
}

// postEnd posts how the reply ended: with a failure, a tool call, or the last sentence.
func (t thinking) postEnd(call *engine.ToolCall, misfit string, err error) {
	switch now := turn.At(t.clock()); {
	case err != nil:
		t.post(turn.MindFailed{
			At:    now,
			Turn:  t.turn,
			ID:    contract.NewID(),
			Fault: contract.Fault{Code: contract.ProviderFailed, Cause: err},
		})
	case call != nil:
		t.post(turn.ToolRequested{At: now, Turn: t.turn, Call: turn.Call{
			ID:        contract.NewID(),
			Name:      call.Name,
			Arguments: call.Arguments,
			Misfit:    misfit,
		}})
	default:
		t.post(turn.ThinkingEnded{At: now, Turn: t.turn})
	}
}

// thinking is one reply of a mind.
type thinking struct {
	mind
	turn     int
	language string // that the user speaks
	schedule *schedule
	began    *time.Duration // when the first word came; 0: none has
	identity *identity
	refusal  *refusal
	quick    *quick // nil: no quick answer is given
	// wordsExpected means that the user waits for words. A custom model may choose to be silent, and no one
	// has asked for a greeting.
	wordsExpected bool
	held          *heldReply // nil: the model's reply is wanted
	callOnly      bool       // the model may call a tool, and its words are not said
	fill          func(string) string
	// unanswered is what the user said if no approved answer fits and that was not posted yet.
	unanswered *string
}

// endsSentence reports whether a text ends with a mark that ends a sentence.
func endsSentence(s string) bool {
	return unicode.Is(unicode.Sentence_Terminal, lastRune(strings.TrimRight(s, " \n\"')”’")))
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// postSentence posts a sentence of the reply, or the rest of the one before, and returns it.
func (t thinking) postSentence(line string, goesOn bool, before turn.Sentence) turn.Sentence {
	s := turn.Sentence{ID: contract.NewID(), Text: line, GoesOn: goesOn}
	if before.GoesOn {
		s.First, s.Before = before.RowID(), before.SoFar()
	}
	t.postThought(s)
	return s
}

// postThought posts a sentence.
func (t thinking) postThought(s turn.Sentence) {
	t.quick.end()
	t.schedule.sentenceThought(s.Text)
	t.post(turn.SentenceThought{
		At:         turn.At(t.clock()),
		Turn:       t.turn,
		Sentence:   s,
		Began:      *t.began,
		Unanswered: *t.unanswered,
	})
	*t.unanswered = ""
}

// postSessionName posts the name that the model's server gives the session, if it is a valid name.
func (m mind) postSessionName(session string) {
	if n := utf8.RuneCountInString(session); n > contract.MaxCustomSessionIDChars ||
		strings.ContainsFunc(session, unicode.IsControl) {
		m.log.Warn("the language model's server gave the session an invalid name", "characters", n, "limit",
			contract.MaxCustomSessionIDChars)
		return
	}
	m.post(turn.SessionNamed{At: turn.At(m.clock()), Session: session})
}

// cutEarly cuts a sentence if its sound would be late when it waited for one more word. goesOn means that the
// sentence is the rest of one that was cut. A sentence that seems to be complete is not held back until that
// is certain.
func cutEarly(c *text.Cutter, p *Throughput, s *schedule, goesOn bool) (begin string, ended bool) {
	switch late := s.lateBy(p.lead()); {
	case late <= 0:
		return "", false
	case goesOn && late <= restPatience:
		return c.Early(0, 0)
	}
	return c.Early(p.minWords(clauseBreath), p.minWords(0))
}

// Sentences cuts a text that the assistant says as it stands into sentences. Sentences without letters and
// numbers are left out.
func Sentences(s string) []turn.Sentence {
	var out []turn.Sentence
	for _, line := range text.Sentences(s) {
		if !mute(line) {
			out = append(out, turn.Sentence{ID: contract.NewID(), Text: line})
		}
	}
	return out
}
