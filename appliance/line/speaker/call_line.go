package speaker

import (
	"context"
	"time"

	"parley/appliance/contract"
	"parley/appliance/language"
)

// The methods by which a chat uses a Call as its line.

// Send takes a message, from which the call learns the state of the chat. Nobody reads it.
func (c *Call) Send(_ context.Context, m contract.ServerMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.lifecycle.Err(); err != nil {
		return err
	}
	switch m := m.(type) {
	case contract.ChatMetadata:
		c.speaker.status.set(func(n *Status) { n.ChatID = m.ChatID })
	case contract.UserMessage:
		if m.Interim {
			break
		}
		c.language, c.thinking = m.Language, time.Now()
		if !m.FromText && language.Stops(m.Message.Content) {
			c.end(endSaid)
		}
	case contract.AssistantMessage:
		c.answered = true
	case contract.AssistantEnd:
		c.thinking = time.Time{}
	case contract.WebSocketError:
		c.thinking = time.Time{}
		if m.Code.CloseCode() == contract.CloseNormal {
			break // the maximum duration of the chat is over
		}
		c.speaker.Log.Warn("error in the chat at the kiosk", "code", m.Code, "message",
			m.Message)
	default:
		return nil
	}
	notify(c.activity)
	return nil
}

// Play queues sound for the loudspeaker.
func (c *Call) Play(_ context.Context, s contract.Sound) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.lifecycle.Err(); err != nil {
		return err
	}
	if s.ID != c.sentID || s.Index == 0 {
		c.sentID, c.sent = s.ID, 0
	}
	from := c.sent
	c.sent += len(s.PCM)
	return c.speaker.playout.play(s, from)
}

// HeldBack returns 0, because Play holds nothing back.
func (c *Call) HeldBack() int { return 0 }

// Unsent returns 0, because the call reports what was played.
func (c *Call) Unsent() time.Duration { return 0 }

// Cut drops the sound that the loudspeaker has not got. What it has buffered is still
// heard.
func (c *Call) Cut() { c.speaker.playout.cut() }

// Close records how the session has ended.
func (c *Call) Close(code int, reason string) { c.lifecycle.Close(code, reason) }
