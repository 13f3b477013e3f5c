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

// A small model does not find out while it answers that it should call a tool:
// of six wishes it called for none. So it is asked beforehand, with a short text
// of examples that goes on with the tool's label, of which the first token's
// weights are compared. That text is a sequence of its own, whose beginning is
// the same for all who have these tools.

const (
	// routerMargin is how much likelier a tool must be than none, in natural
	// logarithms. A call that nobody asked for is worse than one that was missed,
	// which the user asks for once more: of the tuned wishes of parley-bench tools,
	// the likeliest that wants no tool is at -0.13 with Qwen 1.5B, and the least
	// likely of those that it can tell at 0.
	routerMargin = -0.2
	// smallMargin is the same of models with less than smallModel parameters: Qwen
	// 0.5B says none sooner.
	smallMargin = -1.0
	smallModel  = 1_000_000_000
	// againMargin is the same after a tool has answered, of the others, where what was
	// said is one wish: most users want one thing, and a call that nobody wanted, made between a tool's answer
	// and the words about it, spoils both. Such calls came at 0.1 to 1 where the turn
	// before had been answered by that tool.
	againMargin = 2
	// partMargin is the same of a part of what was said (see wishes). Of the tuned
	// wishes of parley-bench tools the second ones are at 0.9 to 4.7, and no part of
	// a single wish asks for another tool than the whole at more than -1.
	partMargin = 0.3
	// routerInputBytes is how much the router reads of what was just said, in bytes: two
	// long sentences. It begins anew at multiples of half of it, so that what was
	// read of a longer speech stays read.
	routerInputBytes = 400
	// routerBeforeBytes is how much it reads of what was said before that.
	routerBeforeBytes = 200
	routerSuffix      = "\x00router" // names its sequence after the conversation's
)

// routerMessages is what the router begins with: the tools, and examples of asking for
// them and of not asking, as a conversation that answers with labels. Nothing is
// said to be done in what it is asked later; but without the two examples of that
// it called five times for nothing instead of two, of 78 wishes held out.
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

// routerTemplate writes the router's conversation: after what a user said one token
// stands, and then the label. Each token there is read when the user waits, and
// four more of them, as the whole markup has, told Qwen 1.5B no more. Small models
// lose the thread without them, and read them in a third of the time.
func (m *Model) routerTemplate() template {
	t := m.template
	t.terse = m.about.Parameters >= smallModel
	return t
}

// routerText is what a user said after what the assistant said, if it did.
func routerText(before, user string) string {
	if before == "" {
		return user
	}
	return "Assistant: " + before + "\nUser: " + user
}

// lowerFirst is a sentence as it stands within another.
func lowerFirst(text string) string {
	for i, r := range text {
		if i == 0 {
			return strings.ToLower(string(r)) + text[len(string(r)):]
		}
	}
	return text
}

// lastRequest is what the router is to judge: what the user said last, without what was
// noted about it, which would only have to be read; what the
// assistant said before it, and which tools were called since. ok: the user
// has said something.
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
	said := messages[at].Content
	return before, said[:len(said)-min(messages[at].NoteBytes, len(said))], since, true
}

// routerInput is the end of the router's conversation, as far as it is known.
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

// ending is the last of what was said before.
func clipBefore(before string) string {
	before = oneLine(before)
	if len(before) > routerBeforeBytes {
		before = "…" + strings.ToValidUTF8(before[len(before)-routerBeforeBytes:], "")
	}
	return before
}

// routerPrefillInput is judged as far as it is known while the user's next words are waited
// for.
func (s *toolset) routerPrefillInput(messages []engine.Message) (text string, ok bool) {
	last := messages[max(len(messages)-1, 0):]
	if len(last) > 0 && last[0].Role == engine.Assistant && len(last[0].Calls) == 0 {
		return routerText(clipBefore(last[0].Content), ""), true
	}
	return s.routerInput(messages)
}

// routerRequest is the router's text as a request: asked about what was said, or
// read ahead as far as it is known.
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
	if room := min(m.about.TrainedTokens, m.o.ContextTokens, conversationTokens); len(r.prompt) >= room {
		return nil, fmt.Errorf("llama: the tools: %w", engine.ErrTooLong{Tokens: len(r.prompt), Limit: room - 1})
	}
	return r, nil
}

// Route says which tool the last message of p asks for, and how much likelier it
// is than none, in natural logarithms; empty: none is called. It is what Generate
// goes by.
func (m *Model) Route(ctx context.Context, p engine.Prompt) (tool string, margin float64, err error) {
	set, err := m.toolset(p.Tools)
	if err != nil {
		return "", 0, err
	}
	_, _, _, asked := lastRequest(p.Messages)
	if !asked || len(set.tools) == 0 {
		return "", math.Inf(-1), nil
	}
	_, at, margin, _, err := m.route(ctx, p, set, nil)
	if err != nil || at < 0 {
		return "", margin, err
	}
	return set.tools[at].Name, margin, nil
}

// firstMargin is how much likelier than none the first tool of a turn must be.
func (m *Model) firstMargin() float64 {
	if m.about.Parameters < smallModel {
		return smallMargin
	}
	return routerMargin
}

// verdict is what the router says of some words: the tool that they ask for more than
// for any other, -1 where there is none, and how much likelier than none it is.
type verdict struct {
	at     int
	margin float64
}

// route says which tool is to be called; -1: none. beside, if it is not nil, is read
// in the same steps, and its reply kept back until the router has said something; it
// is left where there is an error. read is how many tokens the router had to read, and
// chosen the part of the words that wants the tool.
func (m *Model) route(ctx context.Context, p engine.Prompt, set *toolset, beside *request) (chosen userRequest, at int,
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
			prompts[i].Conversation = "" // its own sequence goes on from the whole
		}
	}
	said, read, err := m.askRouter(ctx, prompts, parts, set, since, beside)
	if err != nil {
		return userRequest{}, -1, 0, 0, err
	}
	for i, v := range said {
		label := noTool // every tool was called already
		if v.at >= 0 {
			label = set.labels[v.at]
		}
		m.o.Log.Debug("router", "label", label, "margin", v.margin, "part", i+1, "of", len(said))
	}
	if len(since) > 0 {
		chosen, at, margin = firstUnanswered(parts, said, set, since)
	} else if at, margin = said[0].at, said[0].margin; margin < m.firstMargin() &&
		(at < 0 || margin < m.firstMargin()-set.evidenced(at, p.Messages)) {
		at = -1
	}
	return chosen, at, margin, read, nil
}

// judge has the router judge the ends of prompts at once. A tool that has answered
// since is not among its choices for the whole of the words, which ask for it most; of
// their parts each is about another wish.
func (m *Model) askRouter(ctx context.Context, prompts []engine.Prompt, parts []userRequest, set *toolset,
	since []engine.ToolCall,
	beside *request) (_ []verdict, read int, err error) {
	said := make([]verdict, len(prompts)) // the owner writes into it, also when nobody waits for it any more
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
		r.onLogits = func(l []float32) { said[i].at, said[i].margin = set.pickTool(l, without) }
		all = append(all, r)
	}
	routers := all
	if beside != nil {
		beside.router = all[0]
		all = append(all[:len(all):len(all)], beside)
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
	return said, read, nil
}

// pickTool picks the tool of the router's logits; -1: none is asked for. margin is
// how much likelier than none it is. Of those that were called since the user spoke
// it picks none: they are what his words ask for most.
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
