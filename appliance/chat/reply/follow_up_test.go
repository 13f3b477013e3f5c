package reply

import (
	"slices"
	"testing"

	"parley/appliance/chat/turn"
)

// after returns the question of a user who says words after the approved answer "toilets" to "Where are the
// toilets?".
func after(words string) userQuestion {
	return questionOf([]turn.Entry{
		{Role: turn.User, Text: "Where are the toilets?"},
		{Role: turn.Assistant, Text: "They are downstairs.", AnswerID: "toilets"},
		{Role: turn.User, Text: words},
	})
}

func TestACorrectionExcludesTheAnswerBefore(t *testing.T) {
	for said, wanted := range map[string]string{
		"No, I meant the café.":                        "the café.",
		"no i meant the cafe":                          "the cafe",
		"Sorry, I was asking about the café":           "the café",
		"No, no, I mean where the café is.":            "where the café is.",
		"That's not what I asked. I asked for parking": "parking",
		"Not the toilets, the café.":                   "the café.",
		"No, the café!":                                "the café!",
		"No. Where is the café?":                       "Where is the café?",
		"Actually, I wanted to know when you open.":    "when you open.",
	} {
		if q := after(said); q.Text != wanted || q.Not != "toilets" || q.BeforeUser != "Where are the toilets?" {
			t.Errorf("%q: %+v", said, q)
		}
	}
	for _, said := range []string{"No, thanks.", "No.", "And on Sundays?", "I want to know when you open.",
		"Is there no café?", "I have not been to the café yet."} {
		if q := after(said); q.Not != "" || q.Text != said {
			t.Errorf("%q is taken for a correction: %+v", said, q)
		}
	}
	if q := questionOf([]turn.Entry{{Role: turn.User, Text: "No, I meant the café."}}); q.Not != "" {
		t.Errorf("a correction of nothing: %+v", q)
	}
}

func TestRequestsToRepeat(t *testing.T) {
	for _, said := range []string{"Sorry, what?", "What?", "Could you repeat that?", "can you say that again please",
		"What did you say?", "Pardon?", "Again, please.", "I didn't catch that.", "Once more please", "Sorry?",
		"Please repeat.", "Huh?", "Excuse me, what was that?"} {
		if !after(said).again {
			t.Errorf("%q does not ask for the answer again", said)
		}
	}
	for _, said := range []string{"Sorry.", "What is that?", "What time?", "Say, when do you open?",
		"Is it open again?", "What about Sundays?", "Repeat after me: hello", "Thanks again."} {
		if after(said).again {
			t.Errorf("%q asks for the answer again", said)
		}
	}
}

// Thanks after an answer must not be taken for a follow-up of the question before.
func TestCourtesiesStandAlone(t *testing.T) {
	for _, said := range []string{"Thanks!", "Thank you very much.", "Okay, great, thanks a lot", "Hello there!",
		"Good morning", "Okay.", "Bye, see you later", "Thanks for your help"} {
		if q := after(said); q.BeforeUser != "" || q.BeforeAssistant != "" {
			t.Errorf("%q: %+v", said, q)
		}
	}
	for _, said := range []string{"And on Sundays?", "Thanks, and the café?", "How much?", "for children?"} {
		if q := after(said); q.BeforeUser != "Where are the toilets?" || q.BeforeAssistant != "They are downstairs." {
			t.Errorf("%q: %+v", said, q)
		}
	}
}

func TestQuestionsOfOneTurn(t *testing.T) {
	for said, want := range map[string][]string{
		"When do you open?":                           nil,
		"When do you open and close?":                 nil,
		"When do you open, and where is the café?":    {"When do you open", "where is the café?"},
		"When do you open? And is there a café?":      {"When do you open?", "And is there a café?"},
		"Hello! When do you open?":                    {"When do you open?"},
		"We come on Sunday with kids. Is it free?":    {"Is it free?"},
		"where are the toilets and do you have lifts": {"where are the toilets", "do you have lifts"},
		"I like it. It is nice.":                      nil,
	} {
		if got := questionsIn(said); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func TestTheRestOfAnInterruptedAnswer(t *testing.T) {
	say := "We open at ten. We close at six, except on Mondays."
	for heard, want := range map[string]string{
		"We open at":      "ten. We close at six, except on Mondays.",
		"We open at ten.": "We close at six, except on Mondays.",
		"We close":        "at six, except on Mondays.",
		"We":              "open at ten. We close at six, except on Mondays.",
		"Something else":  "",
	} {
		if got := restOf(say, heard); got != want {
			t.Errorf("after %q: %q, want %q", heard, got, want)
		}
	}
}
