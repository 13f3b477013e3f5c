package llama

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/appliance/engine"
)

// heard is what comes through the guard of a sentence that comes word by word,
// and how much of it had come when the first of it was let through.
func heard(g *guard, sentence string) (said string, after int, err error) {
	g.emit = func(p engine.Part) error { said += p.Text; return nil }
	words := strings.SplitAfter(sentence, " ")
	for i, w := range words {
		if err = g.take(engine.Part{Text: w}); err != nil {
			return said, after, err
		}
		if said != "" && after == 0 {
			after = i + 1
		}
	}
	return said, after, g.rest()
}

var hotelPrompt = engine.Prompt{Messages: []engine.Message{says(engine.System, hotel), says(engine.User, "Hello.")}}

func TestAnAnswerDoesNotClaimWhatNoToolDid(t *testing.T) {
	for _, claim := range []string{
		"I have booked a taxi for you.", "I've cancelled your booking.", "Sure, I've just ordered two pizzas.",
		"Okay. I have sent the results.",
		"Your appointment has been cancelled.", "Your table is now reserved.", "I booked it for seven.",
		"I'll book that for you right away.",
		"Of course! I will transfer you now.", "Done.", "Let me turn that on for you.",
		"Certainly, I've gone ahead and changed your address.",
		"A taxi has been booked for you.", "Your taxi is on its way.", "You're all set.", "You are now booked for two.",
		"Consider it done.", "All done!",
		"I'm booking that for you now.", "I am just sending the message.", "We've reserved a table for you.",
		"We have cancelled it.", "The light is now off.",
		"It's been ordered.", "I went ahead and cancelled it.", "The message has been sent.", "The taxi is on its way.",
		"Everything has been arranged.",
		"Doctor Meyer will call you back.", "Someone will contact you shortly.", "Got it, I've added it.",
		"Right away, I'm sending it.", "Booked!",
		"It has been added to your cart.", "The pool closes at nine. I have set an alarm for you.",
		"I’ve moved you to a sea view room.",
	} {
		g := newGuard(hotelPrompt, &toolset{}, nil)
		said, _, err := heard(g, claim)
		if !errors.Is(err, errClaim) || strings.Contains(claim[max(strings.LastIndex(claim, "I "), 0):], said) &&
			said != "" {
			t.Errorf("%q: %v after %q", claim, err, said)
		}
	}
	for sentence, at := range map[string]int{
		"The pool closes at nine in the evening.": 4, "I have two rooms left for tonight.": 6,
		"I'm sorry, I can't do that.":   6,
		"Yes, breakfast is from seven.": 2, "Your room is on the third floor, next to the stairs.": 11,
		"We are closed on Sundays.": 3,
		"It is closed on Mondays.":  6, "The museum is closed.": 4, "Closed.": 1,
		"Would you like me to book a taxi?": 1,
		"I can book a taxi for you.":        6, "Shall I set an alarm?": 1, "I have heard that it is nice there.": 6,
		"Hello! How can I help you?":          2,
		"The pool has been closed since May.": 5, "The tour is now at three.": 5, "We have moved to Oak Road.": 3,
		"We are closing at nine.": 3,
		"You are welcome.":        3, "I'm sorry, I don't know.": 2, "I am an assistant.": 3,
		"All rooms have a view.":            2,
		"A taxi costs about fifty dollars.": 4,
		"Your bill is on the table.":        6, "It's on the second floor.": 4, "The doctor will see you at nine.": 4,
		"They will be open tomorrow.": 3,
		"We'll open again on Monday.": 3, "I've no idea.": 3, "That's a good question.": 3,
		"The shuttle will bring you to the airport.": 4,
		"The museum was opened in 1902.":             4, "I have not booked anything.": 3, "I was made to help you.": 2,
		"That sounds great!":                 4,
		"Il est ouvert jusqu'à neuf heures.": 1, "7": 1, "…": 1,
	} {
		said, after, err := heard(newGuard(hotelPrompt, &toolset{}, nil), sentence)
		if err != nil || said != sentence || after > at {
			t.Errorf("%q: %v, said %q, first after %d words, want %d", sentence, err, said, after, at)
		}
	}
}

// What shows to be a claim only when it has begun to be said is broken off.
func TestALateClaimIsBrokenOff(t *testing.T) {
	g := newGuard(hotelPrompt, &toolset{}, nil)
	said, _, err := heard(g, "The lights over the whale have been turned off.")
	if !errors.Is(err, errClaim) || said != "The lights over the whale " {
		t.Errorf("%v after %q", err, said)
	}
	if got := g.between(); got != "… " {
		t.Errorf("it goes on with %q", got)
	}
	g = newGuard(hotelPrompt, &toolset{}, nil)
	if _, _, err := heard(g, "Of course. I have booked it."); !errors.Is(err, errClaim) || g.between() != " " {
		t.Errorf("%v, and it goes on with %q", err, g.between())
	}
}

func TestWhatAToolDidMayBeSaid(t *testing.T) {
	p := hotelPrompt
	set := &toolset{tools: []engine.Tool{{Name: "book_taxi", Description: "Order a taxi."}}}
	p.Messages = append(p.Messages,
		engine.Message{Role: engine.Assistant, Calls: []engine.ToolCall{{ID: "1", Name: "book_taxi"}}},
		engine.Message{Role: engine.ToolRole, CallID: "1", Content: `{"status":"booked"}`})
	if said, _, err := heard(newGuard(p, set, nil), "I have cancelled it and booked another."); err != nil ||
		said == "" {
		t.Errorf("behind the tool's answer: %v", err)
	}
	p.Messages = append(p.Messages, says(engine.Assistant, "Car 7 comes."), says(engine.User, "Thanks."))
	if _, _, err := heard(newGuard(p, set, nil), "You're welcome. I have booked it for six."); err != nil {
		t.Errorf("later: %v", err)
	}
	if _, _, err := heard(newGuard(p, set, nil), "I have cancelled your room."); !errors.Is(err, errClaim) {
		t.Errorf("what it did not do: %v", err)
	}
	p.Messages[3].Content = "The tool failed and did nothing."
	if _, _, err := heard(newGuard(engine.Prompt{Messages: p.Messages[:4]}, set, nil),
		"I have booked it for six."); !errors.Is(err, errClaim) {
		t.Errorf("what failed: %v", err)
	}
}

// However an answer is cut into pieces, all of it comes through or, where it claims
// something, nothing but its beginning.
func TestTheGuardLosesNothing(t *testing.T) {
	words := strings.Fields("I I've I’ll the your it it's that has have been is are now on its way booked sent. " +
		"Done. Done, of course all set! got it " +
		"right away let me you're let's will call you back Doctor a taxi … ? — ' '' 's i'm going to go ahead and " +
		"gone consider it done é 你好。 7")
	rapid.Check(t, func(rt *rapid.T) {
		answer := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(words), rapid.StringN(0, 6, -1)), 0,
			14).Draw(rt, "answer"), " ")
		said := ""
		g := newGuard(hotelPrompt, &toolset{}, func(p engine.Part) error { said += p.Text; return nil })
		var err error
		for rest := answer; rest != "" && err == nil; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
			err = g.take(engine.Part{Text: rest[:n]})
			rest = rest[n:]
		}
		if err == nil {
			err = g.rest()
		}
		if err == nil && said != answer || err != nil &&
			(!errors.Is(err, errClaim) || !strings.HasPrefix(answer, said)) {
			rt.Fatalf("%q: %v after %q", answer, err, said)
		}
	})
}
