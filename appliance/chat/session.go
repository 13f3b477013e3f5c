package chat

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

const (
	// eventQueue is how many events may wait. The session never waits for
	// those who post them, so the queue is short whenever it runs.
	eventQueue = 64
	// turnQueue is how many sentences of one reply may wait for the mouth: a
	// dictated text of the greatest length has about that many.
	turnQueue = 512
)

// ErrOver means that the conversation has ended.
var ErrOver = errors.New("the chat is over")

// Session is one live conversation. One goroutine owns it: it takes one event
// at a time, asks Next what follows, and carries that out. Everything that
// takes time happens elsewhere and comes back as an event.
type Session struct {
	id     string
	log    *slog.Logger
	begun  time.Time
	state  State // of the goroutine that runs, and of Open before it
	model  engine.LanguageModel
	events chan Event
	done   chan struct{}

	ear      *ear
	mind     mind
	mouth    mouth
	scribe   *scribe
	recorder *recorder
	pace     pace
	insist   func(doing string, write func(context.Context) error)

	turns map[int]*turn // with work under way
	ended *End

	workers sync.WaitGroup

	// Of the goroutine that brings audio.
	chunkAt time.Time // when it was done with the newest
}

// turn is the work for one reply.
type turn struct {
	ctx       context.Context
	cancel    context.CancelFunc
	sentences chan speech
	closed    bool
}

// ID is the chat's.
func (c *Session) ID() string { return c.id }

// Done is closed when the conversation is over and nothing of it runs any more.
func (c *Session) Done() <-chan struct{} { return c.done }

func (c *Session) clock() time.Duration { return time.Since(c.begun) }

// post hands an event to the session; it waits only as long as the session
// needs for the events before it.
func (c *Session) post(e Event) {
	select {
	case c.events <- e:
	case <-c.done:
	}
}

// run owns the conversation from its first event to its last.
func (c *Session) run(ctx context.Context, opened Opened) {
	defer close(c.done)
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx))
	var scribing sync.WaitGroup
	scribing.Go(func() { c.scribe.run(writing) })
	go c.recorder.run()
	c.workers.Go(func() { c.ear.run(work) })
	opening := c.state.messages()
	c.workers.Go(func() { c.read(work, opening) })

	c.loop(ctx, work, opened)

	stop()
	go c.drain() // those who still post must not wait for a session that is over
	c.workers.Wait()
	c.stopRecording()
	close(c.scribe.queue)
	hurry := time.AfterFunc(goodbye, stopWriting)
	scribing.Wait()
	hurry.Stop()
	stopWriting()
	end := c.scribe.end(*c.ended, time.Now())
	c.insist("record the end of a chat", end)
	c.scribe.line.Close(c.ended.Code, c.ended.Reason)
	c.model.Forget(c.id)
	c.log.Info("chat ended", "status", c.ended.Status, "reason", c.ended.Reason, "seconds", int(c.clock().Seconds()))
}

func (c *Session) loop(ctx, work context.Context, first Event) {
	c.handle(work, first)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c.ended == nil {
		if at, ok := c.state.Wake(); ok {
			timer.Reset(max(0, at-c.clock()))
		}
		var e Event
		select {
		case e = <-c.events:
		case <-timer.C:
			e = Tick{At(c.clock())}
		case <-ctx.Done():
			e = ShutDown{At(c.clock())}
		}
		c.handle(work, e)
	}
}

func (c *Session) drain() {
	for {
		select {
		case <-c.events:
		case <-c.done:
			return
		}
	}
}

func (c *Session) handle(ctx context.Context, e Event) {
	var follows []Effect
	silentAt := c.state.silentAt
	c.state, follows = Next(c.state, e)
	if c.state.silentAt < silentAt {
		c.recorder.cut(c.state.now)
	}
	for _, f := range follows {
		c.carryOut(ctx, f)
	}
	c.pace.note(e, follows, c.state.turn)
	c.noteFault(e)
	if asked, ok := e.(SettingsAsked); ok {
		asked.Settled <- c.state.Settings() // has room for one
	}
}

