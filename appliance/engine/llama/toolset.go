package llama

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

const (
	// toolBytes limits the descriptions of all tools together, about 2,000 tokens, in the
	// conversation and again in the router: sixty-four tools get a line of 128 bytes each, three as
	// much as a config allows.
	toolBytes = 8 << 10
	// toolLine limits one tool's description in an example of the router, and toolEntry limits its
	// entry in the router's list.
	toolLine  = 160
	toolEntry = 400
	// maxToolsets is how many configs' tools are cached: more than a box talks with at a time. Each
	// takes some kilobytes, and at most 64 kB per tool.
	maxToolsets = 32
)

// toolset is what is prepared once for the tools of a config.
type toolset struct {
	tools        []engine.Tool
	parameters   []*schema.Parameters // of each of tools
	labels       []string             // the router's names of the tools, and at the end the label of none
	labelTokens  []Token              // first tokens that distinguish the labels
	block        string               // for the system message
	examples     []engine.Message     // the beginning of the router's conversation
	head         []Token              // examples as tokens
	markupTokens []Token              // with which no reply with these tools may begin
}

// toolsets caches the toolsets used last. It is safe for concurrent use.
type toolsets struct {
	mu    sync.Mutex
	byKey map[[sha256.Size]byte]*toolset
	used  map[[sha256.Size]byte]int
	time  int
}

// toolset prepares tools for routing and calling. A tool that cannot be called is left out; its
// schema should have been refused with its config.
func (m *Model) toolset(tools []engine.Tool) (*toolset, error) {
	h := sha256.New()
	for _, t := range tools {
		fmt.Fprintf(h, "%q %q %q\n", t.Name, t.Description, t.Parameters)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	if cached := m.toolsets.get(key); cached != nil {
		return cached, nil
	}
	made, err := m.makeToolset(tools) // takes half a second for large tools, during which others may be made
	if err != nil {
		return nil, err
	}
	m.toolsets.put(key, made)
	return made, nil
}

func (t *toolsets) get(key [sha256.Size]byte) *toolset {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.time++
	cached := t.byKey[key]
	if cached != nil {
		t.used[key] = t.time
	}
	return cached
}

// put caches made and evicts the one least recently used.
func (t *toolsets) put(key [sha256.Size]byte, made *toolset) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.time++
	if t.byKey == nil {
		t.byKey, t.used = map[[sha256.Size]byte]*toolset{}, map[[sha256.Size]byte]int{}
	}
	if len(t.byKey) >= maxToolsets {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(t.byKey)), func(a, b [sha256.Size]byte) int {
			return t.used[a] - t.used[b]
		})
		delete(t.byKey, oldest)
		delete(t.used, oldest)
	}
	t.byKey[key], t.used[key] = made, t.time
}

// CheckTool returns why no grammar can be made of a tool's parameters, or nil.
func (m *Model) CheckTool(name string, parameters []byte) error {
	return schema.Check(name, parameters)
}

func (m *Model) makeToolset(tools []engine.Tool) (*toolset, error) {
	s := &toolset{}
	for _, t := range tools {
		p, err := schema.Read(t.Name, t.Parameters)
		if err != nil {
			m.options.Log.Warn("a tool is left out: this model cannot call it", "err", err)
			continue
		}
		s.tools, s.parameters = append(s.tools, t), append(s.parameters, p)
	}
	m.use.RLock()
	defer m.use.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	s.block = toolBlock(s.tools, s.parameters)
	var err error
	if s.markupTokens, err = m.markupTokens(); err != nil {
		return nil, err
	}
	if err := s.label(m.template.vocab); err != nil {
		return nil, err
	}
	s.examples = s.routerMessages()
	for i := range s.examples {
		s.examples[i].Content = escapeMarkup(s.examples[i].Content)
	}
	s.head, _, err = m.routerTemplate().tokens(s.examples, false, map[string][]Token{})
	return s, err
}

// noTool is the label for words that request no tool.
const noTool = "none"

// label gives every tool a word whose first token distinguishes it from the others: a word of its
// name if there is one, because a small model understands "timer" and "light", else letters.
func (s *toolset) label(v vocabulary) error {
	taken := map[Token]bool{}
	first := func(word string) (Token, error) {
		tokens, err := v.plain(word)
		if err != nil || len(tokens) == 0 {
			return -1, err
		}
		return tokens[0], nil
	}
	none, err := first(noTool)
	if err != nil {
		return err
	}
	taken[none] = true
	shared := map[string]int{}
	words := make([][]string, len(s.tools))
	for i, t := range s.tools {
		words[i] = nameWords(t.Name)
		for _, w := range words[i] {
			shared[w]++
		}
	}
	s.labels, s.labelTokens = make([]string, len(s.tools)), make([]Token, len(s.tools))
	for i := range s.tools {
		mine := slices.DeleteFunc(slices.Clone(words[i]), func(w string) bool { return shared[w] > 1 })
		for _, w := range slices.Concat(mine, letters) {
			at, err := first(w)
			if err != nil {
				return err
			}
			if at >= 0 && !taken[at] {
				s.labels[i], s.labelTokens[i], taken[at] = w, at, true
				break
			}
		}
		if s.labels[i] == "" {
			return fmt.Errorf("llama: the tool %q cannot be distinguished from the others", s.tools[i].Name)
		}
	}
	s.labels, s.labelTokens = append(s.labels, noTool), append(s.labelTokens, none)
	return nil
}

