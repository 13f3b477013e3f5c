package phone

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
)

// Call is a person's call. It implements connection.Line.
type Call struct {
	id        string
	server    *Server
	assistant Assistant
	call      contract.Call
	requestID string
	client    string                   // network address; empty if it is not known
	auth      connection.Authorization // nil: the call may go on for ever
	started   time.Time
	log       *slog.Logger
	lifecycle *line.Lifecycle
	errs      line.ErrorLimiter // used by Send
	keys      chan rune         // pressed in the chat
	changed   chan struct{}     // whether the assistant is to be silent may have changed
	said      chan struct{}     // the assistant has said all of an answer
	unheard   bool              // nobody answered: there is no person to hear or to speak to

	mu       sync.Mutex
	person   *party // nil before the call is answered
	answered time.Time
	state    contract.PhoneCallState
	held     bool // by the far end
	away     bool // the person waits for somebody else, at an operator's request
	// transferring: another person is being called; the caller hears music.
	transferring bool
	chatID       string
	language     string // of the newest words of the person
	session      line.Session
	facts        facts
	joined       *party // the person to whom the call was handed over
	endedOn      time.Time
	endedWhy     string
}

// guard runs a callback of a leg. A panic ends the call.
func (c *Call) guard(work func()) {
	defer c.lifecycle.Recover("hearing a call", func() { c.lifecycle.Drop(line.ErrPanicked) })
	work()
}

// connect makes leg the person's side of the call.
func (c *Call) connect(leg Leg) {
	leg.OnPlayed(c.played)
	leg.OnHold(c.heldBy)
	p := newParty(leg, c.guard)
	c.mu.Lock()
	c.person, c.answered, c.state = p, time.Now(), contract.CallAnswered
	c.mu.Unlock()
	c.lifecycle.Go("watching a call", func() {
		select {
		case <-leg.Done():
			c.lifecycle.Drop(hangUpReason(leg))
		case <-c.lifecycle.Gone().Done():
			leg.HangUp()
		}
	})
}

// hangUpReason returns why a leg is over.
func hangUpReason(leg Leg) error {
	if err := leg.Err(); err != nil {
		return err
	}
	return line.ErrLeft
}

// played reports to the session what the person has heard.
func (c *Call) played(id string, upTo time.Duration) {
	if id == "" {
		return // it was said outside of the chat
	}
	if s := c.live(); s != nil {
		s.Played(id, upTo)
	}
}

// live returns the session, and nil while there is none.
func (c *Call) live() line.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// heldBy notes that the far end holds the box, or does no longer.
func (c *Call) heldBy(held bool) {
	c.mu.Lock()
	c.held = held
	c.mu.Unlock()
	notify(c.changed)
}

// silent reports whether the assistant is to be silent, because nobody would hear it.
func (c *Call) silent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held || c.away
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// chatOptions say how a chat is held.
type chatOptions struct {
	silent     bool      // the assistant does not speak first
	unrecorded bool      // the sound is not recorded
	heard      []float32 // what the person has said before the chat
	deaf       bool      // the chat does not hear the person
	says       string    // what the assistant says, whoever listens
	ends       bool      // the call ends when that was said
}

// converse holds the chat on a slot, and returns when it is over.
func (c *Call) converse(slot line.Slot, o chatOptions) {
	session, err := c.open(slot, o)
	if err != nil {
		c.refuse(err)
		return
	}
	if c.auth != nil {
		s := line.AuthorizedSession{
			Session:       session,
			Line:          c,
			Lifecycle:     c.lifecycle,
			Authorization: c.auth,
		}
		defer s.Watch()()
		session = s
	}
	c.hold(session, o)
	c.mu.Lock()
	joined := c.joined
	c.mu.Unlock()
	if joined != nil {
		c.stayJoined(joined)
	}
}

// hold holds the chat until it is over.
func (c *Call) hold(s line.Session, o chatOptions) {
	c.begin(s)
	defer c.end()
	switch {
	case o.ends:
		c.lifecycle.Go("saying a message", func() { c.say(s, o.says) })
	case !o.deaf:
		c.attend(s, o.heard)
	}
	c.follow(s)
}

// say lets the assistant say a text, and ends the chat when it was heard.
func (c *Call) say(s line.Session, text string) {
	defer s.HangUp()
	if text == "" || s.Receive(contract.AssistantInput{Text: text}) != nil {
		return
	}
	late := time.NewTimer(messageTimeout)
	defer late.Stop()
	select {
	case <-c.said:
		_ = c.person.drain(c.lifecycle.Gone()) // the call ends in any case
	case <-s.Done():
	case <-late.C:
	}
}

// refuse ends a call whose chat cannot begin.
func (c *Call) refuse(err error) {
	if c.lifecycle.Gone().Err() == nil {
		c.log.Error("cannot begin the chat of a call", "err", err)
	}
	c.Close(contract.CloseInternal, err.Error())
}

