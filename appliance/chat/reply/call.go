package reply

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

// errUnknownTool means that the box does not have the tool.
var errUnknownTool = errors.New("the box has no such tool")

// tools returns the tools as the model sees them.
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

// retryMessages tells a model that its call does not fit, why, and what it can do.
func retryMessages(c engine.ToolCall, why string, all []turn.Tool) []engine.Message {
	instead := "Call one of these, or answer without."
	switch {
	case slices.ContainsFunc(all, func(t turn.Tool) bool { return t.Name == c.Name }):
		instead = "Call it once more, with arguments that fit."
	case len(all) == 0:
		instead = "Answer without."
	}
	if !json.Valid([]byte(c.Arguments)) {
		c.Arguments = "{}"
	}
	return []engine.Message{
		{Role: engine.Assistant, Calls: []engine.ToolCall{c}},
		{Role: engine.ToolRole, CallID: c.ID, Content: "The call was not made: " + why + " " + instead},
	}
}

// toolChecks caches the validators of a chat's tools by their parameters, because tools change seldom and a
// large schema takes dozens of milliseconds to compile. It may be used by many goroutines.
type toolChecks struct {
	mu         sync.Mutex
	validators map[string]schema.Validator
}

// misfit says why a call is to an unknown tool, or why its arguments do not match the tool's schema. It
// returns "" if the call fits. A schema that does not compile allows everything; the tool itself has to
// check.
func (checks *toolChecks) misfit(all []turn.Tool, c engine.ToolCall) string {
	var names []string
	for _, t := range all {
		if t.Name == c.Name {
			v, err := checks.get(all, t.Parameters)
			if err != nil {
				return ""
			}
			if err := v.Validate(c.Arguments); err != nil {
				return "its arguments do not fit: " + err.Error() + "."
			}
			return ""
		}
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("there is no tool %q, and no other one.", c.Name)
	}
	return fmt.Sprintf("there is no tool %q; there are: %s.", c.Name, strings.Join(names, ", "))
}

// get returns the validator of parameters. It drops validators that no tool uses any more.
func (checks *toolChecks) get(all []turn.Tool, parameters string) (schema.Validator, error) {
	checks.mu.Lock()
	defer checks.mu.Unlock()
	if v, ok := checks.validators[parameters]; ok {
		return v, nil
	}
	v, err := schema.Compile([]byte(parameters))
	if err != nil {
		return v, err
	}
	used := map[string]schema.Validator{parameters: v}
	for _, t := range all {
		if of, ok := checks.validators[t.Parameters]; ok {
			used[t.Parameters] = of
		}
	}
	checks.validators = used
	return v, nil
}