// letters are labels for tools without a distinctive word in their names.
var letters = func() (out []string) {
	for a := 'A'; a <= 'Z'; a++ {
		out = append(out, string(a))
	}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			out = append(out, string(a)+string(b))
		}
	}
	return out
}()

// nameWords returns the words of a name such as "book_taxi" or "bookTaxi".
func nameWords(name string) []string {
	var out []string
	word := ""
	end := func() {
		if len(word) > 1 && word != noTool {
			out = append(out, strings.ToLower(word))
		}
		word = ""
	}
	before := ' '
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(before) {
			end()
		}
		if unicode.IsLetter(r) {
			word += string(r)
		}
		before = r
	}
	end()
	return out
}

// toolPhrase returns what a tool does: the first sentence of its description.
func toolPhrase(t engine.Tool) string {
	text := oneLine(t.Description)
	if end := strings.Index(text, ". "); end > 0 {
		text = text[:end]
	}
	text = clip(strings.TrimRight(text, "."), toolLine)
	if text == "" {
		text = strings.Join(nameWords(t.Name), " ")
	}
	return text
}

// oneLine returns text without line breaks, which could make it look like several lines.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// clip cuts text to at most most bytes, at the beginning of a rune.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// toolBlock lists the tools for the model, a line each.
func toolBlock(tools []engine.Tool, parameters []*schema.Parameters) string {
	var b strings.Builder
	b.WriteString("\n\n# Functions\n\nThese can be called for the user:\n")
	whole := 0
	lines := make([]string, len(tools))
	for i, t := range tools {
		lines[i] = "- " + t.Name + ": " + oneLine(t.Description) + describeArguments(parameters[i])
		whole += len(lines[i])
	}
	for _, line := range lines {
		if whole > toolBytes { // all are clipped to the same length
			line = clip(line, toolBytes/len(lines))
		}
		b.WriteString(line + "\n")
	}
	b.WriteString("\nYou can do nothing else for the user than answer and call these. What was not called was not " +
		"done: never say that it was. What they find out you do not know by yourself: never make it up.\n\n")
	return b.String()
}

// argumentNames lists the names of a tool's arguments, from which the router understands what the
// tool is about.
func argumentNames(p *schema.Parameters) string {
	var names []string
	for _, a := range p.Arguments {
		names = append(names, strings.ReplaceAll(a.Name, "_", " "))
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// unionTypes describes the types of a value with several types: "integer or email". It returns ""
// for anything more complicated.
func unionTypes(of json.RawMessage) string {
	type kind struct{ Type, Format string }
	var s struct {
		AnyOf, OneOf []json.RawMessage
		Type         []string
	}
	if json.Unmarshal(of, &s) != nil {
		return ""
	}
	out := s.Type
	for _, raw := range append(s.AnyOf, s.OneOf...) {
		var simple map[string]any
		var k kind
		if json.Unmarshal(raw, &simple) != nil || json.Unmarshal(raw, &k) != nil || k.Type == "" ||
			k.Type == "object" || k.Type == "array" || simple["enum"] != nil {
			return ""
		}
		if k.Format != "" {
			k.Type = k.Format
		}
		out = append(out, k.Type)
	}
	return strings.Join(out, " or ")
}

// describeArguments describes the arguments of a tool as briefly as possible. It is not code,
// because a small model would answer with such code.
func describeArguments(p *schema.Parameters) string {
	var args []string
	for _, a := range p.Arguments {
		description := a.Type
		switch {
		case len(a.Enum) > 0:
			var values []string
			for _, v := range a.Enum {
				values = append(values, string(v))
			}
			description = clip(strings.Join(values, "|"), 300)
		case unionTypes(a.Schema) != "":
			description = unionTypes(a.Schema)
		case a.Type == "array" || a.Type == "object" || a.Type == "":
			var compact bytes.Buffer
			if json.Compact(&compact, a.Schema) == nil {
				description = clip(compact.String(), 300)
			}
		case a.Format != "":
			description += " " + a.Format
		}
		if a.Description != "" {
			description = strings.TrimSpace(description + " " + clip(oneLine(a.Description), 120))
		}
		if !a.Required {
			description = strings.TrimSpace("optional " + description)
		}
		args = append(args, a.Name+" ["+description+"]")
	}
	if len(args) == 0 {
		return ""
	}
	return " With " + strings.Join(args, ", ") + "."
}
