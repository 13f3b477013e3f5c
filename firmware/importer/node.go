package importer

import (
	"encoding/json"
	"strings"
	"unicode"
)

// A node is a JSON value.
type node struct {
	kind    byte     // '{', '[', '"', or 'l' for a literal
	text    string   // of a string, or of a literal: a number, true, false or null
	cut     bool     // the string was too long, and is empty
	names   []string // of the fields, as they are written
	values  []*node  // fields of an object, or entries of a list
	size    int      // about how many bytes it takes
	run     int64    // number of a list, which its entries share
	count   int      // entries or fields so far, those that are no longer here too
	spilled int      // records that were found in those
}

func (n *node) isContainer() bool { return n.kind == '{' || n.kind == '[' }
func (n *node) isNull() bool      { return n == nil || n.kind == 'l' && n.text == "null" }

// get returns a field by its name in snake_case, and nil if there is none or it is null.
func (n *node) get(name string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	for i, written := range n.names {
		if (written == name || snakeCase(written) == name) && !n.values[i].isNull() {
			return n.values[i]
		}
	}
	return nil
}

// has reports whether the object has all these fields.
func (n *node) has(names ...string) bool {
	for _, name := range names {
		if n.get(name) == nil {
			return false
		}
	}
	return true
}

// str returns the text of a field that is a string, and "" for any other.
func (n *node) str(name string) string {
	if v := n.get(name); v != nil && v.kind == '"' {
		return v.text
	}
	return ""
}

// scalar returns a field that is a string, a number or a boolean as text.
func (n *node) scalar(name string) string {
	if v := n.get(name); v != nil && !v.isContainer() {
		return v.text
	}
	return ""
}

// snakeCase returns the name of a field as the REST interface writes it: the published
// TypeScript client writes createdOn for created_on.
func snakeCase(name string) string {
	if strings.IndexFunc(name, unicode.IsUpper) < 0 {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// appendJSON appends the value as JSON, with names in snake_case if snake is set, but for
// those in the parameters of a tool, which are not the service's.
func (n *node) appendJSON(b []byte, snake bool) []byte {
	switch n.kind {
	case '{', '[':
		b = append(b, n.kind)
		for i, v := range n.values {
			if i > 0 {
				b = append(b, ',')
			}
			name := ""
			if n.kind == '{' {
				name = n.names[i]
				if snake {
					name = snakeCase(name)
				}
				b = append(appendString(b, name), ':')
			}
			b = v.appendJSON(b, snake && name != "parameters")
		}
		return append(b, n.kind+2) // } and ] are two behind { and [ in ASCII
	case '"':
		return appendString(b, n.text)
	}
	return append(b, n.text...)
}

func appendString(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // a string can always be written
	return append(b, text...)
}
