package reply

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
)

const station = "You are the voice of the railway station. Lockers are beside the north entrance, and cost 3 " +
	"dollars. The train to Bonn leaves at 14:20."

func atStation(asked string, more ...turn.Entry) turn.Think {
	c := turn.Conversation{Facts: &turn.Facts{
		Told:    station,
		Unknown: "I'm sorry, I don't know that.",
		Spelt:   true,
		Yes:     []string{"Yes", "Sure"},
	}}
	c.History = append([]turn.Entry{{Role: turn.User, Text: asked}}, more...)
	return turn.Think{Turn: 1, Conversation: c}
}

// What holds now, or for who asks, nobody knows who was not told; what is common
// knowledge may be said.
func TestTimesOfTodayAreNotMadeUp(t *testing.T) {
	for _, c := range []struct {
		asked, said, want string
	}{
		{"When does the next train to Hamburg leave?", "It leaves at 10:30 from platform 1.",
			"I'm sorry, I don't know that."},
		{"When does the next train to Bonn leave?", "It leaves at 14:20.", "It leaves at 14:20."},
		{"What is the balance of my account?", "It is 250 dollars.", "I'm sorry, I don't know that."},
		{"What does a locker cost today?", "3 dollars.", "3 dollars."},
		{"What's your phone number?", "My phone number is 123-456-7890.", "I'm sorry, I don't know that."},
		{"How much will it cost?", "About 80.", "I'm sorry, I don't know that."},
		{"When do you open?", "We open in 4 weeks.", "I'm sorry, I don't know that."},
		{"How much is two plus two?", "It is 4.", "It is 4."},
		{"How long do eggs boil?", "About 10 minutes.", "About 10 minutes."},
		{"How much should my son sleep?", "About 10 hours.", "About 10 hours."},
		{"How many days does April have?", "It has 30 days.", "It has 30 days."},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := alone(&scripted{pieces: []string{c.said}})
			wantSaid(t, thought(t, m, atStation(c.asked), Manner{}, newSchedule(true, time.Now())), c.want, "end")
		})
	}
}

// Whether something is so just now of which nobody told is answered by neither yes nor
// no; what was told of, or is no such question, as ever.
func TestHowThingsAreNowIsNotGuessed(t *testing.T) {
	result := []turn.Entry{{
		Role: turn.ToolCall,
		ID:   "c",
		Name: "flights",
		Text: "{}",
	}, {Role: turn.ToolResult, ID: "c", Text: "It is late."}}
	for _, c := range []struct {
		think turn.Think
		want  bool
	}{
		{atStation("Is flight LX 318 on time?"), true},
		{atStation("Are my blood results in yet?"), true},
		{atStation("Hello. Is the oven still on?"), true},
		{atStation("Is the train to Bonn on time?"), false},
		{atStation("Is the oven hot?"), false},
		{atStation("Is it still there?"), false},
		{atStation("What is still there?"), false},
		{atStation("Is flight LX 318 on time?", result...), false},
		{turn.Think{Conversation: turn.Conversation{
			History: []turn.Entry{{Role: turn.User, Text: "Is the oven still on?"}}}}, false},
		{turn.Think{}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &scripted{pieces: []string{"Hm."}}
			thought(t, alone(m), c.think, Manner{}, newSchedule(true, time.Now()))
			if got := m.asked[0].Begins["I'm"] >= certain && m.asked[0].Begins["Yes"] <= -certain; got != c.want {
				t.Errorf("%q: %v", asked(c.think.Conversation), m.asked[0].Begins)
			}
			if m.asked[0].NoClaims != (c.think.Facts != nil) {
				t.Errorf("%q: what is claimed is watched: %v", asked(c.think.Conversation), m.asked[0].NoClaims)
			}
		})
	}
}

// What a tool tells nobody knows who has not called it, whatever the prompt.
func TestWhatAToolTellsIsNotMadeUp(t *testing.T) {
	weather := []turn.Tool{{Name: "get_current_weather", Description: "This tool is for getting the current weather."}}
	result := []turn.Entry{{
		Role: turn.ToolCall,
		ID:   "c",
		Name: "get_current_weather",
		Text: "{}",
	}, {Role: turn.ToolResult, ID: "c", Text: "61F and windy."}}
	for _, c := range []struct {
		asked, said, want string
		more              []turn.Entry
		unknown           bool
	}{
		{"What's the weather like?", "It is 72 degrees.", "I'm sorry, I don't know that.", nil, true},
		{"Tell me the weather in Rome.", "It is 72 degrees there.", "I'm sorry, I don't know that.", nil, false},
		{"What's the weather like?", "It is 61 degrees.", "It is 61 degrees.", result, false},
		{"How long do eggs boil?", "About 10 minutes.", "About 10 minutes.", nil, false},
		{"What is weather?", "It is what the air does.", "It is what the air does.", nil, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			think := atStation(c.asked, c.more...)
			think.Tools, think.Facts.Told = weather, "You are a voice assistant."
			m := &scripted{pieces: []string{c.said}}
			wantSaid(t, thought(t, alone(m), think, Manner{}, newSchedule(true, time.Now())), c.want, "end")
			think.Facts.Told = "A weather report costs 3 dollars."
			told := &scripted{pieces: []string{c.said}}
			thought(t, alone(told), think, Manner{}, newSchedule(true, time.Now()))
			if told.asked[0].Begins["I'm"] >= certain {
				t.Errorf("%q: what the prompt may tell is not known", c.asked)
			}
			if got := m.asked[0].Begins["I'm"] >= certain; got != c.unknown {
				t.Errorf("%q: an answer begins with %v", c.asked, m.asked[0].Begins)
			}
		})
	}
}

// The box's own prompt tells the time, which makes no facts of it.
func TestTheBoxsOwnPromptHoldsNoFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		think := atStation("What's the capital of Italy?")
		think.Facts.Told, think.Facts.Own = "In one or two sentences. The time now is Monday, 2 March 2026, 10:15.",
			true
		think.Tools = []turn.Tool{{Name: "get_weather", Description: "Get the weather."}}
		m := &scripted{pieces: []string{"It is Rome, with 3 million people."}}
		wantSaid(t, thought(t, alone(m), think, Manner{}, newSchedule(true, time.Now())),
			"It is Rome, with 3 million people.", "end")
	})
}
