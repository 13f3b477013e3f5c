package record

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/store"
)

// Records writes chats.
type Records interface {
	// WriteChat writes everything in w, or nothing.
	WriteChat(ctx context.Context, chatID string, w store.ChatWrite) error
	EndChat(ctx context.Context, chatID string, status store.Status, atMS int64, last ...store.Event) error
}

// History returns what was said in a chat group, and what its tools answered, from its events. Calls without
// an answer are left out.
func History(events []store.Event) []turn.Entry {
	calls := map[string]turn.Entry{} // that have no answer so far
	var out []turn.Entry
	for _, e := range events {
		switch e.Type {
		case store.UserMessage:
			out = joined(out, turn.Entry{Role: turn.User, Text: cmp.Or(messageOf(e).Words, e.MessageText)})
		case store.AgentMessage:
			if messageOf(e).Quick { // it only filled the time until the answer came
				continue
			}
			out = joined(out, turn.Entry{
				Role:     turn.Assistant,
				Text:     e.MessageText,
				GoesOn:   strings.HasSuffix(e.MessageText, turn.CutMark),
				AnswerID: messageOf(e).AnswerID,
			})
		case store.FunctionCall:
			if m := toolOf(e); m.ToolCallID != "" {
				calls[m.ToolCallID] = turn.Entry{
					Role: turn.ToolCall,
					ID:   m.ToolCallID,
					Name: m.Name,
					Text: arguments(e.MessageText),
				}
			}
		case store.FunctionCallResponse:
			m := toolOf(e)
			if call, open := calls[m.ToolCallID]; open {
				delete(calls, m.ToolCallID)
				out = append(out, call, turn.Entry{Role: turn.ToolResult, ID: call.ID,
					Text: turn.Result(e.MessageText, m.Error != "")})
			}
		}
	}
	return out
}

// joined returns a history with one more entry. Consecutive entries of one speaker become one entry, unless
// they are of different approved answers, and an entry that was interrupted before its first word is dropped.
func joined(history []turn.Entry, e turn.Entry) []turn.Entry {
	n := len(history)
	inARow := n > 0 && history[n-1].Role == e.Role && history[n-1].AnswerID == e.AnswerID
	switch {
	case e.Text == turn.CutMark:
		if inARow {
			history[n-1].GoesOn = true
		}
		return history
	case inARow:
		history[n-1].Text += " " + e.Text
		history[n-1].GoesOn = e.GoesOn
		return history
	}
	return append(history, e)
}

func messageOf(e store.Event) (m contract.MessageMetadata) {
	if json.Unmarshal([]byte(e.Metadata), &m) != nil {
		return contract.MessageMetadata{}
	}
	return m
}

func toolOf(e store.Event) (m contract.ToolMetadata) {
	if json.Unmarshal([]byte(e.Metadata), &m) != nil {
		return contract.ToolMetadata{}
	}
	return m
}

// arguments returns the arguments of a call as valid JSON.
func arguments(text string) string {
	if !json.Valid([]byte(text)) {
		return "{}"
	}
	return text
}
