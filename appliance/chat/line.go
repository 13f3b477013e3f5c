package chat

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// Receive takes a message of the client, audio excepted. Any goroutine may call
// it. It waits while much of what happened before is still to be written or read
// by the client, 15 s at most; then the chat is over. ErrOver means that it is.
func (c *Session) Receive(m contract.ClientMessage) error {
	return c.catchPanic(func() error {
		if err := c.waitForBacklog(); err != nil {
			return err
		}
		return c.receive(m)
	})
}

// waitForBacklog holds up who brings a message while too much waits to be told.
func (c *Session) waitForBacklog() error {
	if c.backlogDrained() {
		return c.over()
	}
	if c.over() == nil {
		why := c.scribe.Blocked()
		c.post(turn.Aborted{At: turn.At(c.clock()), Code: closeCodeOf(why), Why: why.Error()})
	}
	return ErrOver
}

// backlogDrained waits until little enough waits to be told. False means that it did not
// come to that within patience, or that the chat is over.
func (c *Session) backlogDrained() bool {
	room := c.scribe.Drained()
	if room == nil {
		return true
	}
	late := time.NewTimer(backlogLimit)
	defer late.Stop()
	select {
	case <-room:
		return true
	case <-late.C:
	case <-c.done:
	}
	return false
}

// catchPanic calls f for the line. A panic in it ends the chat.
func (c *Session) catchPanic(f func() error) (err error) {
	if catchPanic(c.log, func() { err = f() }) != nil {
		c.crashed()
		return ErrOver
	}
	return err
}

func (c *Session) receive(m contract.ClientMessage) error {
	if settings, ok := m.(contract.SessionSettings); ok {
		fault, err := c.apply(settings, false)
		if fault != nil {
			c.reportFault(*fault)
		}
		return err
	}
	e, fault := c.eventOf(m)
	if fault != nil {
		c.reportFault(*fault)
	} else {
		c.post(e)
	}
	return c.over()
}

// eventOf is what a message means to the conversation, settings and audio
// excepted, or what is wrong with it.
func (c *Session) eventOf(m contract.ClientMessage) (turn.Event, *contract.Fault) {
	now := turn.At(c.clock())
	switch m := m.(type) {
	case contract.UserInput:
		if !strings.ContainsFunc(m.Text, visible) {
			return nil, malformed("user_input.text is empty")
		}
		return turn.Typed{At: now, Text: m.Text}, nil
	case contract.AssistantInput:
		lines := reply.Sentences(m.Text)
		if len(lines) == 0 {
			return nil, malformed("assistant_input.text has nothing to say")
		}
		return turn.Dictated{At: now, Sentences: lines}, nil
	case contract.PauseAssistantMessage:
		return turn.PauseRequested{At: now}, nil
	case contract.ResumeAssistantMessage:
		return turn.ResumeRequested{At: now}, nil
	case contract.ToolResponseMessage:
		return turn.ToolAnswered{At: now, CallID: m.ToolCallID, Content: m.Content}, nil
	case contract.ToolErrorMessage:
		return turn.ToolAnswered{
			At:      now,
			CallID:  m.ToolCallID,
			Content: m.Content,
			Failed:  true,
			Error:   m.Error,
		}, nil
	}
	return nil, malformed(fmt.Sprintf("type: %q is not taken here", m.MessageType()))
}

// visible reports whether a character says anything: no space, nothing of no
// width, no control character.
func visible(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}

func malformed(why string) *contract.Fault {
	return &contract.Fault{Code: contract.WrongShape, Detail: why}
}

// apply puts settings in force and then tells the ear, so that audio which
// comes after them is heard as they say. A fault that is returned was not told
// to anybody; with aside none was.
func (c *Session) apply(m contract.SessionSettings, aside bool) (*contract.Fault, error) {
	if m.VoiceID != "" {
		if err := c.voices.Prepare(m.VoiceID); err != nil {
			fault := voiceFault(contract.InvalidSettings, err)
			return &fault, c.over()
		}
	}
	if fault := uncallableTool(c.toolChecker, m.Tools); fault != nil {
		return fault, c.over()
	}
	select { // the ear is told in the order in which they come into force
	case c.settingsLock <- struct{}{}:
		defer func() { <-c.settingsLock }()
	case <-c.done:
		return nil, ErrOver
	}
	if fault := c.promptTooLong(m); fault != nil {
		return fault, c.over()
	}
	o, err := c.ask(turn.SettingsRequested{At: turn.At(c.clock()), Message: m}, aside)
	if err == nil {
		c.settings = o.settings
	}
	switch {
	case err != nil || o.fault != nil:
		return o.fault, err
	case !c.ear.Adjust(c.done, o.settings):
		return nil, ErrOver
	}
	return nil, nil
}