// noteFault logs what went wrong in the box: the client is told only that
// something did.
func (c *Session) noteFault(e Event) {
	var f contract.Fault
	switch e := e.(type) {
	case Failed:
		f = e.Fault
	case Faulty:
		f = e.Fault
	}
	if f.Cause != nil {
		c.log.Warn("something of a turn failed", "code", f.Code, "err", f.Cause)
	}
}

func (c *Session) carryOut(ctx context.Context, e Effect) {
	switch e := e.(type) {
	case Send:
		c.put(outgoing{message: c.named(e.Message), record: e.Record})
		if clip, ok := e.Message.(contract.AudioOutput); ok {
			c.recorder.said(c.state.now, clip.Data)
		}
	case Record:
		c.put(outgoing{record: &e.Event})
	case Amend:
		c.put(outgoing{amended: &e.Event})
	case Note:
		c.put(outgoing{metadata: e.Metadata})
	case Think:
		t := c.begin(ctx, e.Turn)
		settings := c.state.Settings()
		c.workers.Go(func() { c.mind.reply(t.ctx, c.id, e, settings) })
	case Read:
		c.workers.Go(func() { c.read(ctx, e.Messages) })
	case Speak:
		c.speak(ctx, e)
	case Done:
		if t := c.turns[e.Turn]; t != nil && !t.closed {
			t.closed = true
			close(t.sentences)
		}
	case Cancel:
		c.cancel(e.Turn)
	case End:
		for n := range c.turns {
			c.cancel(n)
		}
		if c.ended == nil {
			c.ended = &e
		}
	}
}

// put hands on what is written and sent; a line so slow that too much waits is
// cut off.
func (c *Session) put(o outgoing) {
	if c.ended == nil && !c.scribe.put(o) {
		c.ended = &End{Status: store.Failed, Code: contract.ClosePolicy, Reason: "the client reads too slowly"}
	}
}

func (c *Session) named(m contract.ServerMessage) contract.ServerMessage {
	if id := c.state.Settings().CustomSessionID; id != "" {
		return m.WithCustomSessionID(id)
	}
	return m
}

// begin makes room for a turn's work. A new turn supersedes the older ones.
func (c *Session) begin(ctx context.Context, n int) *turn {
	for old := range c.turns {
		c.cancel(old)
	}
	t := &turn{sentences: make(chan speech, turnQueue)}
	t.ctx, t.cancel = context.WithCancel(ctx)
	c.turns[n] = t
	c.workers.Go(func() { c.mouth.speak(t.ctx, n, t.sentences) })
	return t
}

func (c *Session) speak(ctx context.Context, e Speak) {
	t := c.turns[e.Turn]
	if t == nil {
		t = c.begin(ctx, e.Turn)
	}
	s := c.state.Settings()
	select {
	case t.sentences <- speech{e.Sentence, s.Voice, s.Speed}:
	default:
		c.log.Warn("a reply has more sentences than can wait for the voice", "turn", e.Turn, "limit", turnQueue)
	}
}

func (c *Session) cancel(n int) {
	t := c.turns[n]
	if t == nil {
		return
	}
	delete(c.turns, n)
	t.cancel()
	if !t.closed {
		t.closed = true
		close(t.sentences)
	}
}

// read has the model read the conversation so far ahead of the next turn. It is
// a hint: what cannot be read ahead is read then.
func (c *Session) read(ctx context.Context, said []engine.Message) {
	p := engine.Prompt{Conversation: c.id, Messages: said, MaxTokens: replyTokens, Priority: engine.Speculative}
	if err := c.model.Prefill(ctx, p); err != nil && ctx.Err() == nil {
		c.log.Warn("cannot read the conversation ahead", "err", err)
	}
}

// stopRecording waits for the recorder, whose disk may be slow, and notes when
// something of the chat is missing.
func (c *Session) stopRecording() {
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if c.recorder.end(ctx, c.state.now) {
		return
	}
	c.insist("note that a recording is not whole", func(ctx context.Context) error {
		return c.recorder.files.FailRecording(ctx, c.id)
	})
}

// lost says that nothing more can be written, or sent to the client.
func (c *Session) lost(err error) {
	c.log.Warn("the chat is cut off", "err", err)
	c.post(Lost{At(c.clock()), errors.Is(err, errUnwritten)})
}
