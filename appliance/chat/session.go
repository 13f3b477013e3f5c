package chat

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"parley/appliance/chat/ear"
	"parley/appliance/chat/record"
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

const (
	// eventQueue is how many events may wait. The session never waits for
	// those who post them, so the queue is short whenever it runs.
	eventQueue = 16
	// lastWriteLimit bounds the last writing and sending of a chat.
	lastWriteLimit = 3 * time.Second
	// backlogLimit is how long who brings a message may wait until the client has
	// read, and the disk has written, enough of what came before: longer than any
	// line waits for its client, and than SQLite for its lock.
	backlogLimit = 15 * time.Second
)

// ErrOver means that the conversation has ended, and ErrBehind that a listener
// was cut off because it took what it got more slowly than it came.
var (
	ErrOver   = record.ErrOver
	ErrBehind = record.ErrBehind
)

// Session is one live conversation. One goroutine owns it: it takes one event
// at a time, asks Next what follows, and carries that out. Everything that
// takes time happens elsewhere and comes back as an event.
type Session struct {
	id         string
	log        *slog.Logger
	begun      time.Time
	state      turn.State // of the goroutine that runs, and of Open before it
	voices     boundVoices
	line       connection.Line
	info       Info
	unregister func() // from those that are live
	// toolChecker is the model, where it cannot call every tool; else nil.
	toolChecker        engine.ToolChecker
	events             chan queuedEvent
	unregistered, done chan struct{} // left: it takes nothing more

	ear           *ear.Ear
	replies       *reply.Replies
	scribe        *record.Scribe
	recorder      Recorder
	stages        stageTimer
	retry         func(doing string, write func(context.Context) error)
	failRecording func(context.Context) error

	writeCtx     context.Context // of what is told; of the goroutine that runs
	scribePanics int             // how often telling has panicked; of who tells

	ended       *turn.End
	unsetLogged map[string]bool // variables that nobody has set, of which the log knows

	workers, scribing, recording, draining group

	audio        atomic.Pointer[contract.AudioConfiguration] // of the settings in force
	settingsLock chan struct{}                               // holds one while settings are put in force
	settings     turn.Settings                               // as they were last put in force; of who holds applying
	models       []engine.LanguageModel                      // that may answer

	// Of the goroutine that brings audio.
	lastChunk  time.Time // when it was done with the newest
	unbuffered bool      // it need not wait for more of it
}

// queuedEvent is an event on its way to the session, and who wants to know when all
// that follows from it was carried out.
type queuedEvent struct {
	event   turn.Event
	handled chan<- outcome // has room for one; nil: nobody
	// startEar: there is something to hear, and nothing else.
	startEar bool
	// faultToCaller: what is wrong with it is for who waits, and not for the client.
	faultToCaller bool
}

// ID is the chat's.
func (c *Session) ID() string { return c.id }

// Done is closed when the conversation is over and nothing of it runs any more.
func (c *Session) Done() <-chan struct{} { return c.done }

func (c *Session) clock() time.Duration { return time.Since(c.begun) }

// post hands an event to the session; it waits only as long as the session
// needs for the events before it.
func (c *Session) post(e turn.Event) {
	if e = withClientDetail(e); e != nil {
		c.enqueue(queuedEvent{event: e})
	}
}

func (c *Session) enqueue(p queuedEvent) {
	select {
	case c.events <- p:
	case <-c.done:
	}
}

// postAndWait posts an event and returns when all that follows from it was carried
// out, or ctx has ended.
func (c *Session) postAndWait(ctx context.Context, e turn.Event) {
	handled := make(chan outcome, 1)
	c.enqueue(queuedEvent{event: e, handled: handled})
	select {
	case <-handled:
	case <-ctx.Done():
	}
}

