package reply

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

const museum = `You are the voice of a museum.
- It is open from 10 am to 17:45, on Thursdays until nine in the evening.
- A ticket costs 14 dollars, for students $9.50, under 16 nothing. A map is 50 cents.
- Ms. Pell leads the tour at 3 pm. Her number is 555-0142. Dogs stay outside.`

func told(user string) turn.Conversation {
	return turn.Conversation{
		Facts:   &turn.Facts{Told: museum, Unknown: "I do not know.", Spelt: true},
		History: []turn.Entry{{Role: turn.User, Text: user}},
	}
}

func TestOnlyWhatWasToldIsSaidOfNumbersAndNames(t *testing.T) {
	for _, row := range []struct {
		user, answer string
		ok           bool
	}{
		{"When do you close?", "We close at a quarter to six.", true},
		{"When do you close?", "We close at 5:45 pm.", true},
		{"When do you close?", "We close at 17:45.", true},
		{"When do you close?", "We close at 6:30.", false},
		{"When do you close?", "We close at half past seven.", false},
		{"And on Thursday?", "On Thursdays until 9 pm, or 21 o'clock.", true},
		{"When is the tour?", "The tour is at three, at 15:00.", true},
		{"What is a ticket?", "A ticket costs fourteen dollars.", true},
		{"What is a ticket?", "A ticket costs $15.", false},
		{"For students?", "Nine fifty, which is 9.50 or $9.5.", true},
		{"A map?", "A map is half a dollar, $0.50, fifty cents.", true},
		{"Two adults?", "Two adults pay 28 dollars.", true},
		{"Two adults?", "Two adults pay 27 dollars.", false},
		{"Two adults and a map?", "Together 28.50.", true},
		{"Two adults?", "First you pay 28 dollars, one moment.", true},
		{"Who leads the tour?", "It is led by Ms. Pell.", true},
		{"Who leads the tour?", "It is led by Dr. Smith.", false},
		{"Who leads the tour?", "Yes, Pell's tours are on Mondays, I'm sure.", true},
		{"I am Kim. Who are you?", "Hello Kim, I'm a voice.", true},
		{"Who made the clock?", "Johannes made it in Prague.", false},
		{"Your number?", "Call five five five oh one four two.", true},
		{"Your number?", "Call 555-0199.", false},
		{"What is seven times eight?", "Seven times eight is 56.", true},
		{"What is seven times eight?", "Seven times eight is 57.", false},
		{"What is written there?", `It says "Welcome" in German.`, true},
		{"Wo ist der Eingang?", "Der Eingang liegt neben dem Parkplatz.", true},
		{"What is it for both of us?", "It is 45 dollars.", false}, // the museum closes at 17:45
		{"Which bus?", "You take bus number 5.", false},            // it closes at 17
		{"Which bus?", "Take number 28.", false},                   // two tickets
		{"How many seats are there?", "It has 28 seats.", false},   // two tickets
		{"Two adults?", "For two adults it is 28 in all.", true},
		{"What is seven?", "It is two.", false},
		{"What's up?", "The Wi-Fi is free. The doors are open.", true},
	} {
		f := newFacts(told(row.user))
		if f == nil {
			t.Fatal("the museum has no facts")
		}
		say, _, over := f.pass(row.answer, false)
		if ok := say == row.answer && !over; ok != row.ok {
			t.Errorf("%q, %q: said %q", row.user, row.answer, say)
		}
	}
}

// Of other languages digits are looked at, and no words: "six" is no number in
// all of them, and in German every noun has a capital.
func TestOtherLanguagesAreHeldToDigits(t *testing.T) {
	c := told("Wann schließen Sie?")
	c.Facts.Spelt = false
	for answer, ok := range map[string]bool{
		"Um 17:45 Uhr schließt das Museum.": true,
		"Um 18:30 Uhr schließt das Museum.": false,
		"Elf Personen, six messieurs.":      true,
	} {
		if say, _, _ := newFacts(c).pass(answer, false); (say == answer) != ok {
			t.Errorf("%q: said %q", answer, say)
		}
	}
}

