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
		others := map[string]float64{"I": 0.5, "Yes": -1}
		begins := newFacts(row.c, nil).toolBegins(row.c, others)
		if begins["Yes"] != -1 || begins["I"] < 0 != row.doubted || others["I"] != 0.5 {
			t.Errorf("%v: %v, of %v", row.c.History[len(row.c.History)-1].Text, begins, others)
		}
	}
	if newFacts(turn.Conversation{}, nil).toolBegins(afterTools("Yes."), nil) != nil {
		t.Error("a conversation without facts is held to some")
	}
}

// In place of what a model makes up beside a tool's answer that answer is read out,
// if it was written for that.
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
		f := newFacts(afterTools(row.answers...), nil)
		if row.begun != "" {
			f.pass(row.begun, true)
		}
		if say, on, over := f.pass("at 4:44 pm.", false); say != row.want || on || !over {
			t.Errorf("after %q: %q, %v, %v; want %q", row.answers, say, on, over, row.want)
		}
	}
}