// ask posts an event and waits for what came of it.
func (c *Session) ask(e turn.Event, aside bool) (outcome, error) {
	handled := make(chan outcome, 1)
	c.enqueue(queuedEvent{event: e, handled: handled, faultToCaller: aside})
	select {
	case o := <-handled:
		return o, nil
	case <-c.done:
		return outcome{}, ErrOver
	}
}

// Audio is the format that the settings say of headerless audio; nil means that
// it comes in a container. It changes with the settings that were received last.
// Any goroutine may ask.
func (c *Session) Audio() *contract.AudioConfiguration { return c.audio.Load() }

// Hear takes sound of the user, mono at engine.SpeechRateHz, a few seconds at
// most, and owns it from now on. No samples say that the line lives and more
// will follow. It waits while the ear has more than a second to catch up on, or
// nothing to listen to. It is called by one goroutine at a time.
func (c *Session) Hear(pcm []float32) error {
	return c.catchPanic(func() error { return c.hear(pcm) })
}

func (c *Session) hear(pcm []float32) error {
	if !c.ear.Hear(c.done, pcm) {
		return ErrOver
	}
	c.gatherChunks()
	return nil
}

const (
	// gatherTime is how long small chunks may gather in the network's buffers
	// while nobody speaks. Each chunk that is taken as it comes wakes half a
	// dozen threads for 30 µs of work; six at a time cost a fourth. What a user
	// begins to say is noticed so much later, and nothing depends on that.
	gatherTime = 100 * time.Millisecond
	// smallChunk is the distance between chunks below which they are worth
	// gathering: native clients send every 20 ms, web clients every 100 ms.
	smallChunk = 40 * time.Millisecond
	// backlogGap is the distance between chunks below which the later one did not
	// have to be waited for: others may lie behind it, and they are late enough.
	backlogGap = 5 * time.Millisecond
)

// gatherChunks holds up who brings audio, while there is nothing to hear in it.
func (c *Session) gatherChunks() {
	if c.unbuffered {
		return
	}
	gap := time.Since(c.lastChunk)
	if c.ear.Idle() && gap > backlogGap && gap <= smallChunk {
		select {
		case <-time.After(gatherTime):
		case <-c.done:
		}
	}
	c.lastChunk = time.Now()
}

// Fault tells the client, in order with everything else, of a message that
// could not be used. It waits as Receive does.
func (c *Session) Fault(code contract.Code, detail string) error {
	if err := c.waitForBacklog(); err != nil {
		return err
	}
	c.reportFault(contract.Fault{Code: code, Detail: detail})
	return c.over()
}

func (c *Session) reportFault(f contract.Fault) {
	c.post(turn.FaultReported{At: turn.At(c.clock()), Fault: f})
}

// Played says how much of the sound of the assistant message id the client has
// played. It is for lines that know; of others the session goes by the clock.
func (c *Session) Played(id string, upTo time.Duration) {
	c.post(turn.Played{At: turn.At(c.clock()), ID: id, UpTo: upTo})
}

// HangUp says that the client has gone.
func (c *Session) HangUp() { c.post(turn.HungUp{At: turn.At(c.clock())}) }

// CutOff says that the line has cut off its client, and why: the chat ends with
// an error.
func (c *Session) CutOff(why error) {
	c.log.Warn("the chat is cut off", "err", why)
	c.post(turn.Aborted{At: turn.At(c.clock()), Code: contract.ClosePolicy, Why: why.Error()})
}

func (c *Session) over() error {
	select {
	case <-c.done:
		return ErrOver
	default:
		return nil
	}
}
