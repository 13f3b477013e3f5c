package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ErrInvalid says what is wrong with a manifest, and where.
type ErrInvalid struct {
	Field string // such as permissions.http[0].host; empty for the whole
	Line  int    // 0 if unknown
	Why   string
}

func (e ErrInvalid) Error() string {
	text := "manifest"
	if e.Line > 0 {
		text += fmt.Sprintf(" line %d", e.Line)
	}
	if e.Field != "" {
		text += ": " + e.Field
	}
	return text + ": " + e.Why
}

// maxDepth bounds the nesting of a manifest; a schema in it may have 16 levels.
const maxDepth = 40

// tooDeep reports whether brackets nest deeper than a recursive parser can stand. It also
// counts brackets in strings, which no valid manifest has 200 of.
func tooDeep(text []byte) bool {
	open := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			if open++; open > 200 {
				return true
			}
		case ']', '}':
			open = max(open-1, 0)
		}
	}
	return false
}

// document parses text as one YAML document that is a map.
func document(text []byte) (top ast.Node, err error) {
	switch {
	case len(text) > MaxBytes:
		return nil, ErrInvalid{Why: fmt.Sprintf("too long (%d bytes): at most %d are allowed", len(text), MaxBytes)}
	case tooDeep(text):
		return nil, ErrInvalid{Why: "more than 200 brackets are open at once; a manifest nests at most 40 deep"}
	}
	// The parser has panicked on texts that are no YAML.
	defer func() {
		if p := recover(); p != nil {
			top, err = nil, ErrInvalid{Why: "not valid YAML"}
		}
	}()
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
			return nil, ErrInvalid{Line: e.GetToken().Position.Line, Why: "not valid YAML: " + e.GetMessage()}
		}
		return nil, ErrInvalid{Why: "not valid YAML: " + err.Error()}
	}
	for _, doc := range tree.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentGroupType {
			continue
		}
		if top != nil {
			return nil, ErrInvalid{Line: lineOf(doc.Body), Why: "a second document begins here: only one is allowed"}
		}
		if _, ok := doc.Body.(ast.MapNode); !ok {
			return nil, ErrInvalid{Line: lineOf(doc.Body),
				Why: "not a map: write key: value lines, the first of them name:"}
		}
		top = doc.Body
	}
	if top == nil {
		return nil, ErrInvalid{Why: "empty: write at least name, version, description and tools"}
	}
	return top, nil
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// reader converts a manifest to JSON, records the line of each field, and keeps the first
// error.
type reader struct {
	json  bytes.Buffer
	lines map[string]int
	err   error
}

func (r *reader) fail(field, format string, args ...any) {
	if r.err == nil {
		line, parent := 0, field
		for line == 0 && parent != "" {
			line, parent = r.lines[parent], parent[:max(strings.LastIndexAny(parent, ".["), 0)]
		}
		r.err = ErrInvalid{Field: field, Line: max(line, r.lines[""]), Why: fmt.Sprintf(format, args...)}
	}
}

// write writes n in its order. Unless typed is set, scalars are written as strings, exactly
// as they are in the manifest, so that a version 1.20 stays 1.20.
func (r *reader) write(n ast.Node, field string, typed bool, depth int) {
	if _, there := r.lines[field]; !there {
		r.lines[field] = lineOf(n)
	}
	if depth > maxDepth {
		r.fail(field, "nested more than %d deep", maxDepth)
		return
	}
	switch n := n.(type) {
	case ast.MapNode:
		r.writeMap(n, field, typed, depth)
	case *ast.SequenceNode:
		r.json.WriteByte('[')
		for i, v := range n.Values {
			if i > 0 {
				r.json.WriteByte(',')
			}
			r.write(v, fmt.Sprintf("%s[%d]", field, i), typed, depth+1)
		}
		r.json.WriteByte(']')
	default:
		value, err := scalar(n, typed)
		text, failed := json.Marshal(value)
		if err = errors.Join(err, failed); err != nil {
			r.fail(field, "%v", err)
		}
		r.json.Write(text)
	}
}

// writeMap writes a map. Unless typed is set, it omits fields without a value.
func (r *reader) writeMap(n ast.MapNode, field string, typed bool, depth int) {
	before := byte('{')
	for entry := n.MapRange(); entry.Next(); {
		key, value := keyOf(entry.Key()), entry.Value()
		if _, merges := entry.Key().(*ast.MergeKeyNode); merges {
			r.fail(join(field, key), "a merge (<<), which manifests do not have")
		}
		list, isList := value.(*ast.SequenceNode)
		if !typed && (value == nil || value.Type() == ast.NullType || isList && len(list.Values) == 0) {
			continue
		}
		r.json.WriteByte(before)
		before = ','
		text, _ := json.Marshal(key)
		r.json.Write(append(text, ':'))
		r.write(value, join(field, key), typed || key == "parameters" || key == "required", depth+1)
	}
	if before == '{' {
		r.json.WriteByte(before)
	}
	r.json.WriteByte('}')
}

func keyOf(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	if k.GetToken() == nil {
		return ""
	}
	return k.GetToken().Value
}

func join(field, key string) string {
	if len(key) > 80 {
		key = strings.ToValidUTF8(key[:80], "") + "…"
	}
	return strings.TrimPrefix(field+"."+key, ".")
}

// scalar returns n as a string, or with its YAML type if typed is set.
func scalar(n ast.Node, typed bool) (any, error) {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return nil, nil
	case *ast.StringNode:
		return n.Value, control(n.Value, typed)
	case *ast.LiteralNode:
		return n.Value.Value, control(n.Value.Value, typed)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		if typed {
			return n.(ast.ScalarNode).GetValue(), nil
		}
		return n.GetToken().Value, nil
	case *ast.AnchorNode, *ast.AliasNode:
		return nil, errors.New("anchors and aliases are not allowed")
	}
	return nil, errors.New("tags (!) and numbers such as .inf or .nan are not allowed")
}

func control(text string, allowed bool) error {
	if !allowed && strings.ContainsFunc(text, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\t' || c == 0x7F
	}) {
		return errors.New("control characters are not allowed")
	}
	return nil
}
