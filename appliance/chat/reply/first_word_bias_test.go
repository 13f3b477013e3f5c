package reply

import (
	"testing"

	"parley/appliance/chat/turn"
)

const museum = "You are the voice of a museum. It is open from 10 am to 17:45. A ticket costs 14 dollars, for " +
	"students $9.50. Dogs stay outside. "

// askedOfFacts returns a question at the museum.
func askedOfFacts(user string) turn.Conversation {
	return turn.Conversation{
		CustomPrompt: museum,
		CheckAnswers: true,
		Factual:      true,
		History:      []turn.Entry{{Role: turn.User, Text: user}},
	}
}

// afterTools returns a conversation in which tools have just answered.
func afterTools(answers ...string) turn.Conversation {
	c := askedOfFacts("Is the lift open?")
	for _, a := range answers {
		c.History = append(c.History, turn.Entry{Role: turn.ToolCall, Name: "lift"},
			turn.Entry{Role: turn.ToolResult, Text: a})
	}
	return c
}

func TestAToolsAnswerMakesNotKnowingUnlikely(t *testing.T) {
	unchecked := afterTools("Yes.")
	unchecked.CheckAnswers = false
	for _, row := range []struct {
		c       turn.Conversation
		doubted bool
	}{
		{afterTools("It is being repaired."), true},
		{afterTools(turn.EmptyResult, "Booked."), true},
		{afterTools("Booked.", turn.EmptyResult), false},
		{afterTools(turn.FailedResult), false},
		{askedOfFacts("Is the lift open?"), false},
		{unchecked, false},
	} {
		if begins := firstWordBias(row.c); begins["I'm"] < 0 != row.doubted {
			t.Errorf("%v: %v", row.c.History[len(row.c.History)-1].Text, begins)
		}
	}
}

func TestYesIsLessLikelyWithAFactualPrompt(t *testing.T) {
	facts, none := askedOfFacts("Are you open at six?"), askedOfFacts("Are you open at six?")
	none.Factual = false
	unchecked := askedOfFacts("Are you open at six?")
	unchecked.CheckAnswers = false
	german := askedOfFacts("Haben Sie um sechs offen?")
	german.Language = "de"
	if firstWordBias(facts)["Yes"] >= 0 || firstWordBias(german)["Ja"] >= 0 {
		t.Errorf("%v, %v", firstWordBias(facts), firstWordBias(german))
	}
	if firstWordBias(none)["Yes"] != 0 || firstWordBias(unchecked)["Yes"] != 0 ||
		firstWordBias(turn.Conversation{CheckAnswers: true}) != nil {
		t.Errorf("%v, %v", firstWordBias(none), firstWordBias(unchecked))
	}
}
