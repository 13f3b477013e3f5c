package reply

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
)

// Who wants something done is told that it cannot be, not that it is not known.
func TestNotKnowingIsNoAnswerToAWish(t *testing.T) {
	const unknown = "I'm sorry, I don't know that."
	for _, row := range []struct {
		user   string
		pieces []string
		want   []string
	}{
		{"Please wake me up at six.", []string{unknown}, []string{cannot, "end"}},
		{"Send a bottle of water.", []string{"I'm sorry, I can't send one."},
			[]string{"I'm sorry, I can't send one.", "end"}},
		{"When do you close?", []string{unknown}, []string{unknown, "end"}},
		{"Please wake me up at six.", []string{"I'm sorry, the room costs 4711 dollars."}, []string{cannot, "end"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			think := turn.Think{Turn: 1, Conversation: told(row.user)}
			think.Facts.Unknown = unknown
			wantSaid(t, thought(t, alone(&scripted{pieces: row.pieces}), think, Manner{},
				newSchedule(true, time.Now())), row.want...)
		})
	}
	c := told("Please wake me up at six.")
	c.Facts.Unknown = unknown
	w := newWish(c)
	if first, then := w.pass("I'm sorry,", true), w.pass("I don't know that.", false); first+" "+then != cannot {
		t.Errorf("in pieces: %q %q", first, then)
	}
	c.Facts.Spelt = false
	if newWish(c) != nil || newWish(turn.Conversation{}) != nil {
		t.Error("wishes are known in English, where answers are held to facts")
	}
}

// A day off that the facts do not have is not given as a reason.
func TestNoDayOffIsMadeUp(t *testing.T) {
	c := told("Are you open on Thursday at eleven in the evening?")
	f := newFacts(c, deskOf(c))
	if say, _, over := f.pass("No, we are closed on Thursdays.", false); say != "No, not at that time." || !over {
		t.Errorf("%q, %v", say, over)
	}
	f.pass("No,", true)
	if say, _, over := f.pass("we are closed on Thursdays.", false); say != "not at that time." || !over {
		t.Errorf("%q, %v", say, over)
	}
}

// Where there is no room for all of an answer it ends with its last whole sentence.
func TestAnAnswerWithoutRoomEndsWithASentence(t *testing.T) {
	for _, row := range []struct {
		pieces []string
		tokens int
		want   []string
	}{
		{[]string{"There was a girl. ", "When the"}, replyTokens, []string{"There was a girl.", "end"}},
		{[]string{"There was a girl. ", "She was good."}, replyTokens,
			[]string{"There was a girl.", "She was good.", "end"}},
		{[]string{"There was a girl. ", "When the"}, 9, []string{"There was a girl.", "When the", "end"}},
		{[]string{"Four"}, replyTokens, []string{"Four", "end"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			wantSaid(t, thought(t, alone(&scripted{pieces: row.pieces, tokens: row.tokens}),
				question("Tell me a story."), Manner{}, newSchedule(true, time.Now())), row.want...)
		})
	}
}
