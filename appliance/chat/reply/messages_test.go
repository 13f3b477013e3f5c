package reply

import (
	"reflect"
	"testing"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// Consecutive sentences are one message, a context belongs to the user's words, and tool calls have their
// results.
func TestMessagesOfAHistory(t *testing.T) {
	got := messages(turn.Conversation{Prompt: "Be brief.", History: []turn.Entry{
		{Role: turn.User, Text: "Where am I?"},
		{Role: turn.Context, Text: "Room 12."},
		{Role: turn.Assistant, ID: "a", Text: "Let me see."},
		{Role: turn.Assistant, ID: "b", Text: "One moment."},
		{
			Role: turn.ToolCall,
			ID:   "c",
			Name: "where",
			Text: `{"who":"me"}`,
		},
		{Role: turn.ToolResult, ID: "c", Text: "Room 12"},
		{
			Role:   turn.Assistant,
			ID:     "d",
			Text:   "Room…",
			GoesOn: true,
		},
		{Role: turn.Assistant, ID: "e", Text: "twelve."},
		{Role: turn.User, Text: "Which?"},
		{
			Role:   turn.Assistant,
			ID:     "f",
			Text:   "Room…",
			GoesOn: true,
		},
	}})
	want := []engine.Message{
		{Role: engine.System, Content: "Be brief."},
		{Role: engine.User, Content: "Where am I? {Context: Room 12.}"},
		{Role: engine.Assistant, Content: "Let me see. One moment.",
			Calls: []engine.ToolCall{{ID: "c", Name: "where", Arguments: `{"who":"me"}`}}},
		{Role: engine.ToolRole, CallID: "c", Content: "Room 12"},
		{Role: engine.Assistant, Content: "Room twelve."},
		{Role: engine.User, Content: "Which?"},
		{Role: engine.Assistant, Content: "Room…", Interrupted: true},
	}
	if len(got) == len(want) && got[0].Role == want[0].Role {
		got[0].Content = want[0].Content // the box's own rules may precede it
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the model sees\n%+v\nwant\n%+v", got, want)
	}
}
