// Package reply makes the assistant's part of a turn: the mind, which is the
// language model, thinks of it sentence by sentence; the mouth makes sound of
// the sentences.
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

// queueLength is how many sentences of one reply may wait for the mouth; the
// conversation hands on no more.
const queueLength = turn.MaxAtMouth

// Parts are what replies are made of.
type Parts struct {
	ChatID string
	Caller Caller // without what changes in the chat
	Model  engine.LanguageModel
	Voices VoiceLoader
	// Pronunciation says how sentences are read aloud, asked for each: the account may
	// change it.
	Pronunciation func(context.Context) text.Options
	Throughput    *Throughput // of Model
	// Fallback answer where Model fails, one after the other.
	Fallback []Fallback
	// NoSpeculation has Model asked only for answers to what the user has said for
	// certain, and not while the user may go on: who serves it may do things for
	// an answer that cannot be undone.
	NoSpeculation bool
	Log           *slog.Logger
	Clock         func() time.Duration // since the chat began
	Post          func(turn.Event)     // takes sentences and sound as they are made
	// Tools are those of the box; nil where it has none.
	Tools Toolbox
	// Advisers are asked where a turn is to; nil where the box has none.
	Advisers Advisers
	// Feelings scores the feelings in a sentence of the assistant's, which takes well
	// under a millisecond; a nil func: nobody is to.
	Feelings func(text string) contract.EmotionScores
	// Go runs a function on a goroutine of the chat.
	Go func(func())
}

// Replies are those under way in one chat. One goroutine uses them; what takes
// time happens on others.
type Replies struct {
	Parts
	mind     mind
	mouth    mouth
	turns    map[int]*turnWork
	prefills prefills
}

// turnWork is what is done for one reply.
type turnWork struct {
	ctx       context.Context
	cancel    context.CancelFunc
	stopMind  context.CancelFunc // gives up what the mind is at
	stopTools context.CancelFunc // gives up the tool or the plugins that the box runs; nil: it runs none
	schedule  *schedule
	sentences chan speech
	closed    bool
}

// New returns the replies of a chat, of which there are none yet.
func New(p Parts) *Replies {
	return &Replies{
		Parts: p,
		mind: mind{p.ChatID, p.Model, p.NoSpeculation, p.Throughput, p.Fallback, &outage{}, &toolChecks{}, p.Log,
			p.Clock,
			p.Post},
		mouth: mouth{p.Voices, p.Pronunciation, p.Throughput, p.Clock, p.Post, p.Feelings},
		turns: map[int]*turnWork{},
	}
}

// Forget has the models forget the conversation, which is over.
func (r *Replies) Forget() {
	r.Model.Forget(r.ChatID)
	for _, f := range r.Fallback {
		f.Model.Forget(r.ChatID)
	}
}

// Prefill has the model read the conversation so far, after what it reads
// already. Of those that wait the newest is enough: it holds the others.
func (r *Replies) Prefill(ctx context.Context, c turn.Conversation, how ModelOptions) {
	if r.prefills.put(c, how) {
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

// ModelOptions is how a reply is to be thought of: what of the settings in force
// concerns the model.
type ModelOptions struct {
	Temperature  float64
	Session, Key string // see engine.Prompt
	Quick        bool   // a short answer may come before one that is late
}

// Think begins a turn with the model's reply, or goes on with it after a tool has
// answered, or plugins were asked.
func (r *Replies) Think(ctx context.Context, t turn.Think, how ModelOptions) {
	if w := r.turns[t.Turn]; w != nil {
		if t.AfterTool {
			w.schedule.resume()
		}
		r.think(w, t, how)
		return
	}
	begins := time.Now()
	if t.Speculative {
		begins = begins.Add(t.Due - r.Clock())
	}
	w := r.begin(ctx, t.Turn, newSchedule(!t.Speculative, begins))
	r.think(w, t, how)
}

func (r *Replies) think(w *turnWork, t turn.Think, how ModelOptions) {
	ctx, cancel := context.WithCancel(w.ctx)
	w.stopMind = cancel
	r.Go(func() {
		defer cancel()
		r.mind.reply(ctx, t, how, w.schedule)
	})
}

// SayText begins a turn with a text that is known, or goes on with it.
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

// StopThinking gives up what the mind is at for a turn; what it has thought is spoken.
func (r *Replies) StopThinking(n int) {
	if w := r.turns[n]; w != nil && w.stopMind != nil {
		w.stopMind()
	}
}

// RunTool runs a tool of the box for a turn, which it begins if it is the first of
// it. What the tool answers is posted.
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
	content, err := "", errUnknownTool
	if r.Tools != nil {
		content, err = r.Tools.RunTool(ctx, t)
	}
	if ctx.Err() != nil {
		return // nobody waits for it
	}
	a := turn.ToolAnswered{
		At:      turn.At(r.Clock()),
		CallID:  c.ID,
		Content: content,
		OnBox:   true,
	}
	if err != nil {
		a.Content, a.Failed, a.Error = "", true, err.Error()
		r.Log.Warn("a tool of the box failed", "tool", c.Name, "err", err)
	}
	r.Post(a)
}

// StopTools gives up the tool, or the plugins, that the box runs for a turn.
func (r *Replies) StopTools(n int) {
	if w := r.turns[n]; w != nil && w.stopTools != nil {
		w.stopTools()
	}
}

// Speak has a sentence of a turn spoken, in a voice and at a speed. It begins
// the turn if it is the first of it.
func (r *Replies) Speak(ctx context.Context, s turn.Speak, voice string, speed float64) {
	w := r.turns[s.Turn]
	if w == nil {
		w = r.begin(ctx, s.Turn, newSchedule(true, time.Now()))
	}
	select {
	case w.sentences <- speech{s.Sentence, voice, speed}:
	default:
		r.Log.Warn("a reply has more sentences than can wait for the voice", "turn", s.Turn, "limit", queueLength)
	}
}

// Promote says that somebody waits for a turn that was speculative.
func (r *Replies) Promote(n int) {
	if w := r.turns[n]; w != nil {
		w.schedule.promote()
	}
}

// Finish says that a turn needs no more sentences.
func (r *Replies) Finish(n int) {
	if w := r.turns[n]; w != nil {
		w.close()
	}
}

// Cancel stops the work for a turn.
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

// begin makes room for a turn's work. A new turn supersedes the older ones.
func (r *Replies) begin(ctx context.Context, n int, s *schedule) *turnWork {
	r.CancelAll()
	w := &turnWork{schedule: s, sentences: make(chan speech, queueLength)}
	w.ctx, w.cancel = context.WithCancel(ctx)
	r.turns[n] = w
	r.Go(func() { r.mouth.speak(w.ctx, n, w.sentences, w.schedule) })
	return w
}

// close lets the mouth go when it has spoken what waits.
func (w *turnWork) close() {
	if !w.closed {
		w.closed = true
		close(w.sentences)
	}
}
