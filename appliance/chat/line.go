package chat

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// A Line carries one conversation to a person and back. It calls the
// Session's Receive, Hear, Played, Fault and HangUp; the session calls it. What
// format the sound has on its way is the line's affair, both ways.
type Line interface {
	// Send gives the client a message, and Play a piece of sound, which it
	// plays after the one before; the message of its id was sent before. Both
	// are called by one goroutine, in the order in which things happened, and
	// block no longer than the line's own bound; an error means that the line
	// is gone or too slow.
	Send(ctx context.Context, m contract.ServerMessage) error
	Play(ctx context.Context, s contract.Sound) error
	// Kept is how many samples, the newest that Play was given, wait for more to
	// come and have not left. It is called by the goroutine that calls Play.
	Kept() int
	// Cut drops the sound that was given to Play, also the one that Play is at,
	// as far as it has not left: nobody is to hear it any more. It returns at
	// once, and comes from any goroutine.
	Cut()
	// Close ends the line. It is called once, after the last Send, with a
	// WebSocket close code that other lines map to their own.
	Close(code int, reason string)
}

// Receive takes a message of the client, audio excepted. Any goroutine may call
// it. It waits while much of what happened before is still to be written or read
// by the client, 15 s at most; then the chat is over. ErrOver means that it is.
func (c *Session) Receive(m contract.ClientMessage) error {
	return c.guarded(func() error {
		if err := c.waitForRoom(); err != nil {
			return err
		}
		return c.receive(m)
	})
}

// waitForRoom holds up who brings a message while too much waits to be told.
func (c *Session) waitForRoom() error {
	room := c.scribe.Room()
	if room == nil {
		return c.over()
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-room:
		return nil
	case <-late.C:
		why := c.scribe.Blocked()
		c.post(turn.Lost{At: turn.At(c.clock()), Code: codeOf(why), Why: why.Error()})
	case <-c.done:
	}
	return ErrOver
}

// guarded calls f for the line. A panic in it ends the chat.
func (c *Session) guarded(f func() error) (err error) {
	if guard(c.log, func() { err = f() }) != nil {
		c.crashed()
		return ErrOver
	}
	return err
}

func (c *Session) receive(m contract.ClientMessage) error {
	now := turn.At(c.clock())
	switch m := m.(type) {
	case contract.SessionSettings:
		return c.apply(m)
	case contract.UserInput:
		if strings.TrimSpace(m.Text) == "" {
			return c.fault(contract.WrongShape, "user_input.text is empty")
		}
		c.post(turn.Typed{At: now, Text: m.Text})
	case contract.AssistantInput:
		lines := reply.Sentences(m.Text)
		if len(lines) == 0 {
			return c.fault(contract.WrongShape, "assistant_input.text has nothing to say")
		}
		c.post(turn.Dictated{At: now, Sentences: lines})
	case contract.PauseAssistantMessage:
		c.post(turn.PauseAsked{At: now})
	case contract.ResumeAssistantMessage:
		c.post(turn.ResumeAsked{At: now})
	case contract.ToolResponseMessage:
		return c.unasked(m.ToolCallID)
	case contract.ToolErrorMessage:
		return c.unasked(m.ToolCallID)
	default:
		return c.fault(contract.WrongShape, fmt.Sprintf("type: %q is not taken here", m.MessageType()))
	}
	return c.over()
}

func (c *Session) unasked(id string) error {
	return c.fault(contract.UnexpectedTool, fmt.Sprintf("tool_call_id: no tool call %q is open", id))
}

// apply puts settings in force and then tells the ear, so that audio which
// comes after them is heard as they say.
func (c *Session) apply(m contract.SessionSettings) error {
	if m.VoiceID != "" {
		if err := c.voices.Prepare(m.VoiceID); err != nil {
			c.post(turn.Faulty{At: turn.At(c.clock()), Fault: noVoice(contract.InvalidSettings, err)})
			return c.over()
		}
	}
	select { // the ear is told in the order in which they come into force
	case c.applying <- struct{}{}:
		defer func() { <-c.applying }()
	case <-c.done:
		return ErrOver
	}
	inForce := make(chan turn.Settings, 1)
	c.hand(posted{turn.SettingsAsked{At: turn.At(c.clock()), Message: m}, inForce})
	select {
	case s := <-inForce:
		if !c.ear.Adjust(c.done, s) {
			return ErrOver
		}
		return nil
	case <-c.done:
		return ErrOver
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
	return c.guarded(func() error { return c.hear(pcm) })
}

func (c *Session) hear(pcm []float32) error {
	if !c.ear.Hear(c.done, pcm) {
		return ErrOver
	}
	c.rest()
	return nil
}

const (
	// restFor is how long small chunks may gather in the network's buffers
	// while nobody speaks. Each chunk that is taken as it comes wakes half a
	// dozen threads for 30 µs of work; six at a time cost a fourth. What a user
	// begins to say is noticed so much later, and nothing depends on that.
	restFor = 100 * time.Millisecond
	// smallChunk is the distance between chunks below which they are worth
	// gathering: native clients send every 20 ms, web clients every 100 ms.
	smallChunk = 40 * time.Millisecond
	// backlog is the distance between chunks below which the later one did not
	// have to be waited for: others may lie behind it, and they are late enough.
	backlog = 5 * time.Millisecond
)

// rest holds up who brings audio, while there is nothing to hear in it.
func (c *Session) rest() {
	gap := time.Since(c.chunkAt)
	if c.ear.Idle() && gap > backlog && gap <= smallChunk {
		select {
		case <-time.After(restFor):
		case <-c.done:
		}
	}
	c.chunkAt = time.Now()
}

// Fault tells the client, in order with everything else, of a message that
// could not be used. It waits as Receive does.
func (c *Session) Fault(code contract.Code, detail string) error {
	if err := c.waitForRoom(); err != nil {
		return err
	}
	return c.fault(code, detail)
}

func (c *Session) fault(code contract.Code, detail string) error {
	c.post(turn.Faulty{At: turn.At(c.clock()), Fault: contract.Fault{Code: code, Detail: detail}})
	return c.over()
}

// Played says how much of the sound of the assistant message id the client has
// played. It is for lines that know; of others the session goes by the clock.
func (c *Session) Played(id string, upTo time.Duration) {
	c.post(turn.Played{At: turn.At(c.clock()), ID: id, UpTo: upTo})
}

// HangUp says that the client has gone.
func (c *Session) HangUp() { c.post(turn.HungUp{At: turn.At(c.clock())}) }

func (c *Session) over() error {
	select {
	case <-c.done:
		return ErrOver
	default:
		return nil
	}
}
