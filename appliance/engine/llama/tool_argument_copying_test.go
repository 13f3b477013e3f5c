package llama

import (
	"encoding/json"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

const weatherParameters = `{"type":"object","properties":{"location":{"type":"string","description":"The city and ` +
	`state, e.g. San Francisco, CA"},
	"format":{"type":"string","enum":["celsius","fahrenheit"],"description":"The temperature unit to use. Infer this ` +
	`from the users location."}},"required":["location","format"]}`

// A string that begins like something that was said continues like it; any other beginning is left
// to the model: it may be a number, or an invention.
func TestAStringOfACallGoesOnAsItWasSaid(t *testing.T) {
	heard := newSource([]engine.Message{says(engine.User,
		"What's the weather like in New York City? I'm Maria Lopez's "+
			"sister, order A B 7, at 10 am. Not in Paris, please, nor Phoenix, Arizona, or lyon, please.")}).ignoring(
		nameWords("get_current_weather"))
	for _, c := range []struct {
		written string
		strict  bool
		fits    bool
	}{
		{`{"location": "New York City", "format": "fahrenheit"}`, false, true},
		{`{"location": "new york city"`, false, true},
		{`{"location": "New York"`, false, true},
		{`{"location": "New York, NY"`, false, false},
		{`{"location": "New Yor"`, false, false},
		{`{"location": "Phoenix, Arizona"`, false, true},
		{`{"location": "Phoenix, Arizona,`, false, false},
		{`{"location": "Paris,`, false, false},
		{`{"location": "Lyon,`, false, false},
		{`{"location": "Maria Lopez"`, false, true},
		{`{"location": "San Francisco, CA"`, false, true}, // checkArguments finds that the user did not say it
		{`{"location": "San Francisco, CA"`, true, false},
		{`{"location": "Weatherford"`, false, true}, // a word of the tool's name says nothing
		{`{"location": "AB7"`, false, true},
		{`{"location": "10:00"`, false, true},
		{`{"location": "40.7,-74"`, true, true},
		{`{"location": "New \"York\""`, false, true},
		{`{"format": "new delhi"`, true, true}, // an enum is not a free string
		{`{"New Orleans": 1`, true, true},      // nor is a property name
	} {
		if _, fits := (cursor{}).through([]byte(c.written),
			heard.copier(json.RawMessage(weatherParameters), c.strict)); fits != c.fits {
			t.Errorf("%s may be written: %v", c.written, fits)
		}
	}
}

func TestWhatWasSaidIsSpelledAsItWasSaid(t *testing.T) {
	heard := newSource([]engine.Message{says(engine.User,
		"lunch with Sarah at the Café Élan, near new york city, please")})
	c := heard.copier(json.RawMessage(`{"properties":{"to":{"type":"string"},"who":{"type":"array",`+
		`"items":{"type":"string"}},"at":{"properties":{"name":{"type":"string"}}},"kind":{"enum":["Lunch"]}}}`), false)
	for _, row := range []struct{ name, written, want string }{
		{"to", `"New York City"`, `"new york city"`},
		{"to", `"Greater New York City Area"`, `"new york city"`},
		{"to", `"café élan"`, `"Café Élan"`},
		{"to", `"Boston"`, `"Boston"`},
		{"to", `"room 12"`, `"room 12"`},
		{"who", `["sarah", "the sarah"]`, `["Sarah","Sarah"]`},
		{"at", `{"name": "Lunch With Sarah"}`, `{"name":"lunch with Sarah"}`},
		{"kind", `"Lunch"`, `"Lunch"`},
	} {
		if got := string(c.restoreSpelling(row.name, json.RawMessage(row.written))); got != row.want {
			t.Errorf("%s %s: %s, want %s", row.name, row.written, got, row.want)
		}
	}
}

// The model chooses values where the schema says so, and the user is only asked for the others.
func TestAChoiceIsNeverAskedFor(t *testing.T) {
	for _, c := range []struct{ parameters, user, written, arguments, missing string }{
		{weatherParameters, "What's the weather like in New York City?",
			`{"location":"New York City","format":"fahrenheit"}`, `{"location":"New York City","format":"fahrenheit"}`,
			""},
		{weatherParameters, "What's the weather like?", `{"location":"San Francisco, CA","format":"fahrenheit"}`,
			`{"format":"fahrenheit"}`, "location"},
		{`{"type":"object","properties":{"what":{"type":"string"},"minutes":{"type":"integer","default":30}},` +
			`"required":["what","minutes"]}`,
			"Plan a call, please.", `{"what":"a call","minutes":45}`, `{"what":"a call","minutes":30}`, ""},
		{`{"type":"object","properties":{"zone":{"type":"string","description":"Infer it from the ` +
			`place."},"quiet":{"type":"boolean"}},"required":["zone","quiet"]}`,
			"I'm in Rome.", `{"zone":"Europe/Berlin","quiet":false}`, `{"zone":"Europe/Berlin","quiet":false}`, ""},
		{`{"type":"object","properties":{"light":{"type":"object","properties":{"room":{"type":"string"},` +
			`"state":{"enum":["on","off"]}},"required":["room","state"]}},"required":["light"]}`,
			"The kitchen light, please.", `{"light":{"room":"kitchen","state":"off"}}`,
			`{"light":{"room":"kitchen","state":"off"}}`, ""},
	} {
		p, err := schema.Read("t", []byte(c.parameters))
		if err != nil {
			t.Fatal(err)
		}
		arguments, missing, fault := checkArguments(p, c.written,
			newSource([]engine.Message{says(engine.User, c.user)}).copier(json.RawMessage(c.parameters), false))
		if arguments != c.arguments || fault != nil || len(missing) > 1 || (len(missing) == 1) != (c.missing != "") ||
			len(missing) == 1 && missing[0].Name != c.missing {
			t.Errorf("%q: %s, missing %v, %v", c.user, arguments, missing, fault)
		}
	}
}

// Two sentences may look alike to the router while only one has what the tool requires.
func TestWhatAToolNeedsIsEvidenceForIt(t *testing.T) {
	order := `{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}`
	light := `{"type":"object","properties":{"room":{"enum":["living_room","kitchen"]},"state":{"enum":["on","off"]},` +
		`"level":{"type":"integer"}},"required":["room","state"]}`
	event := `{"type":"object","properties":{"title":{"type":"string"},"date":{"type":"string","format":"date"}},` +
		`"required":["title","date"]}`
	for _, c := range []struct {
		parameters, user string
		is               float64
	}{
		{order, "has 55310 been shipped yet", evidence},
		{order, "The number is seven four four one.", evidence},
		{order, "What's your return policy?", 0},
		{order, "I think I'm the one.", 0},
		{weatherParameters, "Do I need an umbrella in Amsterdam?", nameEvidence},
		{weatherParameters, "Is it cold out? Hello.", 0},
		{light, "Dim the living room to thirty percent.", evidence},
		{light, "Which colour goes well with blue?", 0},
		{event, "What is a calendar for?", 0},
		{event, "Lunch with Sarah on Friday.", evidence},
		{`{"type":"object"}`, "What time is it in Rome?", 0},
	} {
		p, err := schema.Read("t", []byte(c.parameters))
		if err != nil {
			t.Fatal(err)
		}
		if got := evidenceFor(p, []engine.Message{says(engine.User, c.user)}); got != c.is {
			t.Errorf("%q: %g, want %g", c.user, got, c.is)
		}
	}
}

// Evidence does not count for a tool that does more than look something up.
func TestEvidenceCountsForLookingUpAlone(t *testing.T) {
	p, err := schema.Read("t",
		[]byte(`{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, description, user string
		is                      float64
	}{
		{"order_status", "Tells where an order is.", "Has 55310 been shipped yet?", evidence},
		{"get_order", "The state of an order.", "Has 55310 been shipped yet?", evidence},
		{"cancel_order", "Cancel an order.", "Has 55310 been shipped yet?", 0},
		{"order_status", "Tells where an order is.", "Oh no, keep it.", 0},
	} {
		set := &toolset{tools: []engine.Tool{{Name: c.name, Description: c.description}},
			parameters: []*schema.Parameters{p}}
		if got := set.evidenceFor(0, []engine.Message{says(engine.User, c.user)}); got != c.is {
			t.Errorf("%s, %q: %g, want %g", c.name, c.user, got, c.is)
		}
	}
}
