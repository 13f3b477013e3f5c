package llama

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

const (
	// callTokens is how long a call may get: an order with an address and a
	// remark has a hundred.
	callTokens = 256
	callOpen   = "<tool_call>\n"
	noTool     = "other" // what the router says where no tool is meant
)

// withTools writes p for a model that knows only what is said: the tools stand
// in the system message, calls and what tools answered in those of the
// assistant and the user, as Qwen and its kin were trained to read them.
func withTools(p engine.Prompt) []engine.Message {
	out := make([]engine.Message, 0, len(p.Messages)+1)
	if len(p.Tools) > 0 && (len(p.Messages) == 0 || p.Messages[0].Role != engine.System) {
		out = append(out, engine.Message{Role: engine.System})
	}
	for _, m := range p.Messages {
		var b strings.Builder
		b.WriteString(m.Content)
		for _, c := range m.Calls {
			name, _ := json.Marshal(c.Name)
			fmt.Fprintf(&b, "\n<tool_call>\n{\"name\": %s, \"arguments\": %s}\n</tool_call>", name, c.Arguments)
		}
		said := engine.Message{Role: m.Role, Content: b.String(), Changing: m.Changing}
		if m.Role == engine.ToolRole {
			said = engine.Message{Role: engine.User, Content: "<tool_response>\n" + m.Content + "\n</tool_response>"}
		}
		out = append(out, said)
	}
	if len(p.Tools) > 0 {
		steady := len(out[0].Content) - out[0].Changing
		out[0].Content = out[0].Content[:steady] + toolBlock(p.Tools) + out[0].Content[steady:]
	}
	return out
}

// toolBlock tells a model which tools there are.
func toolBlock(tools []engine.Tool) string {
	var b strings.Builder
	b.WriteString("\n\n# Tools\n\nThese functions can be called for the user:\n<tools>\n")
	for _, t := range tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		line, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
			"name": t.Name, "description": t.Description, "parameters": parameters,
		}})
		if err == nil { // parameters that are no JSON were refused before
			b.Write(line)
			b.WriteByte('\n')
		}
	}
	b.WriteString("</tools>\n\nA call stands between <tool_call> and </tool_call>. Say that something was done only after a function has answered so.\n\n")
	return b.String()
}

// generateWithTools asks first whether the user wants a tool, which small models
// do not find out while they answer. Then the call is opened for the model and
// follows the tool's schema; else it answers in words. After a tool's answer it
// answers in words, so that no call leads to another without end.
func (m *Model) generateWithTools(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	all := make([]*schema.Parameters, len(p.Tools))
	for i, t := range p.Tools {
		var err error
		if all[i], err = schema.Read(t.Name, t.Parameters); err != nil {
			return engine.Usage{}, fmt.Errorf("llama: %w", err)
		}
	}
	begun := time.Now()
	if n := len(p.Messages); p.NoCall || n == 0 || p.Messages[n-1].Role != engine.User {
		return m.answer(ctx, p, begun, emit)
	}
	at, err := m.route(ctx, p)
	if err != nil {
		return engine.Usage{}, err
	}
	if at < 0 {
		return m.answer(ctx, p, begun, emit)
	}
	return m.call(ctx, p, begun, callGrammar(p.Tools[at].Name, all[at]), emit)
}

// route says which tool the user's last message asks for; -1: none.
func (m *Model) route(ctx context.Context, p engine.Prompt) (int, error) {
	choices := make([]string, len(p.Tools), len(p.Tools)+1)
	for i, t := range p.Tools {
		choices[i] = t.Name
	}
	choices = append(choices, noTool)
	if _, err := m.firsts(choices); err != nil { // two names that begin alike
		for i := range choices {
			if choices[i] != noTool {
				choices[i] = string(rune('A'+i%26)) + strings.Repeat("'", i/26) + "_" + choices[i]
			}
		}
	}
	weights, err := m.choose(ctx, engine.Prompt{Messages: routing(p, choices), Urgency: p.Urgency}, choices, true)
	if err != nil {
		return -1, fmt.Errorf("llama: choosing a tool: %w", err)
	}
	at, best := -1, math.Inf(-1)
	for i, w := range weights {
		if w > best {
			at, best = i, w
		}
	}
	if at == len(p.Tools) {
		return -1, nil
	}
	return at, nil
}

// routing asks which tool is meant. Its beginning is the same for all who have
// these tools, so it is read once.
func routing(p engine.Prompt, names []string) []engine.Message {
	var b strings.Builder
	b.WriteString("Say which of these the user asks for now. Answer with its name only.\n")
	for i, t := range p.Tools {
		fmt.Fprintf(&b, "%s: %s\n", names[i], t.Description)
	}
	b.WriteString(noTool + ": anything else, such as a question, small talk or thanks\n")
	out := []engine.Message{{Role: engine.System, Content: b.String()}}
	for _, example := range []string{"Hello, how are you?", "When do you open, and what does it cost?", "Where is lunch?", "Thank you, that is all."} {
		out = append(out, engine.Message{Role: engine.User, Content: example}, engine.Message{Role: engine.Assistant, Content: noTool})
	}
	return append(out, engine.Message{Role: engine.User, Content: p.Messages[len(p.Messages)-1].Content})
}

// call has the model write the call that it was decided to make.
func (m *Model) call(ctx context.Context, p engine.Prompt, begun time.Time, grammar string, emit func(engine.Part) error) (engine.Usage, error) {
	p.Grammar, p.MaxTokens = grammar, callTokens
	var text strings.Builder
	u, err := m.generate(ctx, p, begun, callOpen, func(part engine.Part) error {
		text.WriteString(part.Text)
		return nil
	})
	if err != nil {
		return u, err
	}
	var said struct {
		Name      string
		Arguments json.RawMessage
	}
	if err := json.Unmarshal([]byte(text.String()), &said); err != nil {
		return u, fmt.Errorf("llama: the call of a tool was not complete after %d tokens", u.ReplyTokens)
	}
	u.FirstToken = time.Since(begun)
	return u, emit(engine.Part{Call: &engine.ToolCall{ID: "call_" + rand.Text()[:16], Name: said.Name, Arguments: string(said.Arguments)}})
}

// checkRoles says what is wrong with the messages of p; nil: nothing.
func checkRoles(p engine.Prompt) error {
	for i, m := range p.Messages {
		switch {
		case !slices.Contains([]engine.Role{engine.System, engine.User, engine.Assistant, engine.ToolRole}, m.Role):
			return fmt.Errorf("llama: message %d has role %q; known are system, user, assistant and tool", i, m.Role)
		case len(m.Calls) > 0 && m.Role != engine.Assistant:
			return fmt.Errorf("llama: message %d of role %q calls tools; only the assistant does", i, m.Role)
		}
	}
	if p.Grammar != "" && len(p.Tools) > 0 {
		return fmt.Errorf("llama: a prompt with both tools and a grammar: %w", engine.ErrCannot)
	}
	return nil
}

// callGrammar is what a call of a tool follows, as the models were trained to
// write it.
func callGrammar(name string, p *schema.Parameters) string {
	quoted, _ := json.Marshal(name)
	rules := strings.Replace(p.Grammar(), "root ::=", "arguments ::=", 1)
	return fmt.Sprintf("root ::= %s arguments \"}\"\n%s", schema.Literal(`{"name": `+string(quoted)+`, "arguments": `), rules)
}
