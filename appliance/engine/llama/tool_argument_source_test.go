package llama

import (
	"encoding/json"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

func TestInventedValuesAreRecognised(t *testing.T) {
	text := func(user string) []engine.Message {
		return []engine.Message{says(engine.System,
			"The hotel has 80 rooms. A taxi to the airport costs fifty dollars."), says(engine.User, user)}
	}
	for _, c := range []struct {
		user, value string
		is          bool
	}{
		{"A taxi to the station at six this evening, please.", `"train station"`, true},
		{"A taxi to the station at six this evening, please.", `"18:00"`, true},
		{"A taxi to the station at six this evening, please.", `"6 pm"`, true},
		{"A taxi to the station at six this evening, please.", `"08:30"`, false},
		{"Wake me at half past seven.", `"07:30"`, true},
		{"Wake me at a quarter to six.", `"5:45"`, true},
		{"Wake me at a quarter to six.", `"7:45"`, false},
		{"Wake me at a quarter to six.", `"06:30"`, false},
		{"Wake me at ten to six.", `"05:50"`, true},
		{"Wake me at six forty-five.", `"06:45"`, true},
		{"Wake me at six oh five.", `"06:05"`, true},
		{"A taxi right now, please.", `"14:05"`, true},
		{"Can you get me a cab?", `"airport"`, false}, // a word of the prompt, not of the user
		{"Can you get me a cab?", `"now"`, false},
		{"Bring towels to room three oh four.", `304`, true},
		{"Bring towels to room two hundred and twelve.", `212`, true},
		{"Bring towels to room 212.", `212`, true},
		{"Bring towels to room two hundred and twelve.", `213`, false},
		{"Can you send a bottle of water up?", `101`, false},
		{"Can you send a bottle of water up?", `["bottle of water"]`, true},
		{"We need more towels.", `["towel"]`, true},
		{"Set a timer for a quarter of an hour.", `15`, true},
		{"Set a timer for two hours.", `120`, true},
		{"Where is order A five five one two?", `"A5512"`, true},
		{"Where is my order?", `"A1234"`, false},
		{"Tomorrow, please.", `"2026-03-04"`, true},
		{"I would like to see the doctor.", `"2026-03-04"`, false},
		{"On the fourth.", `"2026-03-04"`, true},
		{"On the seventeenth of March.", `"2026-03-17"`, true},
		{"On the thirty-first, please.", `"2026-03-31"`, true},
		{"On the seventeenth of March.", `"2026-03-14"`, false},
		{"Do you have time this week, on Thursday?", `"2026-03-05"`, true},
		{"Do you have time this week, on Thursday?", `"2026-03-14"`, false}, // a Saturday
		{"Do you have time this week?", `"2026-03-14"`, true},
		{"Make it twenty-one degrees.", `21`, true},
		{"Make it warmer.", `22`, false},
		{"Make it 21.5 degrees please.", `21.5`, true},
		{"Turn it off.", `false`, true},
		{"Give Anna some money.", `100`, false},
		{"Look up customer four five one.", `"four_five_one.0000000@house.com"`, false},
		{"Look up customer four five one.", `451`, true},
		{"The mail is ann at example dot com.", `"ann@example.com"`, true},
		{"The mail is ann at example dot com.", `"bob@example.com"`, false},
		{"A pizza to Baker Street, please.", `"Baker Street 12"`, false},
		{"A pizza to Baker Street twelve, please.", `"Baker Street 12"`, true},
		{"A taxi to the station at five in the afternoon.", `"station at 17"`, true},
		{"A taxi tomorrow at half past five.", `"tomorrow 17:30"`, true},
		{"My name is Peter Brown.", `"Peter Brown"`, true},
		{"I'd like a wake-up call, please.", `""`, false},
		{"I'd like a wake-up call, please.", `null`, false},
		{"Ein Taxi zum Bahnhof um sechs bitte.", `"Bahnhof"`, true},
		{"请明天早上七点叫醒我。", `7`, true}, // the language is not supported: the model is trusted
	} {
		if got := newSource(text(c.user)).supports(schema.Argument{}, json.RawMessage(c.value)); got != c.is {
			t.Errorf("%q: %s was said: %v", c.user, c.value, got)
		}
	}
}

func TestTheRequestItselfSaysNothingAboutAValue(t *testing.T) {
	heard := newSource([]engine.Message{says(engine.User, "Play something.")}).ignoring(nameWords("play_music"))
	if heard.supports(schema.Argument{}, json.RawMessage(`"The song you want to play"`)) {
		t.Error("\"play\" is taken for what is to be played")
	}
	heard = newSource([]engine.Message{says(engine.User, "Play some jazz.")}).ignoring(nameWords("play_music"))
	if !heard.supports(schema.Argument{}, json.RawMessage(`"jazz music"`)) {
		t.Error("the music to be played is not found")
	}
}

func TestAChoiceOfCodesIsBelieved(t *testing.T) {
	s := newSource([]engine.Message{says(engine.User, "Wake me at seven in the morning.")})
	codes := schema.Argument{Enum: []json.RawMessage{[]byte(`"am"`), []byte(`"pm"`)}}
	words := schema.Argument{Enum: []json.RawMessage{[]byte(`"English"`), []byte(`"German"`)}}
	if !s.supports(codes, json.RawMessage(`"am"`)) || s.supports(words, json.RawMessage(`"German"`)) {
		t.Error("the code is not believed, or the word is")
	}
}

func TestOfAPromptOnlyWhatIsOfThisConversationCounts(t *testing.T) {
	const changing = " The guest is in room 304."
	m := []engine.Message{{Role: engine.System, Content: "Rooms 101 to 699." + changing, VolatileBytes: len(changing)},
		says(engine.User, "I need towels.")}
	if s := newSource(m); !s.supports(schema.Argument{}, json.RawMessage("304")) ||
		s.supports(schema.Argument{}, json.RawMessage("101")) {
		t.Errorf("%v", s.numbers)
	}
}

// Each part of lists and objects is checked: a street was said, and its number was not.
func TestAnUnspokenValueIsLeftOutOfAPart(t *testing.T) {
	heard := newSource([]engine.Message{says(engine.User,
		"A pizza with olives to Baker Street, please, in kilos or am.")})
	address := schema.Argument{Schema: json.RawMessage(`{"type":"object","properties":{"street":{"type":"string"},` +
		`"number":{"type":"integer"},"when":{"enum":["am","pm"]}}}`)}
	toppings := schema.Argument{Schema: json.RawMessage(`{"type":"array","items":{"type":"string"}}`)}
	for _, row := range []struct {
		a             schema.Argument
		written, want string
	}{
		{address, `{"street": "Baker Street", "number": 12, "when": "pm"}`, `{"street":"Baker Street","when":"pm"}`},
		{address, `{"street": "Baker Street"}`, `{"street": "Baker Street"}`},
		{toppings, `["olives", "ham"]`, `["olives"]`},
		{toppings, `["olives"]`, `["olives"]`},
		{schema.Argument{}, `[{"what": "olives", "count": 7}]`, `[{"what":"olives"}]`},
	} {
		if got := string(heard.prune(row.a, json.RawMessage(row.written))); got != row.want {
			t.Errorf("%s: %s, want %s", row.written, got, row.want)
		}
	}
}

func TestAUnionTypeIsDescribedInWords(t *testing.T) {
	for of, want := range map[string]string{
		`{"anyOf":[{"type":"integer"},{"type":"string","format":"email"}]}`: "integer or email",
		`{"type":["string","null"]}`:                                        "string or null",
		`{"anyOf":[{"type":"object"},{"type":"string"}]}`:                   "",
		`{"anyOf":[{"$ref":"#/$defs/a"}]}`:                                  "",
		`{"type":"string"}`:                                                 "",
		`{}`:                                                                "",
	} {
		if got := unionTypes(json.RawMessage(of)); got != want {
			t.Errorf("%s: %q, want %q", of, got, want)
		}
	}
}
