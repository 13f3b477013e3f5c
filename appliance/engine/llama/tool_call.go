package llama

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

const (
	// callTokens limits a tool call: an order with an address and a remark has a hundred tokens.
	callTokens = 256
	// askTokens limits a question for an argument.
	askTokens = 48
	// maxMissing is how many arguments one question asks for; nobody answers more at once.
	maxMissing = 2
)

// writeCall generates the call of the tool that the router chose and emits it. If arguments are
// missing, it emits a question instead. part is the part of the user's words that requests the
// tool.
func (m *Model) writeCall(ctx context.Context, p engine.Prompt, set *toolset, at int, part userRequest, begun time.Time,
	emit func(engine.Part) error) (engine.Usage, error) {
	tool, parameters := set.tools[at], set.parameters[at]
	_, _, since, _ := lastRequest(p.Messages)
	again := slices.ContainsFunc(since, func(c engine.ToolCall) bool { return c.Name == tool.Name })
	var u engine.Usage
	arguments := "{}"
	if len(parameters.Arguments) > 0 || parameters.Validate(arguments) != nil {
		var missing []schema.Argument
		var fault error
		src, asked := newSource(p.Messages).ignoring(nameWords(tool.Name)), p
		if again { // for another thing than before
			src = newSource(onlyRequest(p.Messages, part.text)).ignoring(nameWords(tool.Name))
			asked = withNote(p, "Left to be done: "+part.text)
		}
		for try := range 2 {
			written, cost, err := m.writeArguments(ctx, asked, set, at, src, begun, fault)
			if try == 0 {
				u = cost
			}
			if err != nil {
				return u, err
			}
			if len(since) == 0 {
				written = firstOfLists(written)
			}
			arguments, missing, fault = checkArguments(parameters, written, src.copier(tool.Parameters, false))
			if unsaid := unsaidValues(missing, written); try == 0 && unsaid != "" {
				fault = fmt.Errorf("nobody said %s; write what was said, or null", unsaid)
			}
			if fault == nil {
				break
			}
		}
		switch {
		case len(missing) == 0 && fault == nil && !(again && alreadyCalled(since, tool.Name, arguments)):
		case len(since) > 0: // the results so far can be reported
			return m.replyInWords(ctx, p, set, begun, emit)
		default:
			return m.askForMissing(ctx, p, set, tool, missing, fault, begun, emit)
		}
	}
	u.FirstToken = time.Since(begun)
	return u,
		emit(engine.Part{Call: &engine.ToolCall{ID: "call_" + rand.Text()[:16], Name: tool.Name, Arguments: arguments}})
}

// writeArguments generates the arguments of a call from the words of the conversation. fault is
// what was wrong with the previous attempt; nil: nothing.
func (m *Model) writeArguments(ctx context.Context, p engine.Prompt, set *toolset, at int, src source,
	begun time.Time, fault error) (string, engine.Usage, error) {
	name, _ := json.Marshal(set.tools[at].Name)
	if fault != nil {
		p = withNote(p, "The arguments of "+set.tools[at].Name+" did not fit: "+fault.Error())
	}
	p.Grammar, p.MaxTokens, p.Temperature = callGrammar(set.parameters[at]), callTokens, 0
	var text strings.Builder
	write := func() (engine.Usage, error) {
		r, err := m.request(ctx, p, set, false, fmt.Sprintf("<tool_call>\n{\"name\": %s, \"arguments\":", name))
		if err != nil {
			return engine.Usage{}, err
		}
		r.copier = src.copier(set.tools[at].Parameters, fault != nil)
		return m.run(ctx, r, begun, func(piece engine.Part) error {
			text.WriteString(piece.Text)
			return nil
		})
	}
	u, err := m.retryUncached(write)
	return strings.TrimSpace(text.String()), u, err
}

// callGrammar returns the grammar of a call's arguments, after a space as the models were trained
// to write them.
func callGrammar(p *schema.Parameters) string {
	return "root ::= \" \" arguments\n" + strings.Replace(p.Grammar(), "root ::=", "arguments ::=", 1)
}

// checkArguments removes what nobody said from the arguments that a model wrote. missing are the
// required arguments among them; fault is why the remaining arguments do not fit the schema.
func checkArguments(p *schema.Parameters, written string, c *copier) (arguments string, missing []schema.Argument,
	fault error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(written), &all); err != nil {
		return "", nil, fmt.Errorf("they were not complete after %d tokens; say less", callTokens)
	}
	var fields []string
	src := c.source
	for _, a := range p.Arguments {
		value, there := all[a.Name]
		value = src.correctDate(value)
		known := there && string(value) != "null" && (a.Required && a.Chosen() || src.supports(a, value))
		if a.Required && !known && a.Default != nil {
			value, there, known = a.Default, true, true
		}
		switch {
		case a.Required && !known:
			missing = append(missing, a)
		case there && known:
			name, _ := json.Marshal(a.Name)
			fields = append(fields, string(name)+":"+string(c.restoreSpelling(a.Name, src.prune(a, value))))
		}
		delete(all, a.Name)
	}
	for _, name := range sortedKeys(all) { // properties beyond the schema, if it allows them
		quoted, _ := json.Marshal(name)
		fields = append(fields, string(quoted)+":"+string(all[name]))
	}
	arguments = "{" + strings.Join(fields, ",") + "}"
	if len(missing) == 0 {
		fault = p.Validate(arguments)
	}
	return arguments, missing, fault
}

// unsaidValues describes the values that the model wrote for missing arguments. The user may have
// said another value.
func unsaidValues(missing []schema.Argument, written string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(written), &all) != nil {
		return ""
	}
	var out []string
	for _, a := range missing {
		if value, there := all[a.Name]; there && string(value) != "null" {
			out = append(out, fmt.Sprintf("%s %s", a.Name, clip(string(value), toolLine)))
		}
	}
	return strings.Join(out, ", ")
}

// question is the grammar of a question, which cannot be a claim that something was done.
const question = "root ::= [^?？؟\\n<>{}\\[\\].!]{3,160} [?？؟]\n"

// askForMissing generates a question for the missing arguments, in the language of the
// conversation.
func (m *Model) askForMissing(ctx context.Context, p engine.Prompt, set *toolset, t engine.Tool,
	missing []schema.Argument,
	fault error, begun time.Time, emit func(engine.Part) error) (engine.Usage, error) {
	var wanted []string
	for _, a := range missing[:min(len(missing), maxMissing)] {
		what := strings.ReplaceAll(a.Name, "_", " ")
		if a.Description != "" {
			what += " (" + clip(oneLine(a.Description), toolLine) + ")"
		}
		wanted = append(wanted, "the "+what)
	}
	note := "Reply only with one short question, in my language, that asks me for " + strings.Join(wanted, " and ") +
		"."
	if len(wanted) == 0 && fault != nil {
		note = "To " + lowerFirst(toolPhrase(t)) + " was not possible: " + clip(fault.Error(), toolLine) +
			". Reply only with one short question, in my language, that asks me for another."
	}
	p = withNote(p, note)
	p.Grammar, p.MaxTokens, p.Temperature, p.FirstWordBias = question, askTokens, 0, nil
	return m.reply(ctx, p, set, begun, emit)
}

// withNote returns p with a note for the model after its last message.
func withNote(p engine.Prompt, note string) engine.Prompt {
	p.Messages = append([]engine.Message(nil), p.Messages...)
	last := &p.Messages[len(p.Messages)-1]
	last.Content += "\n(" + note + ")"
	last.NoteBytes += len("\n(" + note + ")")
	return p
}
