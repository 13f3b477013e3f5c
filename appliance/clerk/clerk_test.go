package clerk

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const castle = `You are the voice of Marl Castle. Visitors ask you things.
- The castle is open from 9 in the morning to 5 in the afternoon, on Fridays until half past eight in the evening.
- On Tuesdays the castle is closed.
- The tea room is open from 11 to 4 o'clock.
- The library is open from Monday to Thursday from ten to six, and on Saturdays from ten to one.
- A ticket costs 12 dollars, for students 8 dollars; visitors under fifteen enter free.
- Visitors over 60 pay half.
- Children from 6 to 12 may climb the wall.
- The audio guide is 3 dollars, a postcard 50 cents. A six-day pass is 40 dollars.
- Parking is 2 dollars an hour. Bags over 10 kg have to stay at the gate, for at least 5 minutes.`

func TestWhetherSomethingIsOpen(t *testing.T) {
	d := Read(castle)
	for asked, want := range map[string]Leaning{
		"Are you open on Tuesday?":                                  No,
		"Are you closed on Tuesdays?":                               Yes,
		"Is the castle open on Wednesday?":                          Yes,
		"Are you closed on Wednesday?":                              No,
		"Are you still open at eight on Friday evening?":            Yes,
		"Are you still open at nine on a Friday evening?":           No,
		"Are you still open at six on Friday?":                      Open, // in the morning it is not
		"Are you open at seven in the evening?":                     Open, // on Fridays it is
		"Are you open at ten in the evening?":                       No,
		"Is the castle open at noon?":                               Yes,
		"Are you open at 10:30?":                                    Open, // and at half past ten at night?
		"Is the castle open at 10 am?":                              Yes,
		"Is the castle open at 8 am on Thursday?":                   No,
		"Is the tea room open at five?":                             No,
		"Is the tea room open at three in the afternoon?":           Yes,
		"Is the library open on Saturday afternoon?":                No,
		"Is the library open on Wednesday afternoon?":               Yes,
		"Is the library open on Saturday?":                          Yes,
		"Is the library open on Sunday?":                            Open, // it is not said
		"Is the shop open on Tuesday?":                              Open,
		"Can I come on Tuesday?":                                    No,
		"Can I come on Wednesday?":                                  Open, // there may be other reasons
		"We are in town for two days. Can we visit you on Tuesday?": No,
		"Are you open on Monday and Tuesday?":                       Open,
		"Is it true that you close on Tuesdays?":                    Open,
		"When are you open on Tuesday?":                             Open,
		"Are you open?":                                             Open,
		"Can I bring two dogs?":                                     Open,
		"Is there a tour at three?":                                 Open,
		"":                                                          Open,
	} {
		if got := d.Answers(asked, ""); got != want {
			t.Errorf("%q: %d, want %d", asked, got, want)
		}
	}
}

// A day off that the facts do not have is no reason.
func TestADayOffThatIsNone(t *testing.T) {
	d := Read(castle)
	for sentence, want := range map[string]bool{
		"No, we are closed on Thursdays.": true, "We're closed on Monday.": true,
		"No, the castle is closed on Wednesdays.": true, "No, on Thursdays we are closed.": true,
		"On Tuesday we are closed.":      false,
		"No, we are closed on Tuesdays.": false, "No, we are open until five.": false,
		"We are closed on Thursdays after five.": false, "": false,
	} {
		if d.Shuts(sentence) != want {
			t.Errorf("%q: %v", sentence, !want)
		}
	}
	if (*Desk)(nil).Shuts("We are closed on Thursdays.") {
		t.Error("without a desk")
	}
}

func TestADayOffMayStandInTheSentenceOfTheHours(t *testing.T) {
	for facts, off := range map[string]string{
		"You are the front desk of a small museum. Open ten to six, closed on Mondays. A ticket is eight euros.": "Monday",
		"We are open from nine to five (closed Sundays).":                                                        "Sunday",
		"The museum is open from nine to five every day except on Sundays.":                                      "Sunday",
		"Open daily from 10 to 6, except Wednesdays.":                                                            "Wednesday",
		"We are open Tuesday to Sunday from ten to six, Mondays closed.":                                         "Monday",
		"The museum is open from 10 to 6; closed on Tuesday.":                                                    "Tuesday",
		"We are closed on Mondays and open from ten to six on all other days.":                                   "Monday",
		"The museum opens at ten, closed Mondays. The cafe is open until eleven.":                                "Monday",
	} {
		d := Read(facts)
		if got := d.Answers("Are you open on "+off+"s?", ""); got != No {
			t.Errorf("%q: open on %s is answered with %d", facts, off, got)
		}
		if got := d.Answers("Are you open on Fridays?", ""); got == No {
			t.Errorf("%q: not open on Friday", facts)
		}
	}
	d := Read("Open ten to six, closed on Mondays.")
	if got := d.Answers("Are you open on Thursday?", ""); got != Yes {
		t.Errorf("open on Thursday: %d", got)
	}
}

