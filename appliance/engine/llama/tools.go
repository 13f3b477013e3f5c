package llama

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
)

// Marks in a message stand for markup of the model. Text that was said or that a tool returned
// contains no marks (markRemover) and cannot spell the markup either (escapeMarkup), so only this
// package writes a call or a tool result.
const (
	callMark, callEndMark     = "\x02call\x03", "\x02/call\x03"
	answerMark, answerEndMark = "\x02answer\x03", "\x02/answer\x03"
)

var marks = map[string]string{
	callMark:      "<tool_call>",
	callEndMark:   "</tool_call>",
	answerMark:    "<tool_response>",
	answerEndMark: "</tool_response>",
}

var (
	markRemover   = strings.NewReplacer("\x02", "", "\x03", "")
	markupPattern = regexp.MustCompile(`(?i)<(\s*/?\s*)(tool_?(?:call|response|result)|function|tools)`)
)

// escapeMarkup returns text without marks and without the model's markup.
func escapeMarkup(text string) string {
	if strings.ContainsAny(text, "\x02\x03") {
		text = markRemover.Replace(text)
	}
	if strings.Contains(text, "<") {
		text = markupPattern.ReplaceAllString(text, "‹$1$2")
	}
	return text
}

// withTools writes p for a model that only knows text: the tools are listed in the system message,
// and calls and tool results are part of the assistant's and the user's messages, as Qwen and
// related models were trained.
func withTools(p engine.Prompt, set *toolset) []engine.Message {
	out := make([]engine.Message, 0, len(p.Messages)+1)
	if set != nil && (len(p.Messages) == 0 || p.Messages[0].Role != engine.System) {
		out = append(out, engine.Message{Role: engine.System})
	}
	for i, m := range p.Messages {
		if isFragment(m) && i < len(p.Messages)-1 {
			continue
		}
		steady := len(m.Content) - min(m.VolatileBytes, len(m.Content))
		changing := escapeMarkup(m.Content[steady:])
		message := engine.Message{Role: m.Role, Content: escapeMarkup(m.Content[:steady]) + changing,
			VolatileBytes: len(changing)}
		if m.Interrupted {
			message.Content = trimCutMark(message.Content)
		}
		for _, c := range m.Calls {
			name, _ := json.Marshal(c.Name)
			message.Content += fmt.Sprintf("\n%s\n{\"name\": %s, \"arguments\": %s}\n%s", callMark, name,
				escapeMarkup(c.Arguments), callEndMark)
		}
		if m.Role == engine.ToolRole {
			message = engine.Message{Role: engine.User,
				Content: answerMark + "\n" + message.Content + "\n" + answerEndMark}
		}
		out = append(out, message)
	}
	if set != nil {
		steady := len(out[0].Content) - out[0].VolatileBytes
		out[0].Content = out[0].Content[:steady] + escapeMarkup(set.block) + out[0].Content[steady:]
	}
	return out
}

// generateWithTools asks the router whether the user requests a tool, and computes the answer in
// words in parallel, in the same steps; none of it is emitted before the router has decided that no
// tool is needed. The arguments of a call are generated under the tool's grammar, and the user is
// asked for those that are missing.
func (m *Model) generateWithTools(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage,
	error) {
	begun := time.Now()
	set, err := m.toolset(p.Tools)
	if err != nil {
		return engine.Usage{}, err
	}
	_, _, _, asked := lastRequest(p.Messages)
	if p.NoToolCalls || len(set.tools) == 0 || !asked || p.Messages[len(p.Messages)-1].Role == engine.Assistant ||
		set.isPleasantry(p.Messages) {
		return m.replyInWords(ctx, p, set, begun, emit)
	}
	if err := checkRoles(p); err != nil {
		return engine.Usage{}, err
	}
	if at := set.farewellTool(p.Messages); at >= 0 {
		return m.writeCall(ctx, p, set, at, userRequest{}, begun, emit)
	}
	words, err := m.request(ctx, p, set, false, "")
	if err != nil {
		return engine.Usage{}, err
	}
	part, at, _, routerTokens, err := m.route(ctx, p, set, words)
	if err != nil {
		return engine.Usage{}, err
	}
	if at >= 0 {
		m.mailbox.abandon(words)
		return m.writeCall(ctx, p, set, at, part, begun, emit)
	}
	defer p.Urgency.Watch(func() { m.mailbox.promoted(words) })()
	c := newClaimCheck(p, emit)
	u, err := words.stream(ctx, m.mailbox, begun, c.take)
	u.RouterTokens = routerTokens
	return u, c.end(err)
}

// checkRoles returns what is wrong with the messages of p, or nil.
func checkRoles(p engine.Prompt) error {
	for i, m := range p.Messages {
		switch {
		case !slices.Contains([]engine.Role{engine.System, engine.User, engine.Assistant, engine.ToolRole}, m.Role):
			return fmt.Errorf("llama: message %d has role %q: system, user, assistant and tool are allowed", i, m.Role)
		case len(m.Calls) > 0 && m.Role != engine.Assistant:
			return fmt.Errorf("llama: message %d has tool calls and role %q: only assistant messages may have calls", i,
				m.Role)
		}
	}
	if p.Grammar != "" && len(p.Tools) > 0 {
		return fmt.Errorf("llama: a prompt with both tools and a grammar: %w", engine.ErrUnsupported)
	}
	return nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
