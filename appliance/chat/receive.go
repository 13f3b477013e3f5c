package chat

import (
	"fmt"
	"strings"
	"time"

	"parley/appliance/contract"
)

// Receive takes a message of the client. It waits no longer than the session
// needs for the events before it; ErrOver means that the chat has ended.
func (c *Session) Receive(m contract.ClientMessage) error {
	now := At(c.clock())
	switch m := m.(type) {
	case contract.AudioInput:
		return c.Hear(m.Data)
	case contract.SessionSettings:
		return c.settle(m)
	case contract.UserInput:
		if strings.TrimSpace(m.Text) == "" {
			return c.Fault(contract.WrongShape, "user_input.text is empty")
		}
		c.post(Typed{now, m.Text})
	case contract.AssistantInput:
		lines := sentences(m.Text)
		if len(lines) == 0 {
			return c.Fault(contract.WrongShape, "assistant_input.text has nothing to say")
		}
		c.post(Dictated{now, lines})
	case contract.PauseAssistantMessage:
		c.post(PauseAsked{now})
	case contract.ResumeAssistantMessage:
		c.post(ResumeAsked{now})
	case contract.ToolResponseMessage:
		return c.unasked(m.ToolCallID)
	case contract.ToolErrorMessage:
		return c.unasked(m.ToolCallID)
	default:
		return c.Fault(contract.WrongShape, fmt.Sprintf("type: %q is not taken here", m.MessageType()))
	}
	return c.over()
}

func (c *Session) unasked(id string) error {
	return c.Fault(contract.UnexpectedTool, fmt.Sprintf("tool_call_id: no tool call %q is open", id))
}

// settle puts settings in force and then tells the ear, so that audio which
// comes after them is heard as they say.
func (c *Session) settle(m contract.SessionSettings) error {
	if m.VoiceID != "" {
		if _, err := c.mouth.voices.Voice(m.VoiceID); err != nil {
			return c.Fault(contract.InvalidSettings, "voice_id: "+err.Error())
		}
	}
	settled := make(chan Settings, 1)
	c.post(SettingsAsked{At: At(c.clock()), Message: m, Settled: settled})
	select {
	case s := <-settled:
		return c.tellEar(earful{settings: &s})
	case <-c.done:
		return ErrOver
	}
}

// Hear takes bytes of audio in the format that the settings say. It owns them
// from now on, and waits while the ear has more than a second to catch up on, or
// nothing to listen to. It is called by one goroutine at a time.
func (c *Session) Hear(audio []byte) error {
	if len(audio) == 0 {
		return c.over()
	}
	if err := c.tellEar(earful{chunk: audio}); err != nil {
		return err
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
	if c.ear.idle.Load() && gap > backlog && gap <= smallChunk {
		select {
		case <-time.After(restFor):
		case <-c.done:
		}
	}
	c.chunkAt = time.Now()
}

func (c *Session) tellEar(in earful) error {
	select {
	case c.ear.queue <- in:
		return nil
	case <-c.done:
		return ErrOver
	}
}

// Fault tells the client, in order with everything else, of a message that
// could not be used.
func (c *Session) Fault(code contract.Code, detail string) error {
	c.post(Faulty{At(c.clock()), contract.Fault{Code: code, Detail: detail}})
	return c.over()
}

// HangUp says that the client has gone.
func (c *Session) HangUp() { c.post(HungUp{At(c.clock())}) }

func (c *Session) over() error {
	select {
	case <-c.done:
		return ErrOver
	default:
		return nil
	}
}