func TestAPromptWithoutFactsAllowsAnything(t *testing.T) {
	for name, c := range map[string]turn.Conversation{
		"no facts": {},
		"a few words": {Facts: &turn.Facts{
			Told: "You are a poet of 30. Answer in 2 sentences, in 20 words, with one rhyme."}},
		"an empty message": {Facts: &turn.Facts{}},
	} {
		if f := newFacts(c); f != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if say, on, over := (*facts)(nil).pass("In 1969.", true); say != "In 1969." || !on || over {
		t.Errorf("%q, %v, %v", say, on, over)
	}
}

// Where a prompt has no facts a tool may bring one, and what it did not bring is not
// made up beside it.
func TestAfterAToolOnlyItsAmountsAreSaid(t *testing.T) {
	c := turn.Conversation{
		Facts: &turn.Facts{Told: "You are a concierge.", Unknown: "I do not know.", Spelt: true},
		History: []turn.Entry{
			{Role: turn.User, Text: "What's the weather, and when does my train to Linz leave?"},
			{
				Role: turn.ToolCall,
				ID:   "1",
				Name: "weather",
				Text: `{}`,
			},
			{Role: turn.ToolResult, ID: "1",
				Text: `{"sky":"sunny","celsius":18,"until":"14:15","rain":0.4,"wind":12.7,"sun_minutes":95}`},
		},
	}
	for answer, ok := range map[string]bool{
		"It is sunny, at 18 degrees.":                      true,
		"It is eighteen degrees until a quarter past two.": true,
		"It stays so until 2:15 pm.":                       true,
		"The chance of rain is 40 percent.":                true,
		"The wind has about 13 miles an hour.":             true,
		"The sun shines for 1 hour and 35 minutes.":        true,
		"Your train leaves in 30 minutes.":                 false,
		"Your train leaves at five.":                       false,
		"Your train leaves at 17:05.":                      false,
		"A ticket is 52 dollars.":                          false,
		"I have two answers, Mrs. Wild of Linz.":           true,
	} {
		if say, _, _ := newFacts(c).pass(answer, false); (say == answer) != ok {
			t.Errorf("%q: said %q", answer, say)
		}
	}
	c.History = append(c.History, turn.Entry{Role: turn.User, Text: "How high is the Eiffel Tower?"})
	if f := newFacts(c); f != nil {
		t.Errorf("the next question is about anything: %+v", f)
	}
}

// teller is a model that writes these pieces, and notes how many it was asked
// for and how the reply should begin.
type teller struct {
	engine.LanguageModel
	pieces []string
	wrote  *int
	begins *map[string]float64
}

func (teller) Prefill(context.Context, engine.Prompt) error { return nil }

func (w teller) Generate(_ context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	*w.begins = p.Begins
	for _, piece := range w.pieces {
		*w.wrote++
		if err := emit(engine.Part{Text: piece}); err != nil {
			return engine.Usage{}, err
		}
	}
	return engine.Usage{}, nil
}

// What would follow an invented number, or a sentence that comes again, is neither said
// nor written.
func TestAReplyEndsWhereItIsInvented(t *testing.T) {
	for _, row := range []struct {
		pieces []string
		want   string
		wrote  int
	}{
		{[]string{"We open at 10. ", "We close at 8. ", "Come soon. ", "Bye."}, "We open at 10.", 2},
		{[]string{"We close at 8. ", "Come soon. ", "Bye."}, "I do not know.", 1},
		{[]string{"We close ", "at 8."}, "I do not know.", 2},
		{[]string{"We open at 10."}, "We open at 10.", 1},
		{[]string{"We open at 10. ", "We open at 10! ", "We open at 10. ", "Bye."}, "We open at 10.", 2},
		{[]string{"Oh, no. ", "Oh, no. ", "We open at 10."}, "Oh, no. Oh, no. We open at 10.", 3},
	} {
		wrote, begins := 0, map[string]float64{}
		c := told("When?")
		c.Facts.Yes = []string{"Yes"}
		got, _, err := Answer(t.Context(), "c", teller{nil, row.pieces, &wrote, &begins}, c)
		if err != nil || got != row.want || wrote != row.wrote {
			t.Errorf("%q: said %q after %d pieces, %v; want %q after %d", row.pieces, got, wrote, err, row.want,
				row.wrote)
		}
	}
}

// A piece that was cut in the middle of a number waits for the rest; one that
// ends a begun sentence wrongly is not left hanging.
func TestSentencesInPiecesAreJudgedAsAWhole(t *testing.T) {
	c := told("What is it for my class?")
	c.Facts.Told += " A class pays twenty-five dollars."
	f := newFacts(c)
	if say, on, over := f.pass("A class pays twenty", true); say == c.Facts.Unknown || !on || over {
		t.Fatalf("%q, %v, %v", say, on, over)
	}
	if say, _, over := f.pass("five dollars.", false); say != "five dollars." || over {
		t.Fatalf("%q, %v", say, over)
	}
	if say, _, _ := f.pass("Each child,", true); say != "Each child," {
		t.Fatalf("%q", say)
	}
	if say, on, over := f.pass("pays 77.", false); say != "… "+c.Facts.Unknown || on || !over {
		t.Errorf("%q, %v, %v", say, on, over)
	}
}

func TestAModelThatFailsIsStillAFailure(t *testing.T) {
	_, _, err := Answer(t.Context(), "c", failing{}, told("When?"))
	if !errors.Is(err, errFailing) {
		t.Errorf("%v", err)
	}
}

var errFailing = errors.New("out of order")

type failing struct{ engine.LanguageModel }

func (failing) Prefill(context.Context, engine.Prompt) error { return nil }
func (failing) Generate(context.Context, engine.Prompt, func(engine.Part) error) (engine.Usage, error) {
	return engine.Usage{}, errFailing
}

// The longest prompt and a long history are looked through in a fraction of what
// a model needs for a token; nothing that is said breaks the check.
func TestTheCheckIsCheapAndNeverPanics(t *testing.T) {
	c := told("When?")
	c.Facts.Told = strings.Repeat(museum, 100)
	begun := time.Now()
	newFacts(c).pass("Together 77 dollars and 13 cents.", false)
	if took := time.Since(begun); took > 10*time.Second { // 0.1 s, and more on a machine that does much else
		t.Errorf("%v for %d bytes", took, len(c.Facts.Told))
	}
	s := rapid.String()
	rapid.Check(t, func(t *rapid.T) {
		c := told(s.Draw(t, "user"))
		c.Facts.Told += s.Draw(t, "told")
		newFacts(c).pass(s.Draw(t, "answer"), rapid.Bool().Draw(t, "goes on"))
	})
}

func BenchmarkFacts(b *testing.B) {
	c := told("When?")
	c.Facts.Told = strings.Repeat(museum, 10) // 3.5 KB, as prompts are
	for b.Loop() {
		newFacts(c).pass("Together 77 dollars and 13 cents.", false)
	}
}