func TestHoursThatHoldSometimesAreLeftAlone(t *testing.T) {
	d := Read("You are at the zoo. The zoo is open from 9 to 18 o'clock. On the first Monday of the month the zoo is " +
		"closed. On Sundays in winter the zoo is closed. " +
		"Soup is served from 11 to 14:30 on weekdays and until 15:30 at weekends.")
	for asked, want := range map[string]Leaning{
		"Is the zoo open on Monday?":                  Open,
		"Is soup served at 3 pm on Saturday?":         Open,
		"Is the zoo open on Sunday?":                  Open,
		"Is the zoo open on Tuesday?":                 Yes,
		"Is the zoo open on Tuesday at 8 pm?":         No,
		"Is the zoo open on Tuesday after Christmas?": Open,
	} {
		if got := d.Answers(asked, ""); got != want {
			t.Errorf("%q: %d, want %d", asked, got, want)
		}
	}
}

// Too many prices for a grammar, two currencies and what is no price are left to
// the model.
func TestOnlySumsThatCanBeMadeAreMade(t *testing.T) {
	var many strings.Builder
	for i := range 2 * mostPrices {
		fmt.Fprintf(&many, "Thing %d costs %d dollars. ", i, i+3)
	}
	for name, told := range map[string]string{
		"many": many.String(), "two currencies": "A is 4 dollars or 3 euros.", "nothing": "A is 0 dollars.",
		"a fortune": "A is 99999999999999999999 dollars.",
	} {
		if s := Read(told).Sum("What do two of these cost?"); s != nil {
			t.Errorf("%s: a sum of %d prices", name, len(s.desk.money.prices))
		}
	}
	if d := Read(castle); d.Sum(strings.Repeat("What do two tickets cost? ", 100)) != nil ||
		d.Opening("I am nine. "+strings.Repeat("What do I pay? ", 100)) != "" ||
		d.Note(strings.Repeat("at a quarter to six ", 100)) != "" {
		t.Error("a speech is a question")
	}
}

func TestWhatIsNotToldIsNotKnown(t *testing.T) {
	d := Read(castle)
	for asked, want := range map[string]Leaning{
		"Do you have a dungeon?":                     Untold,
		"Is there a hairdresser here?":               Untold,
		"Hello. Do you sell swords?":                 Untold,
		"Do you rent out horses for the afternoon?":  Untold,
		"Are there any ghosts in the castle?":        Untold,
		"Do you have audio guides?":                  Open,
		"Do you sell audio swords?":                  Untold,
		"Do you have audio service?":                 Open,
		"Do you have a café?":                        Open, // there is a tea room
		"Is there a place to park?":                  Open,
		"Do you sell postcards?":                     Open,
		"Is there a discount for groups?":            Open,
		"Do you have a minute?":                      Open,
		"Do you have any recommendations for today?": Open,
		"Is there anything for children?":            Open,
		"Do you have two?":                           Open,
		"Do you like horses?":                        Open,
		"Where do you sell swords?":                  Open,
		"Do you have a unicorn?":                     Open, // it was spoken of
	} {
		if got := d.Answers(asked, "The unicorn is in the garden."); got != want {
			t.Errorf("%q: %d, want %d", asked, got, want)
		}
	}
}