// open starts the chat.
func (c *Call) open(slot line.Slot, o chatOptions) (session line.Session, err error) {
	defer c.lifecycle.Recover("opening a chat", func() { err = line.ErrPanicked })
	settings := c.assistant.Settings
	settings.AllowConnection = true
	if c.facts != (facts{}) {
		settings.SessionSettings.Metadata = c.metadata()
	}
	call, ctx := c.call, c.lifecycle.Gone()
	if o.ends {
		ctx = context.WithoutCancel(ctx) // the chat only tells of a call that is over
	}
	return slot.Open(ctx, connection.Opening{
		Account:    c.assistant.Account,
		RequestID:  c.requestID,
		Client:     c.client,
		Kind:       Kind,
		Settings:   settings,
		Line:       c,
		RealTime:   true,
		Call:       &call,
		Tools:      c,
		Silent:     o.silent,
		Unrecorded: o.unrecorded,
	})
}

// begin notes that the chat is live.
func (c *Call) begin(s line.Session) {
	c.mu.Lock()
	c.session = s
	if c.state == contract.CallAnswered {
		c.state = contract.CallTalking
	}
	c.mu.Unlock()
}

// end notes that the chat is over.
func (c *Call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session = nil
}

// attend lets the session hear the person.
func (c *Call) attend(s line.Session, heard []float32) {
	c.person.listen(listener{
		hear: func(pcm []float32) error {
			if len(heard) > 0 {
				pcm, heard = append(heard, pcm...), nil
			}
			return s.Hear(pcm)
		},
		press: queueIn(c.keys),
	})
}

// follow passes what the person presses to the session, until either ends.
func (c *Call) follow(s line.Session) {
	entry := newDigits()
	defer entry.timer.Stop()
	send := func() { _ = s.Receive(entry.take()) } // an error of Receive means that the session is over
	paused := false
	for {
		if silent := c.silent(); silent && !paused {
			_ = s.Receive(contract.PauseAssistantMessage{})
			paused = true
		} else if !silent && paused {
			_ = s.Receive(contract.ResumeAssistantMessage{})
			paused = false
		}
		select {
		case <-c.changed:
		case <-s.Done():
			return
		case key := <-c.keys:
			_ = s.Receive(contract.UserInput{Digits: string(key)}) // it interrupts the assistant
			if entry.press(key) {
				send()
			}
		case <-entry.timer.C:
			send()
		case <-c.lifecycle.Gone().Done():
			c.log.Debug("a call ended", "why", context.Cause(c.lifecycle.Gone()))
			c.awaitTransfer(s)
			s.HangUp()
			<-s.Done()
			return
		}
	}
}

// transferGrace is how long a transfer that ended the call has to tell the chat so, before the chat ends as
// hung up.
const transferGrace = time.Second

// awaitTransfer lets a transfer end the chat, if one is under way or has worked.
func (c *Call) awaitTransfer(s line.Session) {
	late := time.NewTimer(transferGrace)
	defer late.Stop()
	for {
		c.mu.Lock()
		wait := c.transferring || c.facts.HandedOverTo != ""
		c.mu.Unlock()
		if !wait {
			return
		}
		select {
		case <-s.Done():
			return
		case <-late.C:
			return
		case <-c.changed:
		}
	}
}

// finish ends the call. If the session closed it, finish first lets the last sound be heard.
func (c *Call) finish() {
	if c.person != nil && c.lifecycle.Gone().Err() == nil {
		c.sendLastSound()
	}
	c.lifecycle.Drop(line.ErrClosed)
	if c.joined != nil {
		c.joined.leg.HangUp()
	}
	if c.person != nil {
		late := time.NewTimer(byeTimeout)
		defer late.Stop()
		select {
		case <-c.person.leg.Done():
		case <-late.C:
		case <-c.server.stopping.Done():
		}
	}
	c.lifecycle.Wait()
}

// byeTimeout is how long a far end has to confirm the end of a call before it is forgotten, 2 s: the
// signalling repeats the request meanwhile, and goes on with that by itself.
const byeTimeout = 2 * time.Second

func (c *Call) sendLastSound() {
	c.Close(contract.CloseNormal, "")
	if code, _ := c.lifecycle.Closed(); code == contract.CloseNormal {
		_ = c.person.drain(c.lifecycle.Gone())
	} else {
		c.person.leg.Cut()
	}
}

// why returns why the call has ended, as a sentence.
func (c *Call) why() string {
	switch err := context.Cause(c.lifecycle.Gone()); {
	case errors.Is(err, line.ErrLeft):
		return "The far end hung up."
	case errors.Is(err, line.ErrPanicked):
		return "An error inside the box ended it."
	case errors.Is(err, line.ErrClosed):
		select {
		case <-c.lifecycle.Closing():
			if _, reason := c.lifecycle.Closed(); reason != "" {
				return sentence(reason)
			}
		default:
		}
		return "The box hung up."
	case err != nil:
		return sentence(err.Error())
	}
	return "The box hung up."
}

// errHungUp ends a call at an operator's request.
var errHungUp = errors.New("an operator hung up")
