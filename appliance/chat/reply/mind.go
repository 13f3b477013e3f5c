package reply

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/markup"
	"parley/appliance/text"
)

const (
	// replyTokens is how long a reply may become: about 90 spoken words, half
	// a minute of speech.
	replyTokens = 120
	// replyTimeout bounds one reply: the two minutes that a server may take, which
	// says by itself that it took too long, and the 50 s of 120 tokens at the
	// slowest rate seen on two busy cores (5 a second), twice.
	replyTimeout = 130 * time.Second
	// restPatience is how long after the moment at which its sound is missed the rest of
	// a sentence that was cut is still waited for before it is cut again. Each cut is
	// another line on a screen, and a second of silence within a sentence is worse.
	restPatience = time.Second
)

// errEnough ends a reply of which nothing more is to be said.
var errEnough = errors.New("nothing more of the reply is to be said")

// mind thinks of replies: it streams the language model's answer and cuts it
// into sentences as it comes.
type mind struct {
	chatID        string
	model         engine.LanguageModel
	noSpeculation bool // the model is asked for no answer that may not be wanted
	throughput    *Throughput
	fallback      []Fallback // which answer where model fails, one after the other
	outage        *outage
	toolChecks    *toolChecks
	log           *slog.Logger
	clock         func() time.Duration
	post          func(turn.Event)
}

// prompt is what the model is asked to go on with.
func (m mind) prompt(c turn.Conversation, u *engine.Urgency) engine.Prompt {
	return engine.Prompt{
		Conversation: m.chatID,
		Messages:     messages(c),
		Tools:        tools(c.Tools),
		MaxTokens:    replyTokens,
		Urgency:      u,
	}
}

// Prefill has a model read the prompt of a conversation ahead, for every chat
// that will have it. A conversation that is there goes before, also where it only
// reads ahead itself. It returns when the prompt is read, or an error that says why
// it is not.
func Prefill(ctx context.Context, m engine.LanguageModel, c turn.Conversation) error {
	return m.Prefill(ctx, mind{}.prompt(c, engine.Batch.Urgency()))
}

