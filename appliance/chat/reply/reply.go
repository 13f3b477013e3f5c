// Package reply makes the assistant's part of a turn. The mind, a language model, thinks of it sentence by
// sentence; the mouth turns the sentences into sound.
package reply

import (
	"context"
	"log/slog"
	"time"

	"parley/appliance/answers"
	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
)

// queueLength is how many sentences of one reply may wait for the mouth. The state machine sends no more.
const queueLength = turn.MaxAtMouth

// Parts are what Replies needs.
type Parts struct {
	ChatID string
	Caller Caller // without the fields that change during the chat
	Model  engine.LanguageModel
	Voices VoiceLoader
	// Pronunciation returns how sentences are pronounced. It is called for each, because the account may
	// change it.
	Pronunciation func(context.Context) text.Options
	// Stored has the sound of fixed sentences; nil: it is synthesised each time.
	Stored     StoredSound
	Throughput *Throughput // of Model
	// Fallback holds the models that answer, one after the other, when Model fails.
	Fallback []Fallback
	// NoSpeculation asks Model only for answers to what the user has certainly said, because its server may
	// act on an answer in ways that cannot be undone.
	NoSpeculation bool
	Log           *slog.Logger
	Clock         func() time.Duration // since the chat began
	Post          func(turn.Event)     // takes sentences and sound as they are made
	// Tools runs the box's tools; nil if it has none.
	Tools Toolbox
	// LineTools runs the tools of the chat's line; nil if it has none.
	LineTools connection.Tools
	// Advisers are the plugins that a turn may consult; nil if the box has none.
	Advisers Advisers
	// Feelings scores a sentence of the assistant in well under a millisecond; nil: sentences are not scored.
	Feelings func(text string) contract.EmotionScores
	// Approved are the approved answers of the chat's config.
	Approved ApprovedAnswers
	// Go runs a function on a goroutine of the chat.
	Go func(func())
}

// Replies are the replies under way in one chat. Only one goroutine may use it; what takes time runs on
// others.
type Replies struct {
	Parts
	mind     mind
	mouth    mouth
	turns    map[int]*turnWork
	prefills prefills
}

// turnWork is the work for the reply of one turn.
type turnWork struct {
	ctx       context.Context
	cancel    context.CancelFunc
	stopMind  context.CancelFunc // stops the mind
	stopTools context.CancelFunc // stops the tool or the plugins that the box runs; nil if it runs none
	schedule  *schedule
	sentences chan speech
	closed    bool
}

// New returns the Replies of a chat.
func New(p Parts) *Replies {
	return &Replies{
		Parts: p,
		mind: mind{p.ChatID, p.Model, p.NoSpeculation, p.Throughput, p.Fallback, &outage{}, &toolChecks{}, p.Log,
			p.Clock, p.Post, p.Approved, p.Go},
		mouth: mouth{p.Voices, p.Pronunciation, p.Throughput, p.Clock, p.Post, p.Feelings, p.Stored},
		turns: map[int]*turnWork{},
	}
}

// Forget has the models forget the conversation, because it is over.
func (r *Replies) Forget() {
	r.Model.Forget(r.ChatID)
	for _, f := range r.Fallback {
		f.Model.Forget(r.ChatID)
	}
	answers.Forget(r.Approved.Judge, r.ChatID)
}

// Prefill prefills the conversation so far, after the prefill that is running. Of several that wait, only the
// newest runs, because it contains the others.
func (r *Replies) Prefill(ctx context.Context, c turn.Conversation, options ModelOptions) {
	if r.prefills.put(c, options) {
		r.Go(func() { r.prefillAll(ctx) })
	}
}

func (r *Replies) prefillAll(ctx context.Context) {
	for {
		ctx, cancel := context.WithCancel(ctx)
		c, more := r.prefills.take(cancel)
		if more {
			r.mind.prefill(ctx, c)
		}
		cancel()
		if !more {
			return
		}
	}
}

// ModelOptions are the settings in force that concern the model.
type ModelOptions struct {
	Temperature  float64
	Session, Key string // see engine.Prompt
	Quick        bool   // a quick answer may precede a late one
	// Fill fills the variables of a text.
	Fill func(string) string
}

// Think begins a turn with the model's reply, or continues it after a tool has answered or plugins were
// asked.
func (r *Replies) Think(ctx context.Context, t turn.Think, options ModelOptions) {
	if w := r.turns[t.Turn]; w != nil {
		if t.AfterTool {
			w.schedule.resume()
		}
		r.think(w, t, options)
		return
	}
	begins := time.Now()
	if t.Speculative {
		begins = begins.Add(t.Due - r.Clock())
	}
	w := r.begin(ctx, t.Turn, newSchedule(!t.Speculative, begins))
	r.think(w, t, options)
}

