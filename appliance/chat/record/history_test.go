package record

import (
	"reflect"
	"testing"

	"parley/appliance/chat/turn"
	"parley/store"
)

// A resumed history holds what was heard, and the model sees where it was interrupted.
func TestAHistoryMarksInterruptions(t *testing.T) {
	said := func(kind store.EventType, text string) store.Event { return store.Event{Type: kind, MessageText: text} }
	got := History([]store.Event{
		said(store.UserMessage, "When?"), said(store.AgentMessage, "At ten."),
		said(store.UserMessage, "When?"), said(store.AgentMessage, "It is…"), said(store.AgentMessage, "open at ten."),
		said(store.UserMessage, "When?"), said(store.AgentMessage, "It is"), said(store.AgentMessage, "…"),
		said(store.UserMessage, "When?"), said(store.AgentMessage, "…"), said(store.UserMessage, "Stop."),
		said(store.AgentMessage, "At…"),
	})
	user := turn.Entry{Role: turn.User, Text: "When?"}
	want := []turn.Entry{
		user, {Role: turn.Assistant, Text: "At ten."},
		user, {Role: turn.Assistant, Text: "It is… open at ten."},
		user, {Role: turn.Assistant, Text: "It is", GoesOn: true},
		{Role: turn.User, Text: "When? Stop."}, {Role: turn.Assistant, Text: "At…", GoesOn: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
