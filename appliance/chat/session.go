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
func (s *Session) ID() string { return s.id }

// Done is closed when the conversation is over and nothing of it runs any more.
func (s *Session) Done() <-chan struct{} { return s.done }

func (s *Session) clock() time.Duration { return time.Since(s.begun) }

// post queues an event. It waits only until the session has handled the events before it.
func (s *Session) post(e turn.Event) {
	if e = withClientDetail(e); e != nil {
		s.enqueue(queuedEvent{event: e})
	}
}

func (s *Session) enqueue(p queuedEvent) {
	select {
	case s.events <- p:
	case <-s.done:
	}
}

// postAndWait posts an event and returns when its effects were carried out or ctx has ended.
func (s *Session) postAndWait(ctx context.Context, e turn.Event) {
	handled := make(chan outcome, 1)
	s.enqueue(queuedEvent{event: e, handled: handled})
	select {
	case <-handled:
	case <-ctx.Done():
	}
}

// run owns the conversation from its first event to its last.
func (s *Session) run(ctx context.Context, opened turn.Opened) {
	defer close(s.done)
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx))
	s.writeCtx = writing
	converse := func() {
		s.prefill(work)
		s.loop(ctx, work, opened)
	}
	if catchPanic(s.log, converse) != nil {
		s.abandon()
	}

	s.cleanUp(s.unregister)
	stop()
	s.draining.Go(s.drain) // do not block goroutines that still post to a session that is over
	s.workers.Wait()
	s.cleanUp(s.stopRecording)
	hurry := time.AfterFunc(lastWriteLimit, stopWriting)
	s.scribing.Wait()
	hurry.Stop()
	stopWriting()
	s.cleanUp(func() { s.retry("record the end of a chat", s.scribe.End(s.ended.Status, time.Now())) })
	s.cleanUp(func() { s.line.Close(s.ended.Code, s.ended.Reason) })
	s.cleanUp(s.scribe.EndListeners)
	s.cleanUp(s.replies.Forget)
	s.log.Info("chat ended", "status", s.ended.Status, "reason", s.ended.Reason, "seconds", int(s.clock().Seconds()))
}

// cleanUp calls one of the last functions of a chat. If it panics, the ones after it still run.
func (s *Session) cleanUp(f func()) { _ = catchPanic(s.log, f) }

// runScribe has the scribe deliver what waits, on its own goroutine. After a panic the scribe runs once more,
// because the client has to learn that its chat is over.
func (s *Session) runScribe() {
	s.scribing.Go(func() {
		for ; s.scribePanics < 2; s.scribePanics++ {
			if catchPanic(s.log, func() { s.scribe.Run(s.writeCtx) }) == nil {
				return
			}
			s.crashed()
		}
	})
}

// crashed ends the chat because a part of it panicked.
func (s *Session) crashed() { s.post(turn.Crashed{At: turn.At(s.clock())}) }

// abandon ends the chat after a panic of the session itself, whose state may be inconsistent.
func (s *Session) abandon() {
	if s.ended == nil {
		f := contract.Fault{Code: contract.Internal}
		_ = s.scribe.Publish(turn.Publish{At: s.clock(), Fact: turn.FaultOccurred{Fault: f}},
			s.state.Settings().CustomSessionID)
		s.ended = &turn.End{Status: contract.ChatError, Code: f.Code.CloseCode(), Reason: f.Code.Slug()}
	}
	s.cleanUp(s.replies.CancelAll)
}

func (s *Session) loop(ctx, work context.Context, first turn.Event) {
	s.handle(work, queuedEvent{event: first})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for s.ended == nil {
		if at, ok := s.wake(); ok {
			timer.Reset(max(0, at-s.clock()))
		}
		var p queuedEvent
		select {
		case p = <-s.events:
		case <-timer.C:
			p.event = turn.Tick{At: turn.At(s.clock())}
		case <-ctx.Done():
			p.event = turn.ShutDown{At: turn.At(s.clock())}
		}
		s.handle(work, p)
	}
}

// The state is several kilobytes and is passed by value. The functions that pass it are called by the loop,
// and not inlined into it: the loop waits for nearly all of the chat's life, and a goroutine's stack of which
// more than a quarter is in use never shrinks.

// prefill prefills the beginning of the conversation.
//
//go:noinline
func (s *Session) prefill(work context.Context) {
	s.replies.Prefill(work, s.state.Conversation(), s.modelOptions(s.state.Settings()))
}

// wake returns when the state needs a Tick.
//
//go:noinline
func (s *Session) wake() (time.Duration, bool) { return s.state.Wake() }

func (s *Session) drain() {
	for {
		select {
		case <-s.events:
		case <-s.done:
			return
		}
	}
}

