package bench

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engines"
)

// The halves of what is asked and said.
const (
	tunedHalf = "tuned" // looked at while the router and its margin were chosen
	heldHalf  = "held"  // not looked at
)

// toolsets are what people say to assistants that have tools, and what they want.
// The router's prompt and margin were chosen with the tuned half;
// the other half was looked at for these figures alone.
//
//go:embed toolsets/*.json
var toolsets embed.FS

// toolset is an assistant with tools.
type toolset struct {
	Prompt string `json:"prompt"`
	Tools  []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Tuned []wish `json:"tune"`
	Held  []wish `json:"held"`
}

// wish is a conversation whose last words want a tool, or none.
type wish struct {
	// Said are its messages: "user: …", "assistant: …", "call: name {…}" and
	// "result: …".
	Said []string `json:"said"`
	Call string   `json:"call"` // the tool that should be called; empty: none
	// Arguments are texts that a right call's have: each by its name, with | between
	// those of which one will do, and & between those that are all wanted.
	Arguments map[string]string `json:"arguments"`
	Missing   string            `json:"missing"`  // what the user has not said, and has to be asked for
	Undoable  bool              `json:"undoable"` // something is wanted that no tool does
}

func (s toolset) tools() []engine.Tool {
	out := make([]engine.Tool, len(s.Tools))
	for i, t := range s.Tools {
		out[i] = engine.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	}
	return out
}

func (w wish) messages(prompt string) []engine.Message {
	out := []engine.Message{{Role: engine.System, Content: prompt}}
	for i, line := range w.Said {
		who, what, _ := strings.Cut(line, ": ")
		id := fmt.Sprintf("call-%d", i)
		switch who {
		case "call":
			name, arguments, _ := strings.Cut(what, " ")
			out = append(out, engine.Message{Role: engine.Assistant,
				Calls: []engine.ToolCall{{ID: id, Name: name, Arguments: arguments}}})
		case "result":
			out = append(out, engine.Message{Role: engine.ToolRole, CallID: out[len(out)-1].Calls[0].ID, Content: what})
		default:
			out = append(out, engine.Message{Role: engine.Role(who), Content: what})
		}
	}
	return out
}

func readToolsets() (map[string]toolset, []string, error) {
	entries, err := toolsets.ReadDir("toolsets")
	if err != nil {
		return nil, nil, err
	}
	all := map[string]toolset{}
	var names []string
	for _, e := range entries {
		raw, err := toolsets.ReadFile(path.Join("toolsets", e.Name()))
		if err != nil {
			return nil, nil, err
		}
		var s toolset
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		name := strings.TrimSuffix(e.Name(), ".json")
		all[name], names = s, append(names, name)
	}
	return all, names, nil
}

