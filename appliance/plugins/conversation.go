package plugins

import (
	"context"
	"encoding/json"
	"slices"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
)

// maxConversation bounds the part of a conversation that a plugin sees, in bytes: about an
// hour. Of a longer one it sees the newest part.
const maxConversation = 256 << 10

// conversation is a conversation as a plugin may see it.
type conversation []turn.Entry

// Transcript implements sandbox.Conversation: it returns the messages as JSON, with the
// expression scores if the plugin may see them.
func (t conversation) Transcript(_ context.Context, feelings bool) (json.RawMessage, error) {
	return json.Marshal(t.lines(feelings))
}

// lines returns the messages, newest last. Consecutive messages of the assistant become
// one.
func (t conversation) lines(feelings bool) []contract.SpokenLine {
	all := []contract.SpokenLine{}
	room := maxConversation
	for _, e := range slices.Backward(t) {
		var line contract.SpokenLine
		switch e.Role {
		case turn.User:
			line = contract.SpokenLine{Role: contract.RoleUser, Text: e.Text}
			if feelings && e.Scores != nil {
				line.Expression = e.Scores
			}
		case turn.Assistant:
			line = contract.SpokenLine{Role: contract.RoleAssistant, Text: e.Text}
		default:
			continue
		}
		written, err := json.Marshal(line)
		if room -= len(written) + 1; err != nil || room < 0 {
			break
		}
		if n := len(all); n > 0 && line.Role == contract.RoleAssistant && all[n-1].Role == line.Role {
			all[n-1].Text = line.Text + " " + all[n-1].Text
			continue
		}
		all = append(all, line)
	}
	slices.Reverse(all)
	return all
}

// turnCall returns the parameters of on_turn.
func turnCall(q reply.Question, feelings bool) contract.TurnCall {
	c := contract.TurnCall{
		Language:        q.Conversation.Language,
		Guess:           q.Speculative,
		ChatID:          q.ChatID,
		ChatGroupID:     q.GroupID,
		ConfigID:        q.ConfigID,
		CustomSessionID: q.CustomSessionID,
	}
	c.Conversation = conversation(q.Conversation.History).lines(feelings)
	if n := len(c.Conversation); n > 0 {
		c.Text = c.Conversation[n-1].Text
	}
	return c
}
