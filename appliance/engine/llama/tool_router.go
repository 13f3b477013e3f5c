package llama

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
)

// While it answers, a small model does not notice that it should call a tool: of six requests it
// called for none. So it is asked beforehand, with a short text of examples that continues with the
// label of a tool; the probabilities of the first token of each label are compared. That text has a
// sequence of its own, whose beginning is shared by all conversations with these tools.

const (
	// routerMargin is how much more likely than none a tool must be, in natural logarithms. An
	// unwanted call is worse than a missed one, for which the user asks again. Of the tuning
	// requests of parley-bench tools, the likeliest that needs no tool is at -0.13 with Qwen 1.5B,
	// and the least likely of those that it can tell is at 0.
	routerMargin = -0.2
	// smallMargin is the same for models with fewer than smallModel parameters; Qwen 0.5B says none
	// sooner.
	smallMargin = -1.0
	smallModel  = 1_000_000_000
	// againMargin is the same after a tool result, for other tools, if the user's words are a
	// single request. Most users want one thing, and an unwanted call between a tool result and the
	// words about it spoils both. Such calls had margins of 0.1 to 1 where that tool had answered
	// the turn before.
	againMargin = 2
	// partMargin is the same for a part of the user's words (see userRequest). In the tuning
	// requests of parley-bench tools the second requests are at 0.9 to 4.7, and no part of a single
	// request asks for another tool than the whole at more than -1.
	partMargin = 0.3
	// routerInputBytes is how many bytes of the user's last words the router gets: two long
	// sentences. The start moves in steps of half of it, so that the cache of a longer speech stays
	// valid.
	routerInputBytes = 400
	// routerBeforeBytes is how many bytes it gets of the assistant's message before that.
	routerBeforeBytes = 200
	routerSuffix      = "\x00router" // names its sequence after the conversation
)

// routerMessages returns the beginning of the router's conversation: the tools, and examples of
// requests for them and of other words, answered with labels. Later inputs never contain "(done:
// …)", but without the two examples of it the router called five times for nothing instead of two,
// of 78 held-out requests.
func (s *toolset) routerMessages() []engine.Message {
	var b strings.Builder
	b.WriteString("Say which function the user asks for now, with one word.\n")
	each := min(toolEntry, toolBytes/max(len(s.tools), 1))
	for i, t := range s.tools {
		fmt.Fprintf(&b, "%s: %s\n", s.labels[i],
			clip(t.Name+": "+oneLine(t.Description)+argumentNames(s.parameters[i]), each))
	}
	b.WriteString(noTool + ": anything else: a question, small talk, thanks, or what no function can do\n")
	out := []engine.Message{{Role: engine.System, Content: b.String()}}
	example := func(before, user, label string) {
		out = append(out, engine.Message{Role: engine.User, Content: routerText(before, user)},
			engine.Message{Role: engine.Assistant, Content: label})
	}
	example("", "Hello, how are you?", noTool)
	example("", "Who wrote Hamlet?", noTool)
	example("", "What can you help me with?", noTool)
	for i, t := range s.tools[:min(len(s.tools), 3)] {
		phrase := lowerFirst(toolPhrase(t))
		example("", "Please "+phrase+".", s.labels[i])
		switch i {
		case 0:
			example("", "When do you open, and what does it cost?", noTool)
			example("Shall I "+phrase+"?", "Yes, please.", s.labels[i])
			example("Shall I "+phrase+"?", "No, don't.", noTool)
			example("", "Please "+phrase+". (done: "+s.labels[i]+")", noTool)
		case 1:
			example("", "Please iron my shirts.", noTool)
			example("", "Please "+lowerFirst(toolPhrase(s.tools[0]))+", and "+phrase+". (done: "+s.labels[0]+")",
				s.labels[i])
		}
	}
	example("It is done.", "Thank you, that is all.", noTool)
	return out
}

// routerTemplate returns the template of the router's conversation, in which a single markup token
// separates the user's words from the label. Each token there is computed while the user waits, and
// four more of them, as the full markup has, did not help Qwen 1.5B. Small models lose the thread
// without them, and compute them in a third of the time.
func (m *Model) routerTemplate() template {
	t := m.template
	t.terse = m.description.Parameters >= smallModel
	return t
}

// routerText joins the user's words with what the assistant said before, if anything.
func routerText(before, user string) string {
	if before == "" {
		return user
	}
	return "Assistant: " + before + "\nUser: " + user
}

