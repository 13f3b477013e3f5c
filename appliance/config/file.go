package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFileBytes limits the size of the file: a real one has a few kilobytes, and a wrong
// path may point to anything.
const maxFileBytes = 1 << 20

// readLimited returns the text of a settings file.
func readLimited(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	} else if err == nil && info.Size() > maxFileBytes {
		err = fmt.Errorf("it has %d bytes; at most %d are allowed", info.Size(), maxFileBytes)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// parseSettings returns the assignments in the text of a file, in its order.
func parseSettings(path, home string, text []byte) ([]assignment, error) {
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(path, err)
	}
	r := fileReader{path: path, home: home}
	for _, doc := range tree.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentGroupType {
			continue
		}
		if r.hasDocument {
			return nil, r.errorf(doc.Body, "a second document starts here: put all settings into the first")
		}
		r.hasDocument = true
		top, ok := doc.Body.(ast.MapNode)
		if !ok {
			return nil, r.errorf(doc.Body, "the file is not a map of settings: write key: value lines")
		}
		if err := r.mapping("", top); err != nil {
			return nil, err
		}
	}
	return r.assignments, nil
}

// syntaxError returns a YAML error as one line with its position.
func syntaxError(path string, err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		return fmt.Errorf("%s:%d: not valid YAML: %s", path, e.GetToken().Position.Line, e.GetMessage())
	}
	return fmt.Errorf("%s: not valid YAML: %w", path, err)
}

// fileReader walks the tree of a file and collects its assignments.
type fileReader struct {
	path, home  string
	hasDocument bool
	assignments []assignment
}

func (r *fileReader) errorf(at ast.Node, format string, args ...any) error {
	return fmt.Errorf("%s: %s", r.position(at), fmt.Sprintf(format, args...))
}

func (r *fileReader) position(at ast.Node) string {
	return fmt.Sprintf("%s:%d", r.path, at.GetToken().Position.Line)
}

// mapping reads a map; prefix is the common prefix of its keys.
func (r *fileReader) mapping(prefix string, m ast.MapNode) error {
	for entry := m.MapRange(); entry.Next(); {
		key, value := prefix+entry.Key().GetToken().Value, entry.Value()
		if !isKnown(key) {
			return r.unknown(entry.Key(), prefix, key)
		}
		if s, _ := findSetting(key); s.FileOnly() && value != nil && value.Type() != ast.NullType {
			if err := r.maps(s, entry.Key(), value); err != nil {
				return err
			}
			continue
		}
		if inner, ok := value.(ast.MapNode); ok {
			if s, _ := findSetting(key); s.isMap {
				if err := r.freeMap(s, entry.Key(), inner); err != nil {
					return err
				}
				continue
			}
			if !isGroup(key) {
				return r.errorf(value, "%s takes a plain value, not a map", key)
			}
			if err := r.mapping(key+".", inner); err != nil {
				return err
			}
			continue
		}
		if value == nil || value.Type() == ast.NullType {
			continue // a key without a value has the default
		}
		text, err := r.scalar(key, value)
		if err != nil {
			return err
		}
		s, ok := findSetting(key)
		if !ok {
			return r.errorf(value, "%s takes a map with the keys %s", key, strings.Join(keysUnder(key+"."), ", "))
		}
		r.assign(s, text, entry.Key())
	}
	return nil
}

func (r *fileReader) assign(s Setting, text string, at ast.Node) {
	r.assignments = append(r.assignments, assignment{
		Setting: s,
		value:   text,
		source:  r.position(at),
		dir:     filepath.Dir(r.path),
		home:    r.home,
		inFile:  true,
	})
}

// freeMap reads a map with arbitrary keys into one text.
func (r *fileReader) freeMap(s Setting, at ast.Node, m ast.MapNode) error {
	var lines []string
	words := map[string]string{}
	for entry := m.MapRange(); entry.Next(); {
		name := entry.Key().GetToken().Value
		switch entry.Value().(type) {
		case ast.MapNode:
			return r.errorf(entry.Key(), "%s: %s takes one value, not a map", s.Key, name)
		case *ast.SequenceNode:
			return r.errorf(entry.Key(), "%s: %s takes one value, not a list", s.Key, name)
		case *ast.NullNode, nil:
			return r.errorf(entry.Key(), "%s: %s has no value", s.Key, name)
		}
		value, err := r.scalar(s.Key, entry.Value())
		if err != nil {
			return err
		}
		if strings.ContainsAny(name, "=\n") || strings.ContainsAny(value, "=\n") {
			return r.errorf(entry.Key(), "%s: %q and its value must each be one line without =", s.Key, name)
		}
		lines = append(lines, name+"="+value)
		words[name] = r.position(entry.Key())
	}
	r.assign(s, strings.Join(lines, "\n")+"\n", at)
	r.assignments[len(r.assignments)-1].entrySources = words
	return nil
}

// scalar returns a plain value as text; a list becomes its items with commas.
func (r *fileReader) scalar(key string, n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	case *ast.SequenceNode:
		if s, _ := findSetting(key); !s.isList {
			return "", r.errorf(n, "%s takes one value, not a list", key)
		}
		return r.items(key, n)
	}
	return "", r.errorf(n, "%s: anchors, aliases and tags are not supported: write the value itself",
		strings.TrimSuffix(key, "."))
}

// items returns the items of a list, with commas.
func (r *fileReader) items(key string, list *ast.SequenceNode) (string, error) {
	var items []string
	for _, v := range list.Values {
		item, err := r.item(key, v)
		if err != nil {
			return "", err
		}
		items = append(items, item)
	}
	return strings.Join(items, ","), nil
}

// unknown returns the error for an unknown key, with a suggestion.
func (r *fileReader) unknown(at ast.Node, prefix, key string) error {
	allowed := keysUnder(prefix)
	name := strings.TrimPrefix(key, prefix)
	for _, s := range Settings() { // the right name at the wrong level
		if s.Key == name || strings.HasSuffix(s.Key, "."+name) {
			return r.errorf(at, "unknown key %s: did you mean %s?", key, s.Key)
		}
	}
	if near := Nearest(name, allowed); near != "" {
		return r.errorf(at, "unknown key %s: did you mean %s%s?", key, prefix, near)
	}
	return r.errorf(at, "unknown key %s: allowed here are %s", key, strings.Join(allowed, ", "))
}

// findSetting returns the setting with a key, which may be an old one.
func findSetting(key string) (Setting, bool) {
	all := allSettings()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}

// isKnown reports whether a key is a setting or a map of settings.
func isKnown(key string) bool {
	_, ok := findSetting(key)
	return ok || isGroup(key)
}

func isGroup(key string) bool {
	return slices.ContainsFunc(allSettings(), func(s Setting) bool { return strings.HasPrefix(s.Key, key+".") })
}

// keysUnder returns the keys that the map at prefix may have.
func keysUnder(prefix string) []string {
	var keys []string
	for _, s := range allSettings() {
		rest, ok := strings.CutPrefix(s.Key, prefix)
		if !ok || s.PartOf != "" && !s.inFileMap() {
			continue
		}
		first, _, _ := strings.Cut(rest, ".")
		if !slices.Contains(keys, first) {
			keys = append(keys, first)
		}
	}
	return keys
}