func TestWhichRuleHoldsForAnAge(t *testing.T) {
	d := Read(castle + " Guests over 70 get a chair. For babies under 2 a seat costs 1 dollar.")
	for asked, want := range map[string]string{
		"I am fourteen. What does a ticket cost for me?":    "Visitors under fifteen enter free.",
		"My son is 9. How much does he pay?":                "Visitors under fifteen enter free.",
		"My grandmother is seventy-one, what does she pay?": "Visitors over 60 pay half.",
		"What does a ticket cost for a 65-year-old?":        "Visitors over 60 pay half.",
		"How much is it for a child of seven?":              "Visitors under fifteen enter free.",
		"What does a seat cost for a girl of 1?":            "For babies under 2 a seat costs 1 dollar.",
		"What does a girl of 1 pay?":                        "", // two rules hold
		"She is sixteen. What does she pay?":                "",
		"She is fourteen. Does she pay for a ticket?":       "",
		"She is fourteen. When are you open?":               "",
		"How much is a ticket?":                             "",
		"My little boy is three. What does he pay?":         "Visitors under fifteen enter free.",
		"I am fourteen. What does the audio guide cost me?": "", // the rule is for tickets
		"My bag is 12 kg. What do I pay?":                   "",
		"It is 9 o'clock. What does it cost now?":           "",
		"I am 2 minutes late, what do I pay?":               "",
		"We are four adults. What do we pay?":               "",
		"I am 14 and she is 62. What do we pay?":            "",
	} {
		if got := d.Opening(asked); got != want {
			t.Errorf("%q: %q, want %q", asked, got, want)
		}
	}
}

func TestTimesAreNotedAsTheFactsWriteThem(t *testing.T) {
	d := Read("Boats leave at 7:15, 13:30 and 17:45. Tea is at five.")
	for asked, want := range map[string]string{
		"Where does the boat at a quarter to six leave?":   "17:45",
		"Where does the boat at quarter past seven leave?": "7:15",
		"And the one at half past one?":                    "13:30",
		"Is there a boat at 1:30 pm?":                      "13:30",
		"Is there a boat at 17:45?":                        "",
		"Is there a boat at seven?":                        "",
		"I have 7 dogs and 15 cats.":                       "",
		"Tea at five?":                                     "",
	} {
		if got := d.Note(asked); got != want {
			t.Errorf("%q: %q, want %q", asked, got, want)
		}
	}
}

func TestTheNearestFactMayRefuse(t *testing.T) {
	d := Read("You are at the desk of a park. Dogs are welcome, but not on the lawn. On Fridays the lake is for " +
		"members only. Boats can be rented, tents cannot be rented. You can pay by card. Walkers need no ticket.")
	for asked, want := range map[string]Leaning{
		"Can I let my dog run on the lawn?": Refused,
		"May I swim in the lake on Friday?": Refused,
		"Can I rent a tent?":                Refused,
		"Can I rent a boat?":                Granted,
		"May I bring my dog?":               Open,
		"Can I pay by card?":                Granted,
		"Can I walk without a ticket?":      Open, // a no to a not
		"Is the lake for members only?":     Open,
		"Which tents can be rented?":        Open,
		"Are you happy?":                    Open,
	} {
		if got := d.Answers(asked, ""); got != want {
			t.Errorf("%q: %d, want %d", asked, got, want)
		}
	}
}

func TestWhoWantsSomethingDoneIsKnown(t *testing.T) {
	d := Read(castle)
	for asked, want := range map[string]bool{
		"Could you sign me up for the tour?":   true,
		"Hello. Please send us the programme.": true,
		"Can you please book me two tickets?":  true,
		"Would you cancel my booking?":         true,
		"Can you tell me when you open?":       false,
		"Could you help me?":                   false,
		"Can you order books?":                 false,
		"Do you call me when it is ready?":     false,
		"How do I change my booking?":          false,

		"Please wake me up at six.":                                      true,
		"Send a bottle of water to my room.":                             true,
		"Can you put two tulips aside for me?":                           true,
		"Call me back tomorrow, will you?":                               true,
		"Get me a taxi to the airport.":                                  true,
		"Tell Ms. Halloran that I will be late.":                         true,
		"Ok, please send a bouquet to my mother.":                        true,
		"I'd like you to cancel the tour.":                               true,
		"Print me a ticket.":                                             true,
		"Turn the lights on, please.":                                    true,
		"What does a tour cost? Book me one, please.":                    true,
		"Please open the gate. My name is Tom.":                          true,
		"Put me through to the office.":                                  true,
		"Book me a tour. And what does it cost?":                         false,
		"Call me Tom.":                                                   false,
		"Tell me a joke.":                                                false,
		"Get me the phone number of the office.":                         false,
		"Can you repair my bike?":                                        false,
		"Can you deliver my order on Saturday?":                          false,
		"Could you wash my car?":                                         false,
		"Book a table?":                                                  false,
		"I would like to book a tour.":                                   false,
		"Open on Sundays?":                                               false,
		"Order number twelve.":                                           false,
		"Turn left at the gate?":                                         false,
		"Write me a poem.":                                               false,
		"Do you send the programme by post?":                             false,
		strings.Repeat("Please wake me up at six, and do not ask. ", 30): false,
	} {
		if got := d.Answers(asked, "") == Errand; got != want {
			t.Errorf("%q: %v", asked, got)
		}
	}
}