// run owns the conversation from its first event to its last.
func (c *Session) run(ctx context.Context, opened turn.Opened) {
	defer close(c.done)
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx))
	c.writeCtx = writing
	converse := func() {
		c.prefill(work)
		c.loop(ctx, work, opened)
	}
	if catchPanic(c.log, converse) != nil {
		c.abandon()
	}

	c.cleanUp(c.unregister)
	stop()
	c.draining.Go(c.drain) // those who still post must not wait for a session that is over
	c.workers.Wait()
	c.cleanUp(c.stopRecording)
	hurry := time.AfterFunc(lastWriteLimit, stopWriting)
	c.scribing.Wait()
	hurry.Stop()
	stopWriting()
	c.cleanUp(func() { c.retry("record the end of a chat", c.scribe.End(c.ended.Status, time.Now())) })
	c.cleanUp(func() { c.line.Close(c.ended.Code, c.ended.Reason) })
	c.cleanUp(c.scribe.Over)
	c.cleanUp(c.replies.Forget)
	c.log.Info("chat ended", "status", c.ended.Status, "reason", c.ended.Reason, "seconds", int(c.clock().Seconds()))
}

// cleanUp does one of the last things of a chat. If it panics, those after it are
// done all the same.
func (c *Session) cleanUp(f func()) { _ = catchPanic(c.log, f) }

// runScribe has the scribe tell what waits, beside the session. After a panic it goes
// on once, with what came after: the client is to learn that its chat is over.
func (c *Session) runScribe() {
	c.scribing.Go(func() {
		for ; c.scribePanics < 2; c.scribePanics++ {
			if catchPanic(c.log, func() { c.scribe.Run(c.writeCtx) }) == nil {
				return
			}
			c.crashed()
		}
	})
}

// crashed ends the chat because a part of it panicked.
func (c *Session) crashed() { c.post(turn.Crashed{At: turn.At(c.clock())}) }

// abandon ends the chat after a panic of the session itself, whose state may be
// half of one and half of another.
func (c *Session) abandon() {
	if c.ended == nil {
		f := contract.Fault{Code: contract.Internal}
		_ = c.scribe.Publish(turn.Publish{At: c.clock(), Fact: turn.FaultOccurred{Fault: f}},
			c.state.Settings().CustomSessionID)
		c.ended = &turn.End{Status: contract.ChatError, Code: f.Code.CloseCode(), Reason: f.Code.Slug()}
	}
	c.cleanUp(c.replies.CancelAll)
}

func (c *Session) loop(ctx, work context.Context, first turn.Event) {
	c.handle(work, queuedEvent{event: first})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c.ended == nil {
		if at, ok := c.wake(); ok {
			timer.Reset(max(0, at-c.clock()))
		}
		var p queuedEvent
		select {
		case p = <-c.events:
		case <-timer.C:
			p.event = turn.Tick{At: turn.At(c.clock())}
		case <-ctx.Done():
			p.event = turn.ShutDown{At: turn.At(c.clock())}
		}
		c.handle(work, p)
	}
}

// The state is handed on by value, some kilobytes each time. What does that is called
// by the loop, and not a part of it: a chat waits in there nearly all of its life,
// and a stack of which more than a quarter is in use is never made smaller.

// prefill has the model read what the conversation begins with.
//
//go:noinline
func (c *Session) prefill(work context.Context) {
	c.replies.Prefill(work, c.state.Conversation(), modelOptions(c.state.Settings()))
}

// wake is when the state wants a Tick.
//
//go:noinline
func (c *Session) wake() (time.Duration, bool) { return c.state.Wake() }

func (c *Session) drain() {
	for {
		select {
		case <-c.events:
		case <-c.done:
			return
		}
	}
}

func (c *Session) handle(ctx context.Context, p queuedEvent) {
	if p.startEar {
		c.workers.Go(func() { c.ear.Run(ctx) })
		return
	}
	if unsent := c.line.Unsent(); unsent > 0 {
		c.state, _ = turn.Next(c.state, turn.SendDelayed{At: turn.At(c.clock()), Length: unsent})
	}
	var follows []turn.Effect
	c.state, follows = turn.Next(c.state, p.event)
	var fault *contract.Fault
	if p.faultToCaller {
		follows, fault = takeFault(follows)
	}
	for _, f := range follows {
		c.carryOut(ctx, f)
	}
	c.stages.follow(p.event, follows, c.state.Turn())
	c.noteFault(p.event)
	if _, changed := p.event.(turn.SettingsRequested); changed {
		c.warnUnset()
	}
	if p.handled != nil {
		c.audio.Store(c.state.Settings().Audio)
		p.handled <- outcome{c.state.Settings(), fault}
	}
}

