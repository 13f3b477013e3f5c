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
	// eventQueue is how many events may wait. The session never waits for those who post events, so its queue
	// is short.
	eventQueue = 16
	// lastWriteLimit bounds the last writing and sending of a chat.
	lastWriteLimit = 3 * time.Second
	// backlogLimit is how long a message waits until the client has read, and the disk has written, enough of
	// what came before it. It is longer than any line waits for its client and than SQLite waits for its
	// lock.
	backlogLimit = 15 * time.Second
)

// ErrOver means that the conversation has ended. ErrBehind means that a listener was cut off because it was
// too slow.
var (
	ErrOver   = record.ErrOver
	ErrBehind = record.ErrBehind
)

// Session is one live conversation. One goroutine owns it: it takes one event at a time, calls turn.Next and
// carries out the effects. Everything that takes time runs on other goroutines and comes back as an event.
type Session struct {
	id         string
	log        *slog.Logger
	begun      time.Time
	state      turn.State // owned by run, and by Open before it
	voices     boundVoices
	line       connection.Line
	info       Info
	unregister func() // removes the session from the host
	// toolChecker is the model if it cannot call every tool; otherwise nil.
	toolChecker        engine.ToolChecker
	events             chan queuedEvent
	unregistered, done chan struct{} // unregistered: it accepts nothing more; done: nothing of it runs

	ear           *ear.Ear
	replies       *reply.Replies
	scribe        *record.Scribe
	recorder      Recorder
	stages        stageTimer
	retry         func(doing string, write func(context.Context) error)
	failRecording func(context.Context) error

	writeCtx     context.Context // for writing and sending; owned by run
	scribePanics int             // how often the scribe has panicked; owned by its goroutine

	ended       *turn.End
	unsetLogged map[string]bool // unset variables that were logged

	workers, scribing, recording, draining group

	audio        atomic.Pointer[contract.AudioConfiguration] // format of the settings in force
	settingsLock chan struct{}                               // a semaphore of one: held while settings are applied
	settings     turn.Settings                               // settings in force; guarded by settingsLock
	models       []engine.LanguageModel                      // the models that may answer

	// Owned by the goroutine that calls Hear.
	lastChunk  time.Time // when the newest chunk was taken
	unbuffered bool      // chunks are never gathered
}

// queuedEvent is an event on its way to the session.
type queuedEvent struct {
	event   turn.Event
	handled chan<- outcome // buffered; receives the outcome when all effects were carried out; may be nil
	// startEar means that there is no event: the first sound has come.
	startEar bool
	// faultToCaller sends a fault to the caller instead of the client.
	faultToCaller bool
}

// ID returns the chat's ID.
func (c *Session) ID() string { return c.id }

// Done is closed when the conversation is over and nothing of it runs any more.
func (c *Session) Done() <-chan struct{} { return c.done }

func (c *Session) clock() time.Duration { return time.Since(c.begun) }

// post queues an event. It waits only until the session has handled the events before it.
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

// postAndWait posts an event and returns when its effects were carried out or ctx has ended.
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
	c.draining.Go(c.drain) // do not block goroutines that still post to a session that is over
	c.workers.Wait()
	c.cleanUp(c.stopRecording)
	hurry := time.AfterFunc(lastWriteLimit, stopWriting)
	c.scribing.Wait()
	hurry.Stop()
	stopWriting()
	c.cleanUp(func() { c.retry("record the end of a chat", c.scribe.End(c.ended.Status, time.Now())) })
	c.cleanUp(func() { c.line.Close(c.ended.Code, c.ended.Reason) })
	c.cleanUp(c.scribe.EndListeners)
	c.cleanUp(c.replies.Forget)
	c.log.Info("chat ended", "status", c.ended.Status, "reason", c.ended.Reason, "seconds", int(c.clock().Seconds()))
}

// cleanUp calls one of the last functions of a chat. If it panics, the ones after it still run.
func (c *Session) cleanUp(f func()) { _ = catchPanic(c.log, f) }

// runScribe has the scribe deliver what waits, on its own goroutine. After a panic the scribe runs once more,
// because the client has to learn that its chat is over.
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

// abandon ends the chat after a panic of the session itself, whose state may be inconsistent.
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

// The state is several kilobytes and is passed by value. The functions that pass it are called by the loop,
// and not inlined into it: the loop waits for nearly all of the chat's life, and a goroutine's stack of which
// more than a quarter is in use never shrinks.

// prefill has the model read the beginning of the conversation.
//
//go:noinline
func (c *Session) prefill(work context.Context) {
	c.replies.Prefill(work, c.state.Conversation(), modelOptions(c.state.Settings()))
}

// wake returns when the state needs a Tick.
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

// warnUnset logs, once for each, the variables in the texts in force that have no value. They become empty,
// which is seldom intended.
func (c *Session) warnUnset() {
	const most = 32 // a client may write any number of names into its prompt
	for _, name := range c.state.Settings().Unset() {
		if len(c.unsetLogged) < most && !c.unsetLogged[name] {
			c.unsetLogged[name] = true
			c.log.Warn("a variable is not set; it stays empty", "variable", name, "field", "session_settings.variables")
		}
	}
}

// noteFault logs the cause of a fault. The client is told only that there was one.
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
		c.log.Warn("turn failed", "code", f.Code, "err", f.Cause)
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
		c.log.Warn("plugins did not answer in time; the turn goes on without them", "turn", e.Turn, "limit",
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

// modelOptions returns the settings that concern the model.
func modelOptions(s turn.Settings) reply.ModelOptions {
	return reply.ModelOptions{
		Temperature: s.Temperature,
		Session:     s.CustomSessionID,
		Key:         s.ModelKey,
		Quick:       s.QuickResponses,
	}
}

// publish passes a fact to the scribe. If too much waits to be written and sent, the chat ends; the reason
// says whether the client or the disk is too slow.
func (c *Session) publish(t turn.Publish, customSessionID string) {
	if c.ended != nil {
		return
	}
	if err := c.scribe.Publish(t, customSessionID); err != nil {
		c.log.Warn("chat cut off", "err", err)
		c.ended = &turn.End{Status: contract.ChatError, Code: closeCodeOf(err), Reason: err.Error()}
	}
}

// closeCodeOf returns the code that closes a line because the client or the disk is too slow.
func closeCodeOf(err error) int {
	if errors.Is(err, record.ErrSlowClient) {
		return contract.ClosePolicy
	}
	return contract.CloseInternal
}

// stopRecording waits for the recorder, whose disk may be slow, and notes an incomplete recording.
func (c *Session) stopRecording() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWriteLimit)
	defer cancel()
	if c.recorder.End(ctx, c.state.Now()) {
		return
	}
	c.retry("note that a recording is not whole", c.failRecording)
}

// scribeFailed ends the chat because nothing more can be written or sent.
func (c *Session) scribeFailed(err error) {
	c.log.Warn("chat cut off", "err", err)
	c.post(turn.Aborted{At: turn.At(c.clock()), Unwritten: errors.Is(err, record.ErrUnwritten)})
}