func TestWhatIsAskedTogetherIsReckoned(t *testing.T) {
	d := Read(castle)
	for _, row := range []struct{ asked, terms, want string }{
		{"What do two adults pay?", "2 times 12 dollars, that is", " 24 dollars."},
		{"What do two adults and a student pay together?", "2 times 12 dollars plus 8 dollars, that is",
			" 32 dollars."},
		{"How much are three postcards?", "3 times 50 cents, that is", " 1 dollar and 50 cents."},
		{"How much are a postcard and a guide altogether?", "50 cents plus 3 dollars, that is",
			" 3 dollars and 50 cents."},
		{"How much does it cost for us both, my mother is seventy?", "12 dollars plus half of 12 dollars, that is",
			" 18 dollars."},
		{"What do I pay to park for three hours?", "3 times 2 dollars, that is", " 6 dollars."},
		{"A ticket and a guide, what is that altogether?", "12 dollars plus 3 dollars, that is", " 15 dollars."},
		{"If my wife and I both come, what's it in total?", "2 times 12 dollars, that is", " 24 dollars."},
		{"How much is it for three?", "3 times 12 dollars, that is", " 36 dollars."},
		{"What does a ticket and a guide cost?", "12 dollars plus 3 dollars, that is", " 15 dollars."},
		{"What do two children of ten pay together?", "0, that is", " nothing."},
	} {
		s := d.Sum(row.asked)
		if s == nil {
			t.Errorf("%q is no sum", row.asked)
			continue
		}
		if got, _, ok := s.Total(row.terms); !ok || got != row.want {
			t.Errorf("%q: %q, want %q", row.asked, got, row.want)
		}
	}
	for _, asked := range []string{
		"How much is a ticket?", "What does a six-day pass cost?", "What does a ticket cost at five?",
		"How many tickets do I get for 40 dollars?",
		"Can I pay two tickets together by card?", "What is in room 12?", "My son is nine. What does he pay?",
		"What does a ticket cost for a child of ten years?",
		"What do I pay after two hours in the castle at gate 3?", "Hello.", "", "How much time do two visitors need?",
		"What do 3 apples at 2 dollars each cost together?", "What is the total area of both halls?",
		"How much luggage may two people bring?", "How much is two plus two?", "How many of you work together?",
		"How much do I get back from 50 dollars for two tickets?",
		"What does a ticket cost, and when is the tea room open?",
	} {
		if s := d.Sum(asked); s != nil {
			t.Errorf("%q is a sum of %v", asked, s.counts)
		}
	}
	if g := d.Sum("What do two adults and a student pay?").Grammar("no"); !strings.Contains(g,
		`sum ::= "2 times " item " plus " item`) {
		t.Errorf("the grammar is\n%s", g)
	}
	if g := d.Sum("What do two adults pay?").Grammar("no"); !strings.Contains(g, "sum ::= \"2 times \" item\n") {
		t.Errorf("the grammar is\n%s", g)
	}
	s := d.Sum("What do two adults pay?")
	for _, said := range []string{"", "I'm sorry, I don't know that.", "2 times 13 dollars, that is",
		"2 times, that is", "x times 12 dollars, that is", "2 times 12 dollars"} {
		if got, _, ok := s.Total(said); ok {
			t.Errorf("%q makes %q", said, got)
		}
	}
	if g := s.Grammar("I don't know."); !strings.Contains(g, `"50 cents"`) || !strings.Contains(g, `count ::= "2"`) ||
		!strings.Contains(g, `| "I don't know."`) {
		t.Errorf("the grammar is\n%s", g)
	}
}