// messages are a conversation as the model sees it: the sentences that the
// assistant said one after the other are one message, and a context belongs to
// the message before it.
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
			last.NoteBytes = 0 // they are not its end any more
		case turn.Assistant:
			if last.Role == engine.Assistant && len(last.Calls) == 0 {
				last.Content = strings.TrimSuffix(last.Content, turn.CutMark) + " " + e.Text // it was taken up again
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

// prefill has the model read the conversation so far ahead of the next turn. It
// is a hint: what cannot be read ahead is read then.
func (m mind) prefill(ctx context.Context, c prefillRequest) {
	p := m.prompt(c.Conversation, engine.Prefetch.Urgency())
	p.Session, p.Key = c.options.Session, c.options.Key
	if err := m.model.Prefill(ctx, p); err != nil && ctx.Err() == nil {
		m.log.Warn("cannot read the conversation ahead", "err", err)
	}
}

// reply thinks of the reply to t. It returns when all of it was posted: its
// sentences, and then its end or the tool that the model calls.
func (m mind) reply(ctx context.Context, t turn.Think, how ModelOptions, s *schedule) {
	if m.noSpeculation && !s.waitUntilReal(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	prompt := m.prompt(t.Conversation, s.mind)
	prompt.Temperature, prompt.Session, prompt.Key, prompt.NoToolCalls = how.Temperature, how.Session, how.Key, t.NoCall
	r := thinking{
		mind:          m,
		turn:          t.Turn,
		language:      t.Language,
		schedule:      s,
		began:         new(time.Duration),
		identity:      newIdentity(t.Conversation),
		refusal:       newRefusal(t.Conversation),
		wordsExpected: !m.noSpeculation && !t.Unprompted,
	}
	prompt.NoClaims = t.CheckAnswers
	prompt.FirstWordBias = withoutSigns(r.identity.firstWordBias(asked(t.Conversation), firstWordBias(t.Conversation)))
	if how.Quick && !t.AfterTool && !t.Unprompted {
		r.quick = m.quickAnswer(t, s)
		defer r.quick.end()
	}
	if line := r.identity.answer(lastAsked(t.Conversation)); line != "" {
		r.postSentence(line, false, turn.Sentence{})
		m.post(turn.ThinkingEnded{At: turn.At(m.clock()), Turn: t.Turn})
		return
	}
	call, err := r.generateWithFallback(ctx, prompt)
	misfit := ""
	if err == nil && call != nil {
		if misfit = m.toolChecks.misfit(t.Tools, *call); misfit != "" {
			m.log.Info("a call does not fit its tool; the model is told", "turn", t.Turn, "tool", call.Name, "why",
				misfit)
			prompt.Messages = append(prompt.Messages, retryMessages(*call, misfit, t.Tools)...)
			if call, err = r.generateWithFallback(ctx, prompt); err == nil && call != nil {
				misfit = m.toolChecks.misfit(t.Tools, *call)
			}
		}
	}
	if errors.Is(err, ErrSilent) {
		m.log.Warn("the language model wrote nothing that can be said, twice", "turn", t.Turn, "err", err)
		r.postSentence(silenceReplacement(t), false, turn.Sentence{})
		err = nil
	}
	switch now := turn.At(m.clock()); {
	case err != nil:
		m.post(turn.MindFailed{
			At:    now,
			Turn:  t.Turn,
			ID:    contract.NewID(),
			Fault: contract.Fault{Code: contract.ProviderFailed, Cause: err},
		})
	case call != nil:
		if misfit != "" {
			m.log.Warn("a call does not fit its tool, twice; its fallback answers", "turn", t.Turn, "tool", call.Name,
				"why", misfit)
		}
		m.post(turn.ToolRequested{At: now, Turn: t.Turn, Call: turn.Call{
			ID:        contract.NewID(),
			Name:      call.Name,
			Arguments: call.Arguments,
			Misfit:    misfit,
		}})
	default:
		m.post(turn.ThinkingEnded{At: now, Turn: t.Turn})
	}
}

// openThought is one reply that a mind is at.
type thinking struct {
	mind
	turn     int
	language string // in which the user speaks
	schedule *schedule
	began    *time.Duration // when the first word came; 0: none has
	identity *identity
	refusal  *refusal
	quick    *quick // nil: there is none to be given
	// wordsExpected: somebody waits for words. Who serves a model of his own may have it
	// be silent, and nobody has asked for a greeting.
	wordsExpected bool
}

// loopWords is of how many words a sentence is, at least, that ends an answer where it
// comes twice in a row: a small model goes on with it until its reply is full. People
// say "No, no.".
const loopWords = 4

// generateOnce has one model go on with a prompt. What it says is posted sentence by
// sentence, and returned, also where it fails; so is the tool that it calls, nil
// where it calls none.
func (t thinking) generateOnce(ctx context.Context, model engine.LanguageModel, pace *Throughput,
	prompt engine.Prompt) (call *engine.ToolCall, said string, err error) {
	var directions markup.Directions
	cutter := text.Cutter{Stars: directions.Stars, Language: t.language}
	var w writeTimer
	var all strings.Builder // of what came
	open := false           // what came may end in the middle of a word
	var begun turn.Sentence // the newest; where it GoesOn, its rest is to come
	var last []string       // the words of the sentence before
	tell := func(goesOn bool, sentences ...string) error {
		for i, line := range sentences {
			w.cut(pace)
			goesOn, over := goesOn && i == len(sentences)-1, false
			line = t.refusal.pass(line, goesOn)
			if mine, wrong := t.identity.pass(line, goesOn); wrong {
				line, goesOn, over = mine, false, true
			}
			words := text.Written(line)
			if looping := len(words) >= loopWords && slices.Equal(words, last) && !goesOn && !t.noSpeculation; looping {
				return errEnough
			}
			if last = words; goesOn {
				last = nil
			}
			if !mute(line) {
				said = strings.TrimSpace(said + " " + line)
				begun = t.postSentence(line, goesOn, begun)
			}
			if over {
				return errEnough
			}
		}
		return context.Cause(ctx)
	}
	usage, err := model.Generate(ctx, prompt, func(part engine.Part) error {
		if part.Session != "" {
			t.postSessionName(part.Session)
		}
		if part.Call != nil {
			call = part.Call
		}
		if part.Text == "" {
			return context.Cause(ctx)
		}
		if *t.began == 0 {
			*t.began = t.clock()
		}
		if w.came(part.Text) {
			pace.noteDelay(t.schedule.late())
		}
		all.WriteString(part.Text)
		open = !unicode.IsSpace(lastRune(part.Text))
		sentences := cutter.Push(part.Text)
		if err := tell(cutter.GoesOn, sentences...); err != nil {
			return err
		}
		if begin, ended := cutEarly(&cutter, pace, t.schedule, begun.GoesOn); begin != "" {
			return tell(!ended, begin)
		}
		return context.Cause(ctx)
	})
	t.log.Debug("reply", "turn", t.turn, "prompt_tokens", usage.PromptTokens, "cached_tokens", usage.CachedTokens,
		"reply_tokens", usage.ReplyTokens, "first_token_ms", usage.FirstToken.Milliseconds(),
		"steps", usage.Steps, "beside_tokens", usage.RouterTokens, "err", err)
	if errors.Is(err, errEnough) {
		return nil, said, nil
	}
	rest := cutter.Rest()
	if full := err == nil && call == nil && usage.ReplyTokens >= replyTokens; full &&
		said != "" && !begun.GoesOn && !endsSentence(rest) {
		rest = "" // there was no room for all of it: half a sentence says nothing
	}
	if err != nil && open {
		rest = withoutCutWord(rest)
	}
	if rest != "" && (err == nil || ctx.Err() == nil) {
		_ = tell(false, rest) // it is the last in any case
	}
	if err == nil && call == nil && said == "" && t.wordsExpected {
		err = silence{all.String()}
	}
	if err != nil {
		call = nil
	}
	return call, said, err
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
	t.quick.end()
	t.schedule.sentenceThought(line)
	s := turn.Sentence{ID: contract.NewID(), Text: line, GoesOn: goesOn}
	if before.GoesOn {
		s.First, s.Before = before.Row(), before.SoFar()
	}
	t.post(turn.SentenceThought{
		At:       turn.At(t.clock()),
		Turn:     t.turn,
		Sentence: s,
		Began:    *t.began,
	})
	return s
}

// postSessionName posts the name that the model's server gives the session, if it may be
// one.
func (m mind) postSessionName(session string) {
	if n := utf8.RuneCountInString(session); n > contract.MaxCustomSessionIDChars ||
		strings.ContainsFunc(session, unicode.IsControl) {
		m.log.Warn("the language model's server names the session by what may be no name", "characters", n, "limit",
			contract.MaxCustomSessionIDChars)
		return
	}
	m.post(turn.SessionNamed{At: turn.At(m.clock()), Session: session})
}

// cutEarly cuts a sentence short where its sound would come too late if it waited for one
// word more; goesOn says that it is the rest of one that was cut. A sentence that seems
// to be over is not kept back until that is sure.
func cutEarly(c *text.Cutter, p *Throughput, s *schedule, goesOn bool) (begin string, ended bool) {
	switch late := s.lateBy(p.lead()); {
	case late <= 0:
		return "", false
	case goesOn && late <= restPatience:
		return c.Early(0, 0)
	}
	return c.Early(p.minWords(clauseBreath), p.minWords(0))
}

// Sentences cuts a text that the assistant is to say as it stands. What has
// nothing to be said is left out.
func Sentences(s string) []turn.Sentence {
	var out []turn.Sentence
	for _, line := range text.Sentences(s) {
		if !mute(line) {
			out = append(out, turn.Sentence{ID: contract.NewID(), Text: line})
		}
	}
	return out
}
