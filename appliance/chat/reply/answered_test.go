package reply

import (
	"testing"

	"parley/appliance/chat/turn"
)

// afterTools is a conversation in which tools have just answered.
func afterTools(answers ...string) turn.Conversation {
	c := told("Is the lift open?")
	for _, a := range answers {
		c.History = append(c.History, turn.Entry{Role: turn.ToolCall, Name: "lift"},
			turn.Entry{Role: turn.ToolResult, Text: a})
	}
	return c
}

func TestWhatAToolHasSaidIsNotAnsweredByNotKnowing(t *testing.T) {
	for _, row := range []struct {
		c       turn.Conversation
		doubted bool
	}{
		{afterTools("It is being repaired."), true},
		{afterTools(turn.NoWords, "Booked."), true},
		{afterTools("Booked.", turn.NoWords), false},
		{afterTools(turn.NoAnswer), false},
		{told("Is the lift open?"), false},
	} {
		if begins := newFacts(row.c).toolBegins(row.c); begins["I"] < 0 != row.doubted {
			t.Errorf("%v: %v", row.c.History[len(row.c.History)-1].Text, begins)
		}
	}
	if newFacts(turn.Conversation{}).toolBegins(afterTools("Yes.")) != nil {
		t.Error("a conversation without facts is held to some")
	}
}

func TestAToolsWordsStandInForWhatIsMadeUp(t *testing.T) {
	for _, row := range []struct {
		answers     []string
		begun, want string
	}{
		{[]string{"No trains today because of a strike."}, "", "No trains today because of a strike."},
		{[]string{"No trains today"}, "The next train leaves", "… No trains today."},
		{[]string{"Rome: 17 degrees", "No data for Oslo."}, "", "Rome: 17 degrees. No data for Oslo."},
		{[]string{`{"trains": []}`}, "", "I do not know."},
		{[]string{`{"trains": []}`}, "The next train leaves", "… I do not know."},
		{[]string{"see https://trains.example"}, "", "I do not know."},
		{[]string{"Yes.", turn.NoWords}, "", "I do not know."},
		{[]string{museum + museum}, "", "I do not know."},
		{nil, "", "I do not know."},
	} {
		f := newFacts(afterTools(row.answers...))
		if row.begun != "" {
			f.pass(row.begun, true)
		}
		if say, on, over := f.pass("at 4:44 pm.", false); say != row.want || on || !over {
			t.Errorf("after %q: %q, %v, %v; want %q", row.answers, say, on, over, row.want)
		}
	}
}