// warnUnset logs, once for each, which variables of the texts in force nobody has
// set: they are empty, which is seldom meant.
func (c *Session) warnUnset() {
	const most = 32 // a client may write any number of names into its prompt
	for _, name := range c.state.Settings().Unset() {
		if len(c.unsetLogged) < most && !c.unsetLogged[name] {
			c.unsetLogged[name] = true
			c.log.Warn("a variable is not set; it stays empty", "variable", name, "field", "session_settings.variables")
		}
	}
}

// noteFault logs what went wrong in the box: the client is told only that
// something did.
func (c *Session) noteFault(e turn.Event) {
	var f contract.Fault
	switch e := e.(type) {
	case turn.TurnFailed:
		f = e.Fault
	case turn.MindFailed:
		f = e.Fault
	case turn.FaultReported:
		f = e.Fault
	}
	if f.Cause != nil {
		c.log.Warn("something of a turn failed", "code", f.Code, "err", f.Cause)
	}
}

func (c *Session) carryOut(ctx context.Context, e turn.Effect) {
	settings := c.state.Settings()
	switch e := e.(type) {
	case turn.Publish:
		c.publish(e, settings.CustomSessionID)
	case turn.Think:
		c.replies.Think(ctx, e, modelOptions(settings))
	case turn.SayText:
		c.replies.SayText(ctx, e)
	case turn.RunTool:
		c.replies.RunTool(ctx, e, settings.CustomSessionID)
	case turn.StopTool:
		c.replies.StopTools(e.Turn)
	case turn.ConsultPlugins:
		c.replies.Consult(ctx, e, settings.CustomSessionID)
	case turn.StopPlugins:
		c.log.Warn("plugins took too long over a turn, which goes on without them", "turn", e.Turn, "limit",
			turn.AdviceLimit)
		c.replies.StopTools(e.Turn)
	case turn.StopThinking:
		c.replies.StopThinking(e.Turn)
	case turn.Prefill:
		c.replies.Prefill(ctx, e.Conversation, modelOptions(settings))
	case turn.CloseUtterance:
		c.ear.Close(e.Utterance)
	case turn.Speak:
		c.replies.Speak(ctx, e, settings.Voice, settings.Speed)
	case turn.Promote:
		c.replies.Promote(e.Turn)
	case turn.FinishTurn:
		c.replies.Finish(e.Turn)
	case turn.Cancel:
		c.replies.Cancel(e.Turn)
	case turn.Cut:
		c.scribe.Cut(e.At)
	case turn.End:
		c.replies.CancelAll()
		if c.ended == nil {
			c.ended = &e
		}
	}
}

// modelOptions is how replies are to be thought of under these settings.
func modelOptions(s turn.Settings) reply.ModelOptions {
	return reply.ModelOptions{
		Temperature: s.Temperature,
		Session:     s.CustomSessionID,
		Key:         s.ModelKey,
		Quick:       s.QuickResponses,
	}
}

// observe hands on what is written and sent. Where so much waits that it cannot, the
// chat is over, and the reason says what is too slow.
func (c *Session) publish(t turn.Publish, customSessionID string) {
	if c.ended != nil {
		return
	}
	if err := c.scribe.Publish(t, customSessionID); err != nil {
		c.log.Warn("the chat is cut off", "err", err)
		c.ended = &turn.End{Status: contract.ChatError, Code: closeCodeOf(err), Reason: err.Error()}
	}
}

// closeCodeOf is the code with which a line is closed because something is too slow.
func closeCodeOf(err error) int {
	if errors.Is(err, record.ErrSlowClient) {
		return contract.ClosePolicy
	}
	return contract.CloseInternal
}

// stopRecording waits for the recorder, whose disk may be slow, and notes when
// something of the chat is missing.
func (c *Session) stopRecording() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWriteLimit)
	defer cancel()
	if c.recorder.End(ctx, c.state.Now()) {
		return
	}
	c.retry("note that a recording is not whole", c.failRecording)
}

// givenUp says that nothing more can be written, or sent to the client.
func (c *Session) scribeFailed(err error) {
	c.log.Warn("the chat is cut off", "err", err)
	c.post(turn.Aborted{At: turn.At(c.clock()), Unwritten: errors.Is(err, record.ErrUnwritten)})
}
