package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ErrInvalid is what is wrong with a manifest: where, and why.
type ErrInvalid struct {
	Field string // as in permissions.http[0].host; empty for the whole
	Line  int    // 0 where there is none
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

// maxDepth bounds how deep a manifest nests; a schema in it may have 16 levels.
const maxDepth = 40

// tooDeep tells whether brackets in text nest so deep that a parser that
// recurses would suffer. It counts brackets in strings too, which do no harm
// there: a manifest with 200 of them open is none.
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
		return nil, ErrInvalid{Why: fmt.Sprintf("%d bytes; at most %d are allowed", len(text), MaxBytes)}
	case tooDeep(text):
		return nil, ErrInvalid{Why: "more than 200 brackets are open at once; a manifest nests at most 40 deep"}
	}
	// The parser has been seen to panic on texts that are no YAML.
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
			return nil, ErrInvalid{Line: lineOf(doc.Body), Why: "a second document begins here; a manifest is one"}
		}
		if _, ok := doc.Body.(ast.MapNode); !ok {
			return nil, ErrInvalid{Line: lineOf(doc.Body),
				Why: "not a map; write key: value lines, the first of them name:"}
		}
		top = doc.Body
	}
	if top == nil {
		return nil, ErrInvalid{Why: "empty; it needs at least name, version, description and tools"}
	}
	return top, nil
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// reader walks a manifest and keeps the first thing that is wrong with it.
type reader struct{ err error }

func (r *reader) fail(at ast.Node, field, format string, args ...any) {
	if r.err == nil {
		r.err = ErrInvalid{Field: field, Line: lineOf(at), Why: fmt.Sprintf(format, args...)}
	}
}

// object is a map of the manifest under its name in errors.
type object struct {
	*reader
	at     ast.Node
	path   string
	values map[string]ast.Node
}

// object reads n as a map with no other keys than these.
func (r *reader) object(n ast.Node, path string, keys ...string) object {
	o := object{r, n, path, map[string]ast.Node{}}
	m, ok := n.(ast.MapNode)
	if !ok {
		r.fail(n, path, "%s is not a map with the keys %s", kind(n), strings.Join(keys, ", "))
		return o
	}
	for entry := m.MapRange(); entry.Next(); {
		key := keyOf(entry.Key())
		switch {
		case !slices.Contains(keys, key):
			r.fail(entry.Key(), join(path, key), "unknown field; there are %s", strings.Join(keys, ", "))
		case o.values[key] != nil:
			r.fail(entry.Key(), join(path, key), "given twice")
		}
		if v := entry.Value(); v != nil && v.Type() != ast.NullType {
			o.values[key] = v
		}
	}
	return o
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

func join(path, key string) string {
	if len(key) > 80 {
		key = strings.ToValidUTF8(key[:80], "") + "…"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// required fails where key has no value.
func (o object) required(key, why string) {
	if o.values[key] == nil {
		o.fail(o.at, join(o.path, key), "missing; %s", why)
	}
}

// text is the text at key, of at most most bytes.
func (o object) text(key string, most int) string {
	n := o.values[key]
	if n == nil {
		return ""
	}
	s, ok := scalar(n)
	switch {
	case !ok:
		o.fail(n, join(o.path, key), "%s is no text", kind(n))
	case len(s) > most:
		o.fail(n, join(o.path, key), "%d bytes; at most %d are allowed", len(s), most)
	case strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7F }):
		o.fail(n, join(o.path, key), "contains control characters, which are not allowed")
	}
	return s
}

// flag is the truth value at key.
func (o object) flag(key string) bool {
	n := o.values[key]
	if n == nil {
		return false
	}
	b, ok := n.(*ast.BoolNode)
	if !ok {
		o.fail(n, join(o.path, key), "%s is neither true nor false", kind(n))
		return false
	}
	return b.Value
}

// list calls each for what is in the list at key, of at most most.
func (o object) list(key string, most int, each func(n ast.Node, path string)) {
	n := o.values[key]
	if n == nil {
		return
	}
	path := join(o.path, key)
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		o.fail(n, path, "%s is not a list", kind(n))
		return
	}
	if len(s.Values) > most {
		o.fail(n, path, "%d entries; at most %d are allowed", len(s.Values), most)
		return
	}
	for i, v := range s.Values {
		each(v, fmt.Sprintf("%s[%d]", path, i))
	}
}

// texts is the list of texts at key.
func (o object) texts(key string, most int, check func(n ast.Node, path, text string)) []string {
	var all []string
	o.list(key, most, func(n ast.Node, path string) {
		s, ok := scalar(n)
		if !ok {
			o.fail(n, path, "%s is no text", kind(n))
			return
		}
		if slices.Contains(all, s) {
			o.fail(n, path, "%.80q is there twice", s)
		}
		check(n, path, s)
		all = append(all, s)
	})
	return all
}

// scalar is n as the manifest has it: 1.2 stays "1.2".
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// kind says in words what n is, as the beginning of a sentence.
func kind(n ast.Node) string {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case ast.MapNode:
		return "a map"
	case *ast.SequenceNode:
		return "a list"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias, which manifests do not have,"
	case *ast.TagNode:
		return "a tag (!), which manifests do not have,"
	default:
		if s, ok := scalar(n); ok {
			return strconv.Quote(strings.ToValidUTF8(s[:min(len(s), 80)], ""))
		}
		return "this"
	}
}

// raw is n as JSON, in its order.
func (r *reader) raw(n ast.Node, path string) json.RawMessage {
	var b bytes.Buffer
	r.write(&b, n, path, 0)
	return b.Bytes()
}

func (r *reader) write(b *bytes.Buffer, n ast.Node, path string, depth int) {
	if depth > maxDepth {
		r.fail(n, path, "nested more than %d deep", maxDepth)
		return
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		b.WriteString("null")
	case ast.MapNode:
		seen := map[string]bool{}
		b.WriteByte('{')
		for entry := n.MapRange(); entry.Next(); {
			key := keyOf(entry.Key())
			if _, ok := entry.Key().(*ast.MergeKeyNode); ok || seen[key] {
				r.fail(entry.Key(), join(path, key), "given twice, or a merge (<<), which manifests do not have")
			}
			if len(seen) > 0 {
				b.WriteByte(',')
			}
			seen[key] = true
			writeString(b, key)
			b.WriteByte(':')
			r.write(b, entry.Value(), join(path, key), depth+1)
		}
		b.WriteByte('}')
	case *ast.SequenceNode:
		b.WriteByte('[')
		for i, v := range n.Values {
			if i > 0 {
				b.WriteByte(',')
			}
			r.write(b, v, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
		b.WriteByte(']')
	case *ast.BoolNode:
		b.WriteString(strconv.FormatBool(n.Value))
	case *ast.IntegerNode:
		fmt.Fprint(b, n.Value)
	case *ast.FloatNode:
		number, err := json.Marshal(n.Value)
		if err != nil {
			r.fail(n, path, "%v is no number of JSON", n.Value)
		}
		b.Write(number)
	default:
		s, ok := scalar(n)
		if !ok {
			r.fail(n, path, "%s is not allowed", kind(n))
		}
		writeString(b, s)
	}
}

func writeString(b *bytes.Buffer, s string) {
	text, _ := json.Marshal(s)
	b.Write(text)
}
