package reply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// Toolbox runs the tools of the box, but for those that the conversation itself
// does.
type Toolbox interface {
	// RunTool runs the tool of a name with arguments, a JSON object. It returns
	// what the model is to read. The error is for people; it says why the tool
	// failed.
	RunTool(ctx context.Context, name, arguments string) (content string, err error)
}

// errNoTool is what a tool of the box fails with that it does not have.
var errNoTool = errors.New("the box has no such tool")

// tools are those of a conversation as a model sees them.
func tools(all []turn.Tool) []engine.Tool {
	if len(all) == 0 {
		return nil
	}
	out := make([]engine.Tool, len(all))
	for i, t := range all {
		out[i] = engine.Tool{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(t.Parameters)}
	}
	return out
}

// again tells a model that its call does not fit, and why.
func again(c engine.ToolCall, why string) []engine.Message {
	if !json.Valid([]byte(c.Arguments)) {
		c.Arguments = "{}"
	}
	return []engine.Message{
		{Role: engine.Assistant, Calls: []engine.ToolCall{c}},
		{Role: engine.ToolRole, CallID: c.ID, Content: "The call was not made: " + why + " Call it once more, with arguments that fit."},
	}
}

// unfit says why a call is none of the tools', or not one with arguments that its
// schema allows; empty: it fits. A schema that cannot be read allows everything:
// whoever runs the tool sees what comes.
func unfit(all []turn.Tool, c engine.ToolCall) string {
	var names []string
	for _, t := range all {
		if t.Name == c.Name {
			return unfitArguments(t, c.Arguments)
		}
		names = append(names, t.Name)
	}
	return fmt.Sprintf("there is no tool %q; there are: %s.", c.Name, strings.Join(names, ", "))
}

func unfitArguments(t turn.Tool, arguments string) string {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		return "its arguments are not JSON: " + err.Error() + "."
	}
	if _, ok := value.(map[string]any); !ok {
		return "its arguments are no JSON object."
	}
	written, err := jsonschema.UnmarshalJSON(strings.NewReader(t.Parameters))
	if err != nil {
		return ""
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema loads nothing from anywhere
	if c.AddResource("tool.json", written) != nil {
		return ""
	}
	schema, err := c.Compile("tool.json")
	if err != nil {
		return ""
	}
	if err = schema.Validate(value); err == nil {
		return ""
	}
	why := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.Join(why[min(1, len(why)-1):], " ") + "."
}