func (s *Session) handle(ctx context.Context, p queuedEvent) {
	if p.startEar {
		s.workers.Go(func() { s.ear.Run(ctx) })
		return
	}
	if unsent := s.line.Unsent(); unsent > 0 {
		s.state, _ = turn.Next(s.state, turn.SendDelayed{At: turn.At(s.clock()), Length: unsent})
	}
	var follows []turn.Effect
	s.state, follows = turn.Next(s.state, p.event)
	var fault *contract.Fault
	if p.faultToCaller {
		follows, fault = takeFault(follows)
	}
	for _, f := range follows {
		s.carryOut(ctx, f)
	}
	s.stages.follow(p.event, follows, s.state.Turn())
	s.noteFault(p.event)
	if _, changed := p.event.(turn.SettingsRequested); changed {
		s.warnUnset()
	}
	if p.handled != nil {
		s.audio.Store(s.state.Settings().Audio)
		p.handled <- outcome{s.state.Settings(), fault}
	}
}

// warnUnset logs, once for each, the variables in the texts in force that have no value. They become empty,
// which is seldom intended.
func (s *Session) warnUnset() {
	const most = 32 // a client may write any number of names into its prompt
	for _, name := range s.state.Settings().Unset() {
		if len(s.unsetLogged) < most && !s.unsetLogged[name] {
			s.unsetLogged[name] = true
			s.log.Warn("a variable is not set; it stays empty", "variable", name, "field", "session_settings.variables")
		}
	}
}

// noteFault logs the cause of a fault. The client receives only its code and public detail.
func (s *Session) noteFault(e turn.Event) {
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
		s.log.Warn("turn failed", "code", f.Code, "err", f.Cause)
	}
}

func (s *Session) carryOut(ctx context.Context, e turn.Effect) {
	settings := s.state.Settings()
	switch e := e.(type) {
	case turn.Publish:
		s.publish(e, settings.CustomSessionID)
	case turn.Think:
		s.replies.Think(ctx, e, s.modelOptions(settings))
	case turn.SayText:
		s.replies.SayText(ctx, e)
	case turn.RunTool:
		s.replies.RunTool(ctx, e, settings.CustomSessionID)
	case turn.StopTool:
		s.replies.StopTools(e.Turn)
	case turn.ConsultPlugins:
		s.replies.Consult(ctx, e, settings.CustomSessionID)
	case turn.StopPlugins:
		s.log.Warn("plugins did not answer in time; the turn goes on without them", "turn", e.Turn, "limit",
			turn.AdviceLimit)
		s.replies.StopTools(e.Turn)
	case turn.StopThinking:
		s.replies.StopThinking(e.Turn)
	case turn.Prefill:
		s.replies.Prefill(ctx, e.Conversation, s.modelOptions(settings))
	case turn.CloseUtterance:
		s.ear.Close(e.Utterance)
	case turn.Speak:
		s.replies.Speak(ctx, e, settings.Voice, settings.Speed)
	case turn.Promote:
		s.replies.Promote(e.Turn)
	case turn.FinishTurn:
		s.replies.Finish(e.Turn)
	case turn.Cancel:
		s.replies.Cancel(e.Turn)
	case turn.Cut:
		s.scribe.Cut(e.At)
	case turn.End:
		s.replies.CancelAll()
		if s.ended == nil {
			s.ended = &e
		}
	}
}

// modelOptions returns the settings that concern the model.
func (s *Session) modelOptions(in turn.Settings) reply.ModelOptions {
	return reply.ModelOptions{
		Temperature: in.Temperature,
		Session:     in.CustomSessionID,
		Key:         in.ModelKey,
		Quick:       in.QuickResponses,
		Fill:        func(text string) string { return in.Fill(text, s.begun) },
	}
}

// publish passes a fact to the scribe. If too much waits to be written and sent, the chat ends; the reason
// says whether the client or the disk is too slow.
func (s *Session) publish(t turn.Publish, customSessionID string) {
	if s.ended != nil {
		return
	}
	if err := s.scribe.Publish(t, customSessionID); err != nil {
		s.log.Warn("chat cut off", "err", err)
		s.ended = &turn.End{Status: contract.ChatError, Code: closeCodeOf(err), Reason: err.Error()}
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
func (s *Session) stopRecording() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWriteLimit)
	defer cancel()
	if s.recorder.End(ctx, s.state.Now()) {
		return
	}
	s.retry("note that a recording is not whole", s.failRecording)
}

// scribeFailed ends the chat because nothing more can be written or sent.
func (s *Session) scribeFailed(err error) {
	s.log.Warn("chat cut off", "err", err)
	s.post(turn.Aborted{At: turn.At(s.clock()), Unwritten: errors.Is(err, record.ErrUnwritten)})
}
