package llama

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
	"parley/internal/packtest"
)

var hotelTools = []engine.Tool{
	{Name: "book_taxi", Description: "order a taxi for the guest", Parameters: json.RawMessage(`{"type":"object",` +
		`"properties":{
		"persons":{"type":"integer"},"destination":{"type":"string","maxLength":40},"luggage":{"type":"boolean"}},` +
		`"required":["persons","destination"]}`)},
	{Name: "wake_up_call", Description: "set an alarm that wakes the guest at a time",
		Parameters: json.RawMessage(`{"type":"object","properties":{
		"hour":{"type":"integer"},"when":{"enum":["am","pm"]}},"required":["hour","when"]}`)},
}

func TestAChoiceIsTheLikelierTheBetterItFits(t *testing.T) {
	m := small(t, func(o *Options) { o.ModelPath = packtest.File(t, "llm-qwen-small", "model.gguf") })
	p := engine.Prompt{Messages: []engine.Message{
		says(engine.System, "Answer with one word."),
		says(engine.User, "What is the capital of France: London, Paris or Rome?"),
	}, Urgency: engine.Live.Urgency()}
	got, err := m.Choose(within(t), p, []string{"London", "Paris", "Rome"})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, l := range got {
		sum += math.Exp(l)
	}
	if got[1] <= got[0] || got[1] <= got[2] || sum > 1 || sum < 0.5 {
		t.Errorf("London, Paris, Rome: %v", got)
	}
	for name, choices := range map[string][]string{"alike": {"Paris", "Paris is"}, "empty": {"Paris", ""}} {
		if _, err := m.Choose(within(t), p, choices); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAReplyFollowsAGrammar(t *testing.T) {
	m := small(t, nil)
	for _, temperature := range []float64{0, 0.8} {
		answer, _ := reply(t, m, engine.Prompt{
			Messages:    ask(questions[0]),
			Temperature: temperature,
			MaxTokens:   20,
			Grammar:     "root ::= (\"yes\" | \"no\") \", \" [0-9]{2} \" rooms\"\n",
		})
		if !(strings.HasPrefix(answer, "yes, ") || strings.HasPrefix(answer, "no, ")) ||
			!strings.HasSuffix(answer, " rooms") {
			t.Errorf("at %g: %q", temperature, answer)
		}
	}
	for _, bad := range []string{"root ::= (", "start ::= \"a\"", "root ::= missing", "root ::= root \"a\""} {
		_, err := m.Generate(within(t), engine.Prompt{Messages: ask("Hi"), Grammar: bad}, discardPart)
		if !errors.Is(err, errGrammar) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// vendorTools are tools as published programs define them.
var vendorTools = map[string]engine.Tool{
	"weather": {Name: "get_current_weather", Description: "This tool is for getting the current weather.",
		Parameters: json.RawMessage(weatherParameters)},
	"order": {Name: "get_order_status", Description: "Get the delivery date for a customer's order. Call this " +
		"whenever you need to know the delivery date, " +
		"for example when a customer asks 'Where is my package'", Parameters: json.RawMessage(`{"type":"object",` +
		`"properties":{
		"order_id":{"type":"string","description":"The customer's order ` +
		`ID."}},"required":["order_id"],"additionalProperties":false}`)},
	"phone book": {Name: "search_contacts", Description: "Search for a contact by name",
		Parameters: json.RawMessage(`{"type":"object","properties":{
		"name":{"type":"string","description":"Name to search for, e.g. John ` +
			`Smith"},"kind":{"type":"string","enum":["mobile","home","work"]}},"required":["name","kind"]}`)},
	"home": {Name: "set_light", Description: "Turn a light of the home on or off",
		Parameters: json.RawMessage(`{"type":"object","properties":{
		"room":{"type":"string","enum":["kitchen","bedroom","living ` +
			`room"]},"state":{"type":"string","enum":["on","off"]}},"required":["room","state"]}`)},
	"calendar": {Name: "create_calendar_event", Description: "Creates an event in the user's calendar",
		Parameters: json.RawMessage(`{"type":"object","properties":{
		"title":{"type":"string"},"date":{"type":"string","format":"date"},"all_day":{"type":"boolean"},` +
			`"remind_minutes":{"type":"integer","default":15}},
		"required":["title","date","all_day","remind_minutes"]}`)},
}

// The decision and the arguments are the same at any temperature of the chat.
func TestAVendorsToolIsCalledAsItStands(t *testing.T) {
	pack, full := "llm-qwen-small", os.Getenv("PARLEY_FULL_TESTS") != ""
	if full {
		pack = "llm-qwen"
	}
	m := small(t, func(o *Options) { o.ModelPath = packtest.File(t, pack, "model.gguf") })
	const prompt = "You are a friendly voice assistant. Answer in one short sentence. Today is Wednesday, 4 March 2026."
	for _, c := range []struct {
		tool, user, arguments string // a pattern; empty: no call
		times                 int    // at a temperature of 1, in addition to once at 0
		// for values that nobody said; the smaller model says that it does not know, or more
		asks bool
	}{
		{"weather", "What's the weather like in New York City?",
			`^{"location":"New York City","format":"(celsius|fahrenheit)"}$`, 2, false},
		{"weather", "Tell me the weather in Paris, please.", `^{"location":"Paris","format":"(celsius|fahrenheit)"}$`,
			0, false},
		{"weather", "What's the weather like?", "", 1, true},
		{"weather", "Thanks!", "", 0, false},
		{"order", "I want to know when order ORD-998 will arrive.", `^{"order_id":"ORD-998"}$`, 0, false},
		{"phone book", "Look up Maria Lopez in my contacts.", `^{"name":"Maria Lopez","kind":"(mobile|home|work)"}$`, 0,
			false},
		{"home", "Turn on the kitchen light.", `^{"room":"kitchen","state":"on"}$`, 0, false},
		{"calendar", "Create an event for lunch with Sarah on Friday.",
			`^{"title":"[lL]unch( with Sarah)?","date":"2026-03-06","all_day":(true|false),"remind_minutes":15}$`, 0,
			false},
	} {
		if !full {
			c.times = min(c.times, 1)
		}
		for n := range c.times + 1 {
			p := engine.Prompt{
				Conversation: "vendor",
				Messages:     []engine.Message{says(engine.System, prompt), says(engine.User, c.user)},
				Tools:        []engine.Tool{vendorTools[c.tool]},
				MaxTokens:    32,
				Temperature:  float64(min(n, 1)),
				Urgency:      engine.Live.Urgency(),
			}
			var calls []engine.ToolCall
			var answer strings.Builder
			_, err := m.Generate(within(t), p, func(part engine.Part) error {
				if part.Call != nil {
					calls = append(calls, *part.Call)
				}
				answer.WriteString(part.Text)
				return nil
			})
			switch {
			case err != nil:
				t.Fatalf("%s: %v", c.user, err)
			case c.arguments == "" && (len(calls) > 0 || answer.Len() == 0 ||
				c.asks && pack == "llm-qwen" && !strings.HasSuffix(answer.String(), "?")):
				t.Errorf("%s: called %+v and said %q", c.user, calls, answer.String())
			case c.arguments != "" && (len(calls) != 1 || calls[0].ID == "" ||
				!regexp.MustCompile(c.arguments).MatchString(calls[0].Arguments)):
				t.Errorf("%s: called %+v and said %q, want %s", c.user, calls, answer.String(), c.arguments)
			case c.arguments != "" && n == 0 && c.times > 0:
				answered(t, m, p, calls[0])
			}
		}
		m.Forget("vendor")
	}
}

// answered appends a tool result, which the assistant repeats.
func answered(t *testing.T, m *Model, p engine.Prompt, call engine.ToolCall) {
	p.Messages = append(slices.Clone(p.Messages),
		engine.Message{Role: engine.Assistant, Calls: []engine.ToolCall{call}},
		engine.Message{Role: engine.ToolRole, CallID: call.ID, Content: `{"status":"done","confirmation":"4711"}`})
	answer, _ := reply(t, m, p)
	if answer == "" || strings.Contains(answer, "tool_call") {
		t.Errorf("after the answer of a tool: %q", answer)
	}
}

// fits checks the arguments of a call.
func fits(parameters json.RawMessage, arguments string) error {
	p, err := schema.Read("t", parameters)
	if err != nil {
		return err
	}
	return p.Validate(arguments)
}

// Everything that a grammar allows has the names and types of the schema; null stands for required
// values that the model may not choose.
func TestWhatFollowsASchemaFitsIt(t *testing.T) {
	m := small(t, nil)
	var all sync.WaitGroup
	atOnce := make(chan struct{}, 4) // a step of four takes hardly longer than one of one
	for _, parameters := range []string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"integer"},"c":{"enum":["x","y\"z"]}},` +
			`"required":["c"]}`,
		`{"type":"object","properties":{"l":{"type":["array","null"],"items":{"type":"integer"},"minItems":1}},` +
			`"required":["l"]}`,
		`{"type":"object","properties":{"l":{"type":"array","items":{"const":7},"description":"infer"}},` +
			`"required":["l"]}`,
		`{"type":"object","properties":{"u":{"anyOf":[{"type":"null"},{"type":["boolean","integer"]}]},` +
			`"d":{"type":"object","properties":{"e":{"const":{"k":[1,2]}}},"required":["e"],"description":"infer"}},` +
			`"required":["u","d"]}`,
		`{"type":"object","additionalProperties":false}`,
		`{"type":"object","properties":{"n":{"type":"number"},"m":{"type":["number","null"]}},"required":["m"]}`,
		`{"type":"object","$defs":{"at":{"type":"object","properties":{"x":{"enum":[0,1,2]},"y":{"type":"boolean"}},` +
			`"required":["x"],"additionalProperties":false}},
			"properties":{"a":{"$ref":"#/$defs/at","description":"infer"},"b":{"type":"array",` +
			`"items":{"$ref":"#/$defs/at"},"minItems":1}},"required":["a"]}`,
		`{"type":"object","properties":{"s":{"description":"infer","oneOf":[{"type":"object","properties":{` +
			`"by":{"const":"card"},"n":{"type":"integer"}},"required":["by"]},{"type":"object","properties":{` +
			`"by":{"const":"cash"}},"required":["by"]}]}},"required":["s"]}`,
	} {
		p, err := schema.Read("try \"it\"", []byte(parameters))
		if err != nil {
			t.Errorf("%s: %v", parameters, err)
			continue
		}
		text := p.Grammar()
		for _, temperature := range []float64{0, 1.5} {
			atOnce <- struct{}{}
			all.Go(func() {
				defer func() { <-atOnce }()
				var answer strings.Builder
				const most = 200
				usage, err := m.Generate(within(t), engine.Prompt{
					Messages:    []engine.Message{says(engine.User, "Call it.")},
					Grammar:     text,
					MaxTokens:   most,
					Temperature: temperature,
				}, func(part engine.Part) error {
					answer.WriteString(part.Text)
					return nil
				})
				if err == nil && usage.ReplyTokens < most { // a string or a list may be incomplete
					err = fits(json.RawMessage(parameters), answer.String())
				}
				if err != nil {
					t.Errorf("%s at %g: %s: %v", parameters, temperature, answer.String(), err)
				}
			})
		}
	}
	all.Wait()
}

func TestAToolThatCannotBeCalledIsLeftOutAndNamed(t *testing.T) {
	var log strings.Builder
	m := small(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	answer, _ := reply(t, m, engine.Prompt{Messages: ask("Hi"), MaxTokens: 4,
		Tools: []engine.Tool{{Name: "odd", Parameters: json.RawMessage(`{"$ref":"other.json"}`)}}})
	if answer == "" || !strings.Contains(log.String(), "odd") || !strings.Contains(log.String(), "other.json") {
		t.Errorf("the reply is %q, the log %q", answer, log.String())
	}
	_, err := m.Generate(within(t), engine.Prompt{Messages: ask("Hi"), Tools: hotelTools, Grammar: "root ::= \"a\""},
		discardPart)
	if !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("tools and a grammar: %v", err)
	}
}
