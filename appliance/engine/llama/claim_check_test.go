package llama

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/appliance/engine"
)

// checked returns what passes the check of an answer that arrives word by word, and how much of it
// had arrived when its beginning was let through.
func checked(p engine.Prompt, answer string) (passed string, after int, err error) {
	c := newClaimCheck(p, func(p engine.Part) error { passed += p.Text; return nil })
	for i, w := range strings.SplitAfter(answer, " ") {
		if err = c.take(engine.Part{Text: w}); err != nil {
			break
		}
		if passed != "" && after == 0 {
			after = i + 1
		}
	}
	return passed, after, c.end(err)
}

var hotelPrompt = engine.Prompt{Messages: []engine.Message{says(engine.System, hotel), says(engine.User, "Hello.")}}

func TestAnAnswerDoesNotClaimWhatNoToolDid(t *testing.T) {
	for answer, want := range map[string]string{
		"I have booked a taxi for you.":              cannot,
		"I've cancelled your booking. Goodbye.":      cannot,
		"I booked it.":                               cannot,
		"I’ve sent it.":                              cannot,
		"I'll book that for you right away.":         cannot,
		"Your appointment has been cancelled.":       cannot,
		"Let me turn that on for you.":               cannot,
		"Sure, I've just ordered two pizzas.":        cannot,
		"The pool closes at nine. I have booked it.": "The pool closes at nine. " + cannot,
	} {
		if passed, _, err := checked(hotelPrompt, answer); err != nil || passed != want {
			t.Errorf("%q: %q (%v), want %q", answer, passed, err, want)
		}
	}
}

// An answer without a claim passes unchanged, and is held back for a few words at most.
func TestAnAnswerWithoutAClaimPasses(t *testing.T) {
	for answer, words := range map[string]int{
		"The pool closes at nine in the evening.":               1,
		"I have two rooms left for tonight.":                    5,
		"I'm sorry, I can't do that.":                           4,
		"Yes, breakfast is from seven.":                         2,
		"Your room is on the third floor, next to the stairs.":  10,
		"Would you like me to book a taxi?":                     1,
		"I can book a taxi for you.":                            5,
		"I have not booked anything.":                           5,
		"You can order at the bar, where your drink is served.": 2,
		"The taxi was booked by your wife.":                     1,
		"Il est ouvert jusqu'à neuf heures.":                    1,
	} {
		passed, after, err := checked(hotelPrompt, answer)
		if err != nil || passed != answer || after > words {
			t.Errorf("%q: %v, said %q, first after %d words, want %d", answer, err, passed, after, words)
		}
	}
}

func TestAClaimOfACompletedToolPasses(t *testing.T) {
	p := hotelPrompt
	p.Tools = []engine.Tool{{Name: "book_taxi", Description: "Order a taxi."}}
	p.Messages = append(p.Messages,
		engine.Message{Role: engine.Assistant, Calls: []engine.ToolCall{{ID: "1", Name: "book_taxi"}}},
		engine.Message{Role: engine.ToolRole, CallID: "1", Content: `{"status":"ok"}`})
	passes := func(p engine.Prompt, answer string) bool {
		passed, _, err := checked(p, answer)
		if err != nil {
			t.Fatal(err)
		}
		return passed == answer
	}
	if !passes(p, "I have sent a taxi for you.") {
		t.Error("the result of a tool that has just answered is taken for a claim")
	}
	later := p
	later.Messages = append(later.Messages, says(engine.Assistant, "Car 7 comes."), says(engine.User, "Is it booked?"))
	if !passes(later, "Yes, I have booked it.") || !passes(later, "I've ordered a taxi.") {
		t.Error("an action that a tool did earlier is taken for a claim")
	}
	if passes(later, "I have refunded it.") {
		t.Error("a deed of no tool was claimed")
	}
	p.Messages[len(p.Messages)-1].Content = `{"error":"no car is free"}`
	if passes(p, "I have booked it for six.") {
		t.Error("a failed call was claimed")
	}
}

// However an answer is cut into pieces, all of it passes or, if it contains a claim, its beginning.
func TestTheCheckLosesNothing(t *testing.T) {
	words := strings.Fields("I I've I’ll the your it it's has been have is are now booked sent. Done. let me you're " +
		"going to go ahead and sure, a taxi … ? — ' i'm order é 你好。 7")
	rapid.Check(t, func(rt *rapid.T) {
		answer := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(words), rapid.StringN(0, 6, -1)), 0,
			14).Draw(rt, "answer"), " ")
		passed := ""
		c := newClaimCheck(hotelPrompt, func(p engine.Part) error { passed += p.Text; return nil })
		var err error
		for rest := answer; rest != "" && err == nil; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
			err = c.take(engine.Part{Text: rest[:n]})
			rest = rest[n:]
		}
		if err == nil {
			err = c.pass(true)
		}
		if err == nil && passed != answer || err != nil &&
			(!errors.Is(err, errClaim) || !strings.HasPrefix(answer, passed)) {
			rt.Fatalf("%q: %v after %q", answer, err, passed)
		}
	})
}