func TestMoneyIsSaidAsThePlaceSaysIt(t *testing.T) {
	for told, want := range map[string]string{
		"Bread is €4.50 and rolls are €1.": "9 euros",
		"Bread is 4 pounds 50.":            "8 pounds",
		"Bread is $4.25.":                  "8 dollars and 50 cents",
		"Bread is 40 cents.":               "80 cents",
	} {
		d := Read(told)
		s := d.Sum("What do two breads cost?")
		if s == nil {
			t.Errorf("%q: no sum", told)
			continue
		}
		if got, _, ok := s.Total("2 times " + d.money.prices[0].said + thatIs); !ok || got != " "+want+"." {
			t.Errorf("%q: %q of %+v", told, got, d.money.prices)
		}
	}
}

// Whoever has no facts, or none of these, gets no advice; nothing that is told or
// asked breaks it.
func TestAnyTextIsRead(t *testing.T) {
	for _, told := range []string{"", "You are a poet of 30. Answer in 2 sentences.",
		"Du bist ein Kiosk. Geöffnet von 9 bis 17 Uhr."} {
		d := Read(told)
		for _, asked := range []string{"", "What do two tickets cost together?", "Are you open at nine on Monday?",
			"I am nine."} {
			if d.Sum(asked) != nil || d.Note(asked) != "" || d.Opening(asked) != "" || d.Answers(asked, "") != Open {
				t.Errorf("%q has advice for %q", told, asked)
			}
		}
	}
	var nobody *Desk
	if nobody.Sum("What do two cost?") != nil || nobody.Note("At a quarter to six.") != "" ||
		nobody.Opening("I am nine. What do I pay?") != "" || nobody.Answers("Are you open on Monday?", "") != Open {
		t.Error("there is advice without facts")
	}
	words := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom(strings.Fields(castle)),
		rapid.SampledFrom(strings.Fields(
			"is it open at half past 25 to Monday two adults 3 dollars 50 cents under 7 what cost together times ?"))))
	rapid.Check(t, func(t *rapid.T) {
		d := Read(strings.Join(words.Draw(t, "told"), " "))
		asked := strings.Join(words.Draw(t, "asked"), " ")
		d.Note(asked)
		d.Opening(asked)
		d.Answers(asked, "")
		if s := d.Sum(asked); s != nil {
			s.Grammar("no")
			s.Total(asked + thatIs)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	told := strings.Repeat(castle, 5) // 4 KB, as prompts are
	for b.Loop() {
		d := Read(told)
		d.Answers("Are you open on Tuesday?", "")
	}
}

// What people say who want none of that is left to the model, at a desk with hours,
// prices and ages; and so is all that is said to somebody who has none.
func TestOrdinaryTalkIsLeftAlone(t *testing.T) {
	const tutor = "You are Ada, 30, a patient tutor of maths for grades 5 to 8. Give 2 hints before the answer, in " +
		"20 words. Lessons last 45 minutes, from 4 to 7 in the afternoon."
	for _, told := range []string{castle, tutor,
		"You are a pirate called Jim, 42, with 3 ships, 2 parrots, 1 leg and 7 sons. Never leave your role."} {
		d := Read(told)
		for _, said := range []string{
			"Hello!", "Good evening, how are you?", "My name is Kim.", "Tell me a joke about two pirates.",
			"What is seven times eight?", "Thanks, that was all.",
			"I am tired.", "I'm 2 stops away.", "We are four people.", "It's two o'clock.", "Can you hear me?",
			"Are you a robot?", "Are you open to suggestions?", "Are you there?",
			"Do you have a favorite color?", "Do you have children?", "Is there a problem?", "Is there anything else?",
			"Do you have any questions?", "Do you have time?",
			"How much do you love me?", "What does it cost me to ask?", "It takes two to tango.",
			"Say that again, both parts.", "What is twenty percent of 80?",
			"Wann haben Sie geöffnet?", "Was kosten zwei Karten zusammen?", "Combien coûtent deux billets ?", "ok", "?",
			"…",
		} {
			if s := d.Sum(said); s != nil {
				t.Errorf("%q is a sum of %v", said, s.counts)
			}
			if note := d.Note(said) + d.Opening(said); note != "" {
				t.Errorf("%q is noted as %q", said, note)
			}
			if l := d.Answers(said, ""); l != Open {
				t.Errorf("%q is answered by %d", said, l)
			}
		}
	}
}