// lowerFirst returns a sentence with its first letter in lower case.
func lowerFirst(text string) string {
	for i, r := range text {
		if i == 0 {
			return strings.ToLower(string(r)) + text[len(string(r)):]
		}
	}
	return text
}

// lastRequest returns what the router judges: the user's last words without their notes, what the
// assistant said before them, and the tool calls since. ok says that the user has said something.
func lastRequest(messages []engine.Message) (before, user string, since []engine.ToolCall, ok bool) {
	at := len(messages) - 1
	for ; at >= 0 && messages[at].Role != engine.User; at-- {
		since = append(messages[at].Calls[:len(messages[at].Calls):len(messages[at].Calls)], since...)
	}
	if at < 0 {
		return "", "", nil, false
	}
	if at > 0 && messages[at-1].Role == engine.Assistant {
		before = messages[at-1].Content
	}
	verdicts := messages[at].Content
	return before, verdicts[:len(verdicts)-min(messages[at].NoteBytes, len(verdicts))], since, true
}

// routerInput returns the end of the router's conversation.
func (s *toolset) routerInput(messages []engine.Message) (text string, ok bool) {
	before, user, _, ok := lastRequest(messages)
	if !ok {
		return "", false
	}
	before, user = clipBefore(before), oneLine(user)
	if over := len(user) - routerInputBytes; over > 0 {
		step := routerInputBytes / 2
		user = "…" + strings.ToValidUTF8(user[(over+step-1)/step*step:], "")
	}
	return routerText(before, user), true
}

// clipBefore returns the end of the assistant's message before.
func clipBefore(before string) string {
	before = oneLine(before)
	if len(before) > routerBeforeBytes {
		before = "…" + strings.ToValidUTF8(before[len(before)-routerBeforeBytes:], "")
	}
	return before
}

// routerPrefillInput returns routerInput as far as it is known while the user's next words are
// awaited.
func (s *toolset) routerPrefillInput(messages []engine.Message) (text string, ok bool) {
	last := messages[max(len(messages)-1, 0):]
	if len(last) > 0 && last[0].Role == engine.Assistant && len(last[0].Calls) == 0 {
		return routerText(clipBefore(last[0].Content), ""), true
	}
	return s.routerInput(messages)
}

// routerRequest returns the router's conversation as a request, for a decision or as a prefill of
// what is known.
func (m *Model) routerRequest(ctx context.Context, p engine.Prompt, s *toolset, prefill bool) (*request, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.use.RLock()
	defer m.use.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	r := &request{
		prompt:     s.head,
		headTokens: len(s.head),
		urgency:    p.Urgency,
		prefill:    prefill,
		retainHead: true,
		shared:     prefill && p.Conversation == "",
		sampler:    sampler{rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))},
		out:        make(chan delivery, 3),
	}
	if r.shared {
		return r, nil
	}
	if p.Conversation != "" {
		r.conversation = p.Conversation + routerSuffix
	}
	messages := s.examples
	text, ok := s.routerInput(p.Messages)
	if prefill {
		text, ok = s.routerPrefillInput(p.Messages)
	}
	if ok {
		messages = append(messages[:len(messages):len(messages)],
			engine.Message{Role: engine.User, Content: escapeMarkup(text)})
	}
	tokens, _, err := m.routerTemplate().tokens(messages, !prefill, map[string][]Token{})
	if err != nil {
		return nil, err
	}
	r.prompt = tokens
	if !prefill {
		r.maxTokens = 1
	}
	if limit := min(m.description.TrainedTokens, m.options.ContextTokens, conversationTokens); len(r.prompt) >= limit {
		return nil, fmt.Errorf("llama: the tools: %w", engine.ErrTooLong{Tokens: len(r.prompt), Limit: limit - 1})
	}
	return r, nil
}

// Route returns the tool that the last message of p requests, and how much more likely it is than
// none, in natural logarithms; "" if none is called. Generate uses the same decision.
func (m *Model) Route(ctx context.Context, p engine.Prompt) (tool string, margin float64, err error) {
	set, err := m.toolset(p.Tools)
	if err != nil {
		return "", 0, err
	}
	_, _, _, asked := lastRequest(p.Messages)
	if !asked || len(set.tools) == 0 || set.isPleasantry(p.Messages) {
		return "", math.Inf(-1), nil
	}
	if at := set.farewellTool(p.Messages); at >= 0 {
		return set.tools[at].Name, math.Inf(1), nil
	}
	_, at, margin, _, err := m.route(ctx, p, set, nil)
	if err != nil || at < 0 {
		return "", margin, err
	}
	return set.tools[at].Name, margin, nil
}

