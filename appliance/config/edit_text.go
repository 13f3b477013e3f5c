package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// fileText is the text of a settings file with the places of its entries. Lines and columns
// count from 0.
type fileText struct {
	lines    []string
	comments map[int]int // column of the comment in a line
	entries  []*fileEntry
	flow     *ast.MappingNode // the whole file, if it is one map in braces
	end      int              // the line after the last one of the document
}

// fileEntry is a key with its value.
type fileEntry struct {
	key          string // from the top, with dots
	line, column int    // of the key
	colon        int    // column after the colon
	last         int    // the last line of the value, without comments after it
	value        ast.Node
	parent       *fileEntry
	children     []*fileEntry
	flow         bool // in a map in braces
}

func parseText(text string) (*fileText, error) {
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, err
	}
	t := &fileText{comments: map[int]int{}}
	if text != "" {
		t.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	t.end = len(t.lines)
	for _, k := range lexer.Tokenize(text) {
		line := k.Position.Line - 1
		switch k.Type {
		case token.CommentType:
			// The lexer's column is one too high behind the | of a block of text.
			head, _ := strings.CutSuffix(t.lines[line], "#"+k.Value)
			t.comments[line] = utf8.RuneCountInString(head)
		case token.DocumentEndType:
			t.end = min(t.end, line)
		case token.DocumentHeaderType:
			if strings.TrimSpace(strings.Join(t.lines[:line], "")) != "" && t.hasContent(0, line) {
				t.end = min(t.end, line)
			}
		}
	}
	for _, doc := range tree.Docs {
		if top, ok := doc.Body.(ast.MapNode); ok && t.entries == nil {
			if m, ok := top.(*ast.MappingNode); ok && m.IsFlowStyle {
				t.flow = m
			}
			t.collect(top, nil, t.flow != nil)
		}
	}
	return t, t.measure()
}

// hasContent reports whether a line from first to before end is neither blank nor a comment.
func (t *fileText) hasContent(first, end int) bool {
	for i := first; i < end; i++ {
		if strings.TrimSpace(t.lines[i]) != "" && !t.isComment(i) {
			return true
		}
	}
	return false
}

// collect lists the entries of a map and of the maps within it, in the order of the file.
func (t *fileText) collect(m ast.MapNode, parent *fileEntry, flow bool) {
	prefix := ""
	if parent != nil {
		prefix = parent.key + "."
	}
	for each := m.MapRange(); each.Next(); {
		at := each.Key().GetToken()
		e := &fileEntry{
			key:    prefix + at.Value,
			line:   at.Position.Line - 1,
			column: at.Position.Column - 1,
			value:  each.Value(),
			parent: parent,
			flow:   flow,
		}
		if at.Next != nil && at.Next.Type == token.MappingValueType {
			e.colon = at.Next.Position.Column
		}
		t.entries = append(t.entries, e)
		if parent != nil {
			parent.children = append(parent.children, e)
		}
		if inner, ok := e.value.(ast.MapNode); ok {
			m, isFlow := inner.(*ast.MappingNode)
			t.collect(inner, e, flow || isFlow && m.IsFlowStyle)
		}
	}
}

// measure finds where the value of each entry ends.
func (t *fileText) measure() error {
	for i, e := range t.entries {
		next := t.end
		for _, other := range t.entries[i+1:] {
			if !other.within(e) {
				next = other.line
				break
			}
		}
		e.last = e.line
		for line := e.line + 1; line < next; line++ {
			if t.hasContent(line, line+1) {
				e.last = line
			}
		}
		if e.colon == 0 {
			return fmt.Errorf("line %d has a key without a colon behind it", e.line+1)
		}
	}
	return nil
}

func (e *fileEntry) within(outer *fileEntry) bool {
	for p := e.parent; p != nil; p = p.parent {
		if p == outer {
			return true
		}
	}
	return false
}

// isComment reports whether a line has a comment and nothing else.
func (t *fileText) isComment(line int) bool {
	column, ok := t.comments[line]
	return ok && strings.TrimSpace(cut(t.lines[line], 0, column)) == ""
}

// find returns the entry of a key that counts, which is the last one; nil if there is none.
func (t *fileText) find(key string) *fileEntry {
	for _, e := range slices.Backward(t.entries) {
		if e.key == key {
			return e
		}
	}
	return nil
}

// replace replaces the lines from first to last.
func (t *fileText) replace(first, last int, with ...string) string {
	lines := slices.Concat(t.lines[:first], with, t.lines[last+1:])
	return strings.Join(lines, "\n") + "\n"
}

// commentsIn returns the comments of the lines from first to last, as lines with an indent.
func (t *fileText) commentsIn(first, last, indent int) (lines []string) {
	for i := first; i <= last; i++ {
		if column, ok := t.comments[i]; ok {
			lines = append(lines, spaces(indent)+cut(t.lines[i], column, -1))
		}
	}
	return lines
}

// cut returns the characters of a line from first to before end; -1 is its end.
func cut(line string, first, end int) string {
	runes := []rune(line)
	if end < 0 || end > len(runes) {
		end = len(runes)
	}
	return string(runes[min(first, end):end])
}

func spaces(n int) string { return strings.Repeat(" ", n) }

// plainValue matches values that need no quotes, if YAML does not take them for something else.
var plainValue = regexp.MustCompile(`^[A-Za-z0-9/._-][A-Za-z0-9/._:%+@|=~-]*( [A-Za-z0-9/._%+@|=~-]+)*$`)

// yamlValue writes the value of a setting as YAML on one line.
func yamlValue(s Setting, value string) string {
	if !s.isList {
		return yamlScalar(value)
	}
	var items []string
	for item := range splitList(value) {
		items = append(items, yamlScalar(item))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func yamlScalar(value string) string {
	if plainValue.MatchString(value) && !strings.HasSuffix(value, ":") {
		if tree, err := parser.ParseBytes([]byte("["+value+"]"), 0); err == nil && len(tree.Docs) == 1 {
			if list, ok := tree.Docs[0].Body.(*ast.SequenceNode); ok && len(list.Values) == 1 {
				text, err := (&fileReader{}).scalar("", list.Values[0])
				if err == nil && text == value {
					return value
				}
			}
		}
	}
	return quoted(value)
}

// quoted writes text in double quotes (YAML 1.2.2, section 5.7).
func quoted(value string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range value {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
