package llama

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parley/appliance/engine"
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

// fits checks a value against a schema.
func fits(schema json.RawMessage, value string) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", doc); err != nil {
		return err
	}
	compiled, err := c.Compile("tool.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return err
	}
	return compiled.Validate(v)
}

func TestWhatFollowsASchemaFitsIt(t *testing.T) {
	m := small(t, nil)
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"type":"string","maxLength":5}}}`,
		`{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"integer"},"c":{"enum":["x","y\"z"]}},"required":["c"]}`,
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3}},"required":["l"]}`,
		`{"type":"object","properties":{"l":{"type":"array","items":{"const":7},"maxItems":1}},"required":["l"]}`,
		`{"type":"object","properties":{"u":{"anyOf":[{"type":"null"},{"type":["boolean","integer"]}]},"d":{"type":"object","properties":{"e":{"const":{"k":[1,2]}}},"required":["e"]}},"required":["u","d"]}`,
		`{"type":"object","properties":{"h":{"type":"integer","minimum":0,"maximum":23},"m":{"type":"integer","exclusiveMinimum":-7,"maximum":1205}},"required":["h","m"]}`,
		`{"type":"object","additionalProperties":false}`,
	} {
		text, err := toolGrammar(engine.Tool{Name: "try \"it\"", Parameters: json.RawMessage(schema)})
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		for _, temperature := range []float64{0, 1.5} {
			said, _ := reply(t, m, engine.Prompt{Messages: ask("Call it."), Grammar: text, MaxTokens: 120, Temperature: temperature})
			var call struct {
				Name      string
				Arguments json.RawMessage
			}
			if err := json.Unmarshal([]byte(said), &call); err != nil || call.Name != `try "it"` {
				t.Errorf("%s at %g: %q: %v", schema, temperature, said, err)
			} else if err := fits(json.RawMessage(schema), string(call.Arguments)); err != nil {
				t.Errorf("%s at %g: %s: %v", schema, temperature, call.Arguments, err)
			}
		}
	}
}

func TestASchemaThatNoGrammarFollowsIsRefused(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 20) + `{}` + strings.Repeat(`}`, 20)
	for schema, want := range map[string]string{
		`{"$ref":"#/x"}`: "parameters.$ref",
		`{"type":"object","properties":{"a":{"type":"string","pattern":"^a$"}}}`: "parameters.properties.a.pattern",
		`{"type":"thing"}`:                    `"thing" is not allowed`,
		`{"type":7}`:                          "parameters.type",
		`{"required":["a"],"type":"object"}`:  `"a" is none of the properties`,
		`[]`:                                  "no JSON Schema",
		`false`:                               "no value",
		`{"type":"string","maxLength":99999}`: "can count",
		deep:                                  "deeper",
		`{`:                                   "no JSON Schema",
	} {
		_, err := toolGrammar(engine.Tool{Name: "t", Parameters: json.RawMessage(schema)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"t"`) {
			t.Errorf("%.60s: %v, want %q in it", schema, err, want)
		}
	}
	m := small(t, nil)
	_, err := m.Generate(within(t), engine.Prompt{Messages: ask("Hi"), Tools: []engine.Tool{{Name: "t", Parameters: json.RawMessage(`{"$ref":"#"}`)}}}, nothing)
	if err == nil || !strings.Contains(err.Error(), "$ref") {
		t.Errorf("Generate: %v", err)
	}
	_, err = m.Generate(within(t), engine.Prompt{Messages: ask("Hi"), Tools: hotelTools, Grammar: "root ::= \"a\""}, nothing)
	if !errors.Is(err, engine.ErrCannot) {
		t.Errorf("tools and a grammar: %v", err)
	}
}
