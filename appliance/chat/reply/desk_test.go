package reply

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/clerk"
)

// atMuseum is what somebody says at the museum's desk.
func atMuseum(user string) turn.Think {
	c := told(user)
	c.Facts.Yes, c.Facts.Reckon = []string{"Yes", "Sure"}, true
	return turn.Think{Turn: 1, Conversation: c}
}

// deskOf is the museum's.
func deskOf(c turn.Conversation) *clerk.Desk { return new(desk).at(c) }

// The model says what a sum is made of, and the box what that makes.
func TestSumsAreReckonedByTheBox(t *testing.T) {
	for _, c := range []struct {
		asked   string
		pieces  []string
		grammar bool
		want    []string
	}{
		{"What do two adults pay?", []string{"2 times ", "14 dollars, that is"}, true,
			[]string{"2 times 14 dollars,", "that is 28 dollars.", "end"}},
		{"What do seven adults and a map cost together?", []string{"7 times 14 dollars plus 50 cents, that is"}, true,
			[]string{"7 times 14 dollars plus 50 cents,", "that is 98 dollars and 50 cents.", "end"}},
		{"What do two dogs pay?", []string{"I do not know."}, true, []string{"I do not know.", "end"}},
		{"What does an adult pay?", []string{"14 dollars."}, false, []string{"14 dollars.", "end"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			model := &scripted{pieces: c.pieces}
			m := alone(model)
			m.desk = &desk{}
			wantSaid(t, thought(t, m, atMuseum(c.asked), Manner{}, newSchedule(true, time.Now())), c.want...)
			if g := model.asked[0].Grammar; (g != "") != c.grammar ||
				c.grammar && (!strings.Contains(g, `"14 dollars"`) || !strings.Contains(g, "I do not know.")) {
				t.Errorf("%q: the grammar is %q", c.asked, g)
			}
		})
	}
}

// With tools a grammar cannot be had, and a model on a server knows none; nor does
// the one that answers in its place.
func TestOnlyAModelThatFollowsAGrammarIsHeldToOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &scripted{pieces: []string{"#"}}, &scripted{pieces: []string{"28 dollars."}}
		m := alone(first, second)
		m.desk = &desk{}
		wantSaid(t, thought(t, m, atMuseum("What do two adults pay?"), Manner{}, newSchedule(true, time.Now())),
			"28 dollars.", "end")
		if first.asked[0].Grammar == "" || second.asked[0].Grammar != "" {
			t.Errorf("grammars %q and %q", first.asked[0].Grammar, second.asked[0].Grammar)
		}
		think := atMuseum("What do two adults pay?")
		think.Tools = []turn.Tool{{Name: "weather"}}
		thought(t, m, think, Manner{}, newSchedule(true, time.Now()))
		think = atMuseum("What do two adults pay?")
		think.Facts.Reckon = false
		thought(t, m, think, Manner{}, newSchedule(true, time.Now()))
		for _, p := range first.asked[1:] {
			if p.Grammar != "" {
				t.Errorf("the grammar is %q", p.Grammar)
			}
		}
	})
}

// What follows by the calendar is likelier than what the model would say, and a
// time as the facts write it stands behind the question, now and later.
func TestTheModelIsToldWhatFollows(t *testing.T) {
	c := atMuseum("Are you open at eight in the evening on Thursday?").Conversation
	b := newFacts(c, deskOf(c)).begins(c)
	if b["Yes"] <= 0 || b["No"] >= 0 {
		t.Errorf("on Thursday: %v", b)
	}
	c = atMuseum("Are you open at eight on Friday evening?").Conversation
	if b := newFacts(c, deskOf(c)).begins(c); b["Yes"] >= 0 || b["Sure"] >= 0 || b["No"] <= 0 {
		t.Errorf("on Friday: %v", b)
	}
	c = atMuseum("Do you have a dentist?").Conversation
	if b := newFacts(c, deskOf(c)).begins(c); b["Yes"] >= 0 || b["No"] >= 0 || b["I"] <= 0 {
		t.Errorf("of what was not told: %v", b)
	}
	c.Tools = []turn.Tool{{Name: "find"}}
	if b := newFacts(c, deskOf(c)).begins(c); b["No"] != 0 {
		t.Errorf("of what a tool may find: %v", b)
	}
	c.Tools = nil
	c.History = append([]turn.Entry{{Role: turn.Context, Text: "The dentist is on holiday."}}, c.History...)
	if b := newFacts(c, deskOf(c)).begins(c); b["No"] != 0 {
		t.Errorf("of what a context told: %v", b)
	}
	c = atMuseum("Do you like it here?").Conversation
	if b := newFacts(c, deskOf(c)).begins(c); b["Yes"] >= 0 || b["No"] != 0 {
		t.Errorf("otherwise: %v", b)
	}
	c = atMuseum("Are you open at eight on Friday evening?").Conversation
	c.History = append(c.History, turn.Entry{Role: turn.ToolCall, Name: "find", Text: "{}"},
		turn.Entry{Role: turn.ToolResult, Text: "Open all night."})
	if b := newFacts(c, deskOf(c)).begins(c); b["No"] != 0 {
		t.Errorf("after a tool: %v", b)
	}
	c = atMuseum("May I bring my umbrella?").Conversation
	c.Facts.Told += " Umbrellas may not come in."
	if b := newFacts(c, deskOf(c)).begins(c); b["Yes"] >= -yesDoubt || b["No"] <= 0 {
		t.Errorf("where the nearest fact refuses: %v", b)
	}
	c = atMuseum("I am fourteen. What does a ticket cost?").Conversation
	if g := newFacts(c, deskOf(c)).opening(c); g != `root ::= "Under 16 nothing."` {
		t.Errorf("for an age: %q", g)
	}
	c.Tools = []turn.Tool{{Name: "weather"}}
	if g := newFacts(c, deskOf(c)).opening(c); g != "" {
		t.Errorf("with tools: %q", g)
	}
	c = atMuseum("Are you open until a quarter to six?").Conversation
	c.History = append(c.History, turn.Entry{Role: turn.Assistant, Text: "Nothing."},
		turn.Entry{Role: turn.User, Text: "Thanks!"})
	got := messages(c, deskOf(c))
	if len(got) != 4 || got[1].Content != "Are you open until a quarter to six? (17:45)" ||
		got[3].Content != "Thanks!" {
		t.Errorf("the model reads %+v", got)
	}
}

// Who has no facts, or speaks another language, has no desk.
func TestADeskIsOfFactsInEnglish(t *testing.T) {
	d := &desk{}
	c := told("I am fourteen.")
	if first := d.at(c); first == nil || d.at(c) != first {
		t.Error("the museum's is not kept")
	}
	c.Facts.Told += " Closed on Mondays."
	was := d.at(c)
	c.Facts.Told += " Bags are free."
	if d.at(c) == was {
		t.Error("other facts have the same desk")
	}
	c.Facts.Spelt = false
	if d.at(c) != nil {
		t.Error("it reads another language")
	}
	if d.at(turn.Conversation{}) != nil ||
		d.at(turn.Conversation{Facts: &turn.Facts{Told: "You are 12 and poor.", Spelt: true}}) != nil ||
		(*desk)(nil).at(c) != nil {
		t.Error("there is a desk without facts")
	}
}