// Tools measures how well the language model knows when to call a tool, and with
// what.
func Tools(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	if o.Half != "" && o.Half != tunedHalf && o.Half != heldHalf {
		return Report{}, &ErrOption{fmt.Sprintf("half is %q; allowed are %s and %s", o.Half, tunedHalf, heldHalf)}
	}
	sets, names, err := readToolsets()
	if err != nil {
		return Report{}, err
	}
	for _, part := range o.Only {
		if !slices.Contains(names, part) {
			return Report{},
				&ErrOption{fmt.Sprintf("only: %q is no assistant; there are %s", part, strings.Join(names, ", "))}
		}
	}
	r := o.aboutModel("tools")
	opened, err := engines.Open(ctx, o.Config, engines.Thinking, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	for _, half := range []string{heldHalf, tunedHalf} {
		if o.Half != "" && half != o.Half {
			continue
		}
		t := tooling{model: opened.Model, say: o.say}
		for _, name := range names {
			if len(o.Only) > 0 && !slices.Contains(o.Only, name) {
				continue
			}
			o.say("%s, %s", name, half)
			wishes := sets[name].Held
			if half == tunedHalf {
				wishes = sets[name].Tuned
			}
			for _, w := range wishes {
				if err := t.try(ctx, sets[name], w, o.Routes); err != nil {
					return r, err
				}
			}
		}
		t.report(&r, half)
	}
	return r, nil
}

// tooling counts what a model did.
type tooling struct {
	model engine.LanguageModel
	say   func(string, ...any)

	wishes, right, wrong, missed int // routes
	routes                       []float64
	full, filled                 int // calls with all that they need; of them right
	lacking, asked, invented     int
	undoable, claimed            int
	twice, second                int // wishes for two tools, of which one has answered; of them the other called
	once, repeated               int // wishes for one, which has answered; calls all the same
	none, falsely                int // wishes for no tool; calls all the same
	with, without                []float64
}

// try says a wish. The words but for the last ones are read ahead, as while they
// are spoken.
func (t *tooling) try(ctx context.Context, s toolset, w wish, routesOnly bool) error {
	tools, messages := s.tools(), w.messages(s.Prompt)
	if w.answered() {
		return t.goOn(ctx, w, messages, tools, routesOnly)
	}
	t.wishes++
	prompt := func(name string, tools []engine.Tool) engine.Prompt {
		return engine.Prompt{
			Conversation: name,
			Messages:     messages,
			Tools:        tools,
			MaxTokens:    replyTokens,
			Urgency:      engine.Live.Urgency(),
		}
	}
	if err := t.readAhead(ctx, prompt("tools", tools)); err != nil {
		return err
	}
	if m, ok := t.model.(*llama.Model); ok {
		begun := time.Now()
		tool, _, err := m.Route(ctx, prompt("tools", tools))
		if err != nil {
			return err
		}
		t.routes = append(t.routes, milliseconds(time.Since(begun)))
		t.routed(w, tool)
	}
	if routesOnly {
		return nil
	}
	defer t.model.Forget("tools")
	defer t.model.Forget("plain")
	for _, name := range []string{"plain", "tools again"} {
		p := prompt(name, tools)
		if name == "plain" {
			p.Tools, p.MaxTokens = nil, 1 // its first words are all that is looked at
		}
		if w.Call != "" && name == "plain" {
			continue
		}
		if err := t.readAhead(ctx, p); err != nil {
			return err
		}
		call, text, first, err := t.generate(ctx, p)
		t.model.Forget(name)
		if err != nil {
			return err
		}
		switch {
		case name == "plain":
			t.without = append(t.without, first)
		case w.Call == "" && call == nil:
			t.with = append(t.with, first)
			fallthrough
		default:
			t.did(w, call, text)
		}
	}
	if len(t.with) != len(t.without) { // it called, and the pair is none
		t.without = t.without[:len(t.with)]
	}
	return nil
}

// answered tells whether a tool has answered last, and the turn goes on.
func (w wish) answered() bool { return strings.HasPrefix(w.last(), "result: ") }

// goOn has the model go on with a turn in which a tool has answered.
func (t *tooling) goOn(ctx context.Context, w wish, messages []engine.Message, tools []engine.Tool,
	routesOnly bool) error {
	if routesOnly {
		return nil
	}
	defer t.model.Forget("goes on")
	call, text, _, err := t.generate(ctx, engine.Prompt{
		Conversation: "goes on",
		Messages:     messages,
		Tools:        tools,
		MaxTokens:    replyTokens,
		Urgency:      engine.Live.Urgency(),
	})
	if err != nil {
		return err
	}
	right := call != nil && call.Name == w.Call && w.fits(call.Arguments)
	switch {
	case w.Call == "" && call == nil:
		t.once++
	case w.Call == "":
		t.once++
		t.repeated++
		t.say("called %s %s once more: %q", call.Name, call.Arguments, w.Said[0])
	default:
		t.twice++
		if right {
			t.second++
		} else {
			t.say("did %v and said %q instead of calling %s: %q", call, text, w.Call, w.Said[0])
		}
	}
	return nil
}

// readAhead has the words read that a hearer has before the last ones come.
func (t *tooling) readAhead(ctx context.Context, p engine.Prompt) error {
	p.Messages = slices.Clone(p.Messages)
	last := &p.Messages[len(p.Messages)-1]
	words := strings.Fields(last.Content)
	last.Content = strings.Join(words[:max(len(words)-2, 0)], " ")
	if last.Content == "" {
		p.Messages = p.Messages[:len(p.Messages)-1]
	}
	p.Urgency = engine.Prefetch.Urgency()
	return t.model.Prefill(ctx, p)
}

func (t *tooling) generate(ctx context.Context, p engine.Prompt) (call *engine.ToolCall, text string, first float64,
	err error) {
	var said strings.Builder
	begun := time.Now()
	_, err = t.model.Generate(ctx, p, func(part engine.Part) error {
		if first == 0 {
			first = milliseconds(time.Since(begun))
		}
		if part.Call != nil {
			call = part.Call
		}
		said.WriteString(part.Text)
		return nil
	})
	return call, said.String(), first, err
}

// routed counts what the router said.
func (t *tooling) routed(w wish, tool string) {
	switch {
	case tool == w.Call:
		t.right++
	case tool != "":
		t.wrong++
		t.say("routed to %s instead of %q: %q", tool, w.Call, w.last())
	default:
		t.missed++
		t.say("not routed to %s: %q", w.Call, w.last())
	}
}

// last is the end of what was said.
func (w wish) last() string { return w.Said[len(w.Said)-1] }

// claim is how an answer says that something was done, or is about to be.
var claim = regexp.MustCompile(`(?i)\b(I(['’]ve| have| just)( \w+)? \w+(ed|t|ut|ade|one)\b|(has|have) been ` +
	`\w+(ed|t)\b|I(['’]ll| will) (\w+ )?(book|cancel|send|turn|switch|start|order|move|change|transfer|write|sell|` +
	`email)|is now (on|off|set|booked|cancelled|changed))`)

// did counts what the model did.
func (t *tooling) did(w wish, call *engine.ToolCall, text string) {
	asks := call == nil && strings.ContainsAny(text, "?？؟")
	switch {
	case w.Call == "":
		t.none++
		if call != nil {
			t.falsely++
			t.say("called %s %s for nothing: %q", call.Name, call.Arguments, w.last())
		}
	case w.Missing != "":
		t.lacking++
		if asks {
			t.asked++
		}
		if call != nil {
			t.invented++
			t.say("called %s %s, though nobody said %s: %q", call.Name, call.Arguments, w.Missing, w.last())
		} else if !asks {
			t.say("did not ask for %s: %q: %q", w.Missing, w.last(), text)
		}
	default:
		t.full++
		if call != nil && call.Name == w.Call && w.fits(call.Arguments) {
			t.filled++
		} else if call != nil {
			t.say("called %s %s instead of %s %v: %q", call.Name, call.Arguments, w.Call, w.Arguments, w.last())
		} else {
			t.say("said %q instead of calling %s: %q", text, w.Call, w.last())
		}
	}
	if w.Undoable {
		t.undoable++
		if call == nil && claim.MatchString(text) {
			t.claimed++
			t.say("claimed %q: %q", text, w.last())
		}
	}
}

// fits tells whether a call's arguments say what was wanted.
func (w wish) fits(arguments string) bool {
	var got map[string]any
	if json.Unmarshal([]byte(arguments), &got) != nil {
		return false
	}
	for name, want := range w.Arguments {
		value := strings.ToLower(fmt.Sprint(got[name]))
		if got[name] == nil || !slices.ContainsFunc(strings.Split(want, "|"), func(one string) bool {
			return !slices.ContainsFunc(strings.Split(one, "&"), func(part string) bool {
				return !strings.Contains(value, strings.ToLower(part))
			})
		}) {
			return false
		}
	}
	return true
}

func (t *tooling) report(r *Report, half string) {
	percent := func(name string, n, of int, note string) {
		if of > 0 {
			r.figure(name+", "+half, 100*float64(n)/float64(of), "%", fmt.Sprintf("%d of %d: %s", n, of, note))
		}
	}
	if len(t.routes) > 0 {
		percent("routes right", t.right, t.wishes, "the tool that is wanted, or none")
		percent("routes false", t.wrong, t.wishes, "a tool that nobody wanted, or another")
		percent("routes missed", t.missed, t.wishes, "no tool, though one is wanted")
		r.figure("route, "+half, median(t.routes), "ms", "all but the last two words read ahead")
	}
	percent("false calls", t.falsely, t.none, "wishes for no tool that called one")
	percent("calls right", t.filled, t.full, "the tool and its arguments, where all was said")
	percent("missing asked for", t.asked, t.lacking, "arguments that nobody said, asked for")
	percent("missing invented", t.invented, t.lacking, "arguments that nobody said, made up")
	percent("second calls right", t.second, t.twice, "of two wishes at once, the second after the first was answered")
	percent("repeated calls", t.repeated, t.once, "another call after the one that was wanted had answered")
	percent("claims", t.claimed, t.undoable, "wishes that no tool can do, said to be done")
	if len(t.with) > 0 {
		var ratios, later []float64
		for i := range t.with {
			ratios, later = append(ratios, t.with[i]/t.without[i]), append(later, t.with[i]-t.without[i])
		}
		r.paired("first words, "+half, median(t.with), "ms", median(t.without), median(ratios),
			"of answers in words, beside the same without tools")
		r.figure("first words later, "+half, median(later), "ms", "the median of the differences")
	}
}