func (r *Replies) think(w *turnWork, t turn.Think, options ModelOptions) {
	ctx, cancel := context.WithCancel(w.ctx)
	w.stopMind = cancel
	r.Go(func() {
		defer cancel()
		r.mind.reply(ctx, t, options, w.schedule)
	})
}

// SayText begins or continues a turn with a known text.
func (r *Replies) SayText(ctx context.Context, t turn.SayText) {
	w := r.turns[t.Turn]
	if w == nil {
		w = r.begin(ctx, t.Turn, newSchedule(true, time.Now()))
	}
	r.Go(func() {
		for _, line := range Sentences(t.Text) {
			w.schedule.sentenceThought(line.Text)
			r.Post(turn.SentenceThought{At: turn.At(r.Clock()), Turn: t.Turn, Sentence: line})
		}
		r.Post(turn.ThinkingEnded{At: turn.At(r.Clock()), Turn: t.Turn})
	})
}

// StopThinking stops the mind of a turn. What it has thought is still spoken.
func (r *Replies) StopThinking(n int) {
	if w := r.turns[n]; w != nil && w.stopMind != nil {
		w.stopMind()
	}
}

// RunTool runs a tool of the box for a turn, and begins the turn if it is new. The tool's answer is posted.
func (r *Replies) RunTool(ctx context.Context, t turn.RunTool, customSessionID string) {
	w := r.turns[t.Turn]
	if w == nil {
		w = r.begin(ctx, t.Turn, newSchedule(true, time.Now()))
	}
	ctx, cancel := context.WithCancel(w.ctx)
	w.stopTools = cancel
	r.Go(func() {
		defer cancel()
		r.runTool(ctx, t.Call, ToolRun{r.caller(customSessionID), t.Tool, t.Call.Arguments, t.Conversation})
	})
}

func (r *Replies) runTool(ctx context.Context, c turn.Call, t ToolRun) {
	var result connection.ToolResult
	err := errUnknownTool
	switch {
	case t.Tool.OfLine && r.LineTools != nil:
		result, err = r.LineTools.RunTool(ctx, connection.ToolRun{
			Name:         contract.BuiltInTool(t.Tool.Name),
			Arguments:    t.Arguments,
			Destinations: t.Tool.Destinations,
		})
	case !t.Tool.OfLine && r.Tools != nil:
		result.Content, err = r.Tools.RunTool(ctx, t)
	}
	if ctx.Err() != nil {
		return // the answer is no longer wanted
	}
	a := turn.ToolAnswered{
		At:      turn.At(r.Clock()),
		CallID:  c.ID,
		Content: result.Content,
		OnBox:   true,
		Over:    result.Over,
	}
	if err != nil {
		a.Content, a.Failed, a.Error = "", true, err.Error()
		r.Log.Warn("tool failed", "tool", c.Name, "err", err)
	}
	r.Post(a)
}

// StopTools stops the tool, or the plugins, that the box runs for a turn.
func (r *Replies) StopTools(n int) {
	if w := r.turns[n]; w != nil && w.stopTools != nil {
		w.stopTools()
	}
}

// Speak has a sentence of a turn spoken in a voice and at a speed, and begins the turn if it is new.
func (r *Replies) Speak(ctx context.Context, s turn.Speak, voice string, speed float64) {
	w := r.turns[s.Turn]
	if w == nil {
		w = r.begin(ctx, s.Turn, newSchedule(true, time.Now()))
	}
	select {
	case w.sentences <- speech{s.Sentence, voice, speed}:
	default:
		r.Log.Warn("reply has more sentences than can wait for the voice", "turn", s.Turn, "limit", queueLength)
	}
}

// Promote makes a speculative turn real: the user waits for it.
func (r *Replies) Promote(n int) {
	if w := r.turns[n]; w != nil {
		w.schedule.promote()
	}
}

// Finish notes that a turn needs no more sentences.
func (r *Replies) Finish(n int) {
	if w := r.turns[n]; w != nil {
		w.close()
	}
}

// Cancel stops all work for a turn.
func (r *Replies) Cancel(n int) {
	if w := r.turns[n]; w != nil {
		delete(r.turns, n)
		w.cancel()
		w.close()
	}
}

// CancelAll stops all work.
func (r *Replies) CancelAll() {
	for n := range r.turns {
		r.Cancel(n)
	}
}

// begin begins the work for a turn. It cancels all older turns.
func (r *Replies) begin(ctx context.Context, n int, s *schedule) *turnWork {
	r.CancelAll()
	w := &turnWork{schedule: s, sentences: make(chan speech, queueLength)}
	w.ctx, w.cancel = context.WithCancel(ctx)
	r.turns[n] = w
	r.Go(func() { r.mouth.speak(w.ctx, n, w.sentences, w.schedule) })
	return w
}

// close stops the mouth after it has spoken what waits.
func (w *turnWork) close() {
	if !w.closed {
		w.closed = true
		close(w.sentences)
	}
}
