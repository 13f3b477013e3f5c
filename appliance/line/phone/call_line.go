package phone

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/appliance/contract"
	"parley/appliance/line"
)

// The methods by which a chat uses a Call as its line.

// Send takes a message, from which the call learns the state of the chat. Nobody reads it, so it does not fail
// when the person has hung up: the session learns that by its HangUp.
func (c *Call) Send(_ context.Context, m contract.ServerMessage) error {
	m, tooOften := c.errs.Note(m)
	c.mu.Lock()
	switch m := m.(type) {
	case contract.ChatMetadata:
		c.chatID = m.ChatID
	case contract.UserMessage:
		if !m.Interim && m.Language != "" {
			c.language = m.Language
		}
	case contract.AssistantEnd:
		notify(c.said)
	case contract.WebSocketError:
		c.log.Debug("error in the chat of a call", "code", m.Code, "message", m.Message)
	}
	c.mu.Unlock()
	if tooOften != nil {
		c.Close(contract.ClosePolicy, tooOften.Error())
		return fmt.Errorf("%w after %w", line.ErrClosed, tooOften)
	}
	return nil
}

// Play queues sound for the person, if there is one who hears it.
func (c *Call) Play(_ context.Context, s contract.Sound) error {
	if c.unheard || c.elsewhere() || c.lifecycle.Gone().Err() != nil {
		return nil
	}
	return c.person.play(s)
}

// elsewhere reports whether the person does not hear the assistant, but music or another person.
func (c *Call) elsewhere() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.transferring || c.joined != nil
}

// HeldBack returns the number of samples that wait for more.
func (c *Call) HeldBack() int {
	if c.unheard {
		return 0
	}
	c.person.sound.Lock()
	defer c.person.sound.Unlock()
	return c.person.leg.HeldBack()
}

// Unsent returns the length of the sound that has not left.
func (c *Call) Unsent() time.Duration {
	if c.unheard {
		return 0
	}
	return c.person.leg.Unsent()
}

// Cut drops the sound that was not sent.
func (c *Call) Cut() {
	if !c.unheard && !c.elsewhere() {
		c.person.leg.Cut()
	}
}

// Close ends the call after what is queued. It returns at once; only the first call counts.
func (c *Call) Close(code int, reason string) { c.lifecycle.Close(code, reason) }

// sentence returns the reason for an end as a sentence.
func sentence(reason string) string {
	first, size := utf8.DecodeRuneInString(reason)
	s := string(unicode.ToUpper(first)) + reason[size:]
	if word, _, _ := strings.Cut(reason, " "); strings.Contains(word, "://") {
		s = "At " + reason
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
