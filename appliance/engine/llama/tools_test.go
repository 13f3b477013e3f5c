package llama

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
	"parley/internal/packtest"
)

var hotelTools = []engine.Tool{
	{Name: "book_taxi", Description: "order a taxi for the guest", Parameters: json.RawMessage(`{"type":"object","properties":{
		"persons":{"type":"integer"},"destination":{"type":"string","maxLength":40},"luggage":{"type":"boolean"}},"required":["persons","destination"]}`)},
	{Name: "wake_up_call", Description: "set an alarm that wakes the guest at a time", Parameters: json.RawMessage(`{"type":"object","properties":{
		"hour":{"type":"integer"},"when":{"enum":["am","pm"]}},"required":["hour","when"]}`)},
}

func TestAChoiceIsTheLikelierTheBetterItFits(t *testing.T) {
	m := small(t, func(o *Options) { o.ModelPath = packtest.File(t, "llm-qwen-small", "model.gguf") })
	p := engine.Prompt{Messages: []engine.Message{
		says(engine.System, "Answer with one word."), says(engine.User, "What is the capital of France: London, Paris or Rome?"),
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
		said, _ := reply(t, m, engine.Prompt{Messages: ask(questions[0]), Temperature: temperature, MaxTokens: 20,
			Grammar: "root ::= (\"yes\" | \"no\") \", \" [0-9]{2} \" rooms\"\n"})
		if !(strings.HasPrefix(said, "yes, ") || strings.HasPrefix(said, "no, ")) || !strings.HasSuffix(said, " rooms") {
			t.Errorf("at %g: %q", temperature, said)
		}
	}
	for _, bad := range []string{"root ::= (", "start ::= \"a\"", "root ::= missing", "root ::= root \"a\""} {
		_, err := m.Generate(within(t), engine.Prompt{Messages: ask("Hi"), Grammar: bad}, nothing)
		if !errors.Is(err, errGrammar) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAToolIsCalledWhenItIsMeant(t *testing.T) {
	m := small(t, func(o *Options) { o.ModelPath = packtest.File(t, "llm-qwen-small", "model.gguf") })
	for _, c := range []struct{ said, tool string }{
		{"Please get me a taxi for two people to the airport.", "book_taxi"},
		{"Can you wake me up at seven in the morning?", "wake_up_call"},
		{"When is breakfast?", ""},
		{"Hello there.", ""},
	} {
		p := engine.Prompt{Conversation: c.said, Messages: ask(c.said), Tools: hotelTools, MaxTokens: 16, Urgency: engine.Live.Urgency()}
		var calls []engine.ToolCall
		var said strings.Builder
		_, err := m.Generate(within(t), p, func(part engine.Part) error {
			if part.Call != nil {
				calls = append(calls, *part.Call)
			}
			said.WriteString(part.Text)
			return nil
		})
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.said, err)
		case c.tool == "":
			if len(calls) > 0 || said.Len() == 0 {
				t.Errorf("%s: called %+v and said %q", c.said, calls, said.String())
			}
		case len(calls) != 1 || calls[0].Name != c.tool || calls[0].ID == "" || said.Len() > 0:
			t.Errorf("%s: called %+v and said %q, want a call of %s", c.said, calls, said.String(), c.tool)
		default:
			i := slices.IndexFunc(hotelTools, func(o engine.Tool) bool { return o.Name == c.tool })
			if err := fits(hotelTools[i].Parameters, calls[0].Arguments); err != nil {
				t.Errorf("%s: %s: %v", c.said, calls[0].Arguments, err)
			}
			t.Logf("%s: %s", c.said, calls[0].Arguments)
			answered(t, m, p, calls[0])
		}
	}
}

// answered goes on after a tool's answer: the assistant says it.
func answered(t *testing.T, m *Model, p engine.Prompt, call engine.ToolCall) {
	p.Messages = append(slices.Clone(p.Messages),
		engine.Message{Role: engine.Assistant, Calls: []engine.ToolCall{call}},
		engine.Message{Role: engine.ToolRole, CallID: call.ID, Content: `{"status":"done","confirmation":"4711"}`})
	said, _ := reply(t, m, p)
	if said == "" || strings.Contains(said, "tool_call") {
		t.Errorf("after the answer of a tool: %q", said)
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

func TestWhatFollowsASchemaFitsIt(t *testing.T) {
	m := small(t, nil)
	var all sync.WaitGroup
	atOnce := make(chan struct{}, 4) // a step of four takes hardly longer than one of one
	for _, parameters := range []string{
		`{"type":"object","properties":{"a":{"type":"string","maxLength":5}}}`,
		`{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"integer"},"c":{"enum":["x","y\"z"]}},"required":["c"]}`,
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3}},"required":["l"]}`,
		`{"type":"object","properties":{"l":{"type":"array","items":{"const":7},"maxItems":1}},"required":["l"]}`,
		`{"type":"object","properties":{"u":{"anyOf":[{"type":"null"},{"type":["boolean","integer"]}]},"d":{"type":"object","properties":{"e":{"const":{"k":[1,2]}}},"required":["e"]}},"required":["u","d"]}`,
		`{"type":"object","properties":{"h":{"type":"integer","minimum":0,"maximum":23},"m":{"type":"integer","exclusiveMinimum":-7,"maximum":1205}},"required":["h","m"]}`,
		`{"type":"object","additionalProperties":false}`,
		`{"type":"object","properties":{"d":{"type":"string","format":"date"},"t":{"type":"string","format":"date-time"},"e":{"type":"string","format":"email"}},"required":["t","e"]}`,
		`{"type":"object","properties":{"n":{"type":"number","minimum":5,"maximum":30},"m":{"type":"number","minimum":0}},"required":["n","m"]}`,
		`{"type":"object","properties":{"c":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{4}$"},"p":{"type":"string","pattern":"(?i)ab+"}},"required":["c"]}`,
		`{"type":"object","$defs":{"at":{"type":"object","properties":{"x":{"type":"integer","minimum":0,"maximum":9},"y":{"type":"boolean"}},"required":["x"],"additionalProperties":false}},
			"properties":{"a":{"$ref":"#/$defs/at"},"b":{"type":"array","items":{"$ref":"#/$defs/at"},"minItems":1,"maxItems":2}},"required":["a","b"]}`,
		`{"allOf":[{"type":"object","properties":{"a":{"type":"integer","maximum":5}},"required":["a"]},{"properties":{"b":{"enum":["x"]}},"required":["b"]}]}`,
		`{"type":"object","properties":{"t":{"type":"array","prefixItems":[{"type":"integer"},{"enum":["kg","lb"]}],"minItems":2}},"required":["t"]}`,
		`{"type":"object","properties":{"s":{"oneOf":[{"type":"object","properties":{"by":{"const":"card"},"n":{"type":"integer"}},"required":["by","n"]},{"type":"object","properties":{"by":{"const":"cash"}},"required":["by"]}]}},"required":["s"]}`,
		`{"type":"object","properties":{"o":{"type":"object","additionalProperties":{"type":"boolean"}}},"required":["o"]}`,
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
				var said strings.Builder
				const most = 200
				usage, err := m.Generate(within(t), engine.Prompt{Messages: []engine.Message{says(engine.User, "Call it.")}, Grammar: text, MaxTokens: most, Temperature: temperature}, func(part engine.Part) error {
					said.WriteString(part.Text)
					return nil
				})
				if err == nil && usage.ReplyTokens < most { // a string without a bound may go on
					err = fits(json.RawMessage(parameters), said.String())
				}
				if err != nil {
					t.Errorf("%s at %g: %s: %v", parameters, temperature, said.String(), err)
				}
			})
		}
	}
	all.Wait()
}

func TestAToolThatCannotBeCalledIsLeftOutAndNamed(t *testing.T) {
	var log strings.Builder
	m := small(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	said, _ := reply(t, m, engine.Prompt{Messages: ask("Hi"), MaxTokens: 4, Tools: []engine.Tool{{Name: "odd", Parameters: json.RawMessage(`{"$ref":"#"}`)}}})
	if said == "" || !strings.Contains(log.String(), "odd") || !strings.Contains(log.String(), "$ref") {
		t.Errorf("it said %q, the log %q", said, log.String())
	}
	_, err := m.Generate(within(t), engine.Prompt{Messages: ask("Hi"), Tools: hotelTools, Grammar: "root ::= \"a\""}, nothing)
	if !errors.Is(err, engine.ErrCannot) {
		t.Errorf("tools and a grammar: %v", err)
	}
}