// firstMargin returns the margin for the first tool call of a turn.
func (m *Model) firstMargin() float64 {
	if m.description.Parameters < smallModel {
		return smallMargin
	}
	return routerMargin
}

// CanJudge reports whether the probabilities of the model tell questions apart. Those of smaller models do not.
func (m *Model) CanJudge() bool { return m.description.Parameters >= smallModel }

// verdict is the router's judgement of some words: the most likely tool, -1 if there is none, and
// how much more likely than none it is.
type verdict struct {
	tool   int
	margin float64
}

// route decides which tool to call; at is -1 for none. If reply is not nil, it is computed in the
// same steps, and held back until the router has decided; after an error it is abandoned. read is
// how many tokens the router computed, and chosen is the part of the words that requests the tool.
func (m *Model) route(ctx context.Context, p engine.Prompt, set *toolset, reply *request) (chosen userRequest, at int,
	margin float64, read int, err error) {
	_, user, since, _ := lastRequest(p.Messages)
	parts := userRequests(user, since)
	prompts := make([]engine.Prompt, len(parts))
	for i, w := range parts {
		prompts[i] = p
		if !w.whole() {
			prompts[i].Messages = onlyRequest(p.Messages, w.text)
		}
		if i > 0 {
			prompts[i].Conversation = "" // the router's sequence continues from the whole
		}
	}
	verdicts, read, err := m.askRouter(ctx, prompts, parts, set, since, reply)
	if err != nil {
		return userRequest{}, -1, 0, 0, err
	}
	for i, v := range verdicts {
		label := noTool // all tools were called already
		if v.tool >= 0 {
			label = set.labels[v.tool]
		}
		m.options.Log.Debug("router", "label", label, "margin", v.margin, "part", i+1, "of", len(verdicts))
	}
	if len(since) > 0 {
		chosen, at, margin = firstUnanswered(parts, verdicts, set, since)
	} else if at, margin = verdicts[0].tool, verdicts[0].margin; margin < m.firstMargin() &&
		(at < 0 || margin < m.firstMargin()-set.evidenceFor(at, p.Messages)) {
		at = -1
	}
	return chosen, at, margin, read, nil
}

// askRouter lets the router judge the prompts at once. For the whole of the words, tools that were
// called since are excluded, since the words request them most; each part is about another request.
func (m *Model) askRouter(ctx context.Context, prompts []engine.Prompt, parts []userRequest, set *toolset,
	since []engine.ToolCall, reply *request) (_ []verdict, read int, err error) {
	verdicts := make([]verdict, len(prompts)) // the decoder writes into it, even when nobody waits for it any more
	var all []*request
	for i, p := range prompts {
		r, err := m.routerRequest(ctx, p, set, false)
		if err != nil {
			return nil, 0, err
		}
		without := since
		if !parts[i].whole() {
			without = nil
		}
		r.onLogits = func(l []float32) { verdicts[i].tool, verdicts[i].margin = set.pickTool(l, without) }
		all = append(all, r)
	}
	routers := all
	if reply != nil {
		reply.router = all[0]
		all = append(all[:len(all):len(all)], reply)
	}
	if err := m.mailbox.put(all...); err != nil {
		return nil, 0, err
	}
	for _, r := range all {
		defer r.urgency.Watch(func() { m.mailbox.promoted(r) })()
	}
	for i, r := range routers {
		u, err := r.stream(ctx, m.mailbox, time.Now(), discardPart)
		if err != nil {
			for _, other := range all[i+1:] {
				m.mailbox.abandon(other)
			}
			return nil, 0, fmt.Errorf("llama: choosing a tool: %w", err)
		}
		read += u.PromptTokens - u.CachedTokens
	}
	return verdicts, read, nil
}

// pickTool returns the most likely tool of the router's logits, -1 if there is none, and how much
// more likely than none it is. It excludes the tools that were called since the user spoke.
func (s *toolset) pickTool(logits []float32, since []engine.ToolCall) (at int, margin float64) {
	at, margin = -1, math.Inf(-1)
	none := float64(logits[s.labelTokens[len(s.tools)]])
	for i, t := range s.tools {
		if slices.ContainsFunc(since, func(c engine.ToolCall) bool { return c.Name == t.Name }) {
			continue
		}
		if m := float64(logits[s.labelTokens[i]]) - none; m > margin {
			at, margin = i, m
		}
	}
	return at, margin
}
