package abridge

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
)

const (
	// maxDepth is how deep JSON may be nested; deeper values are left out.
	maxDepth = 24
	// maxNodes is how many values are examined, as many as a list of 1,000 entries with 20 fields
	// has; the others are only counted.
	maxNodes = 20_000
	// maxUnwraps is how often a JSON string may contain JSON.
	maxUnwraps = 2
)

// node is a JSON value.
type node struct {
	kind     kind
	key      string // its name, if it is a field
	text     string // of a leaf: the string, or the number as written
	children []*node
	omitted  int // items of a list that were not examined
	parent   *node
	noise    bool      // nobody can say it or asks for it
	prose    *passages // the passages of a long text

	score      float64 // how relevant it is
	budget     int     // tokens that it may use; 0: it is left out
	lastRender int     // the last render that shows it
}

type kind int

const (
	object kind = iota
	list
	words
	literal // a number, true or false
	null
)

// parser builds nodes.
type parser struct {
	in          *json.Decoder
	query       query
	nodes       int
	unwrapDepth int  // how many JSON strings enclose this text
	truncated   bool // the JSON ends in the middle of a value
}

// parse parses JSON, one value or several in a row. It returns nil if content is not JSON, or a
// value without parts.
func parse(content string, a query) *node {
	r := parser{query: a}
	root := r.parseText(content)
	for root != nil && root.kind == list && len(root.children) == 1 && root.omitted == 0 &&
		root.children[0].kind == list {
		root = root.children[0]
		root.parent = nil
	}
	if root == nil || root.kind != object && root.kind != list {
		return nil
	}
	return root
}

// parseText parses a text of one or more JSON values.
func (p *parser) parseText(content string) *node {
	was := p.in
	defer func() { p.in = was }()
	p.in = json.NewDecoder(strings.NewReader(content))
	p.in.UseNumber()
	var values []*node
	for {
		n, err := p.value(nil, "", 0)
		if errors.Is(err, io.EOF) && len(values) > 0 || p.truncated && err != nil {
			break
		}
		if err != nil {
			return nil
		}
		if n != nil {
			values = append(values, n)
		} else {
			values = append(values, &node{kind: null, noise: true})
		}
	}
	switch len(values) {
	case 0:
		return nil
	case 1:
		return values[0]
	}
	root := &node{kind: list, children: values}
	for _, n := range values {
		n.parent = root
	}
	return root
}

// value parses the next value; nil if it is too deep or one too many.
func (p *parser) value(up *node, key string, depth int) (*node, error) {
	t, err := p.in.Token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth || p.nodes >= maxNodes {
		return nil, p.skip(t)
	}
	p.nodes++
	n := &node{key: key, parent: up}
	switch t := t.(type) {
	case json.Delim:
		n.kind = list
		if t == '{' {
			n.kind = object
		}
		return n, p.children(n, depth)
	case string:
		n.kind, n.text = words, t
		if inner := p.unwrap(t); inner != nil {
			inner.key, inner.parent = key, up
			return inner, nil
		}
	case json.Number:
		n.kind, n.text = literal, t.String()
	case bool:
		n.kind, n.text = literal, "false"
		if t {
			n.text = "true"
		}
	default:
		n.kind = null
	}
	return n, nil
}

// children parses the contents of an object or a list, up to its end.
func (p *parser) children(n *node, depth int) error {
	for p.in.More() {
		key := ""
		if n.kind == object {
			t, err := p.in.Token()
			if err != nil {
				return p.end(err)
			}
			key, _ = t.(string)
		}
		kid, err := p.value(n, key, depth+1)
		switch {
		case err != nil:
			return p.end(err)
		case kid != nil:
			n.children = append(n.children, kid)
		default:
			n.omitted++
		}
	}
	_, err := p.in.Token()
	return p.end(err)
}

// end returns nil if the JSON is truncated, so that the part before is used.
func (p *parser) end(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		p.truncated = true
		return nil
	}
	return err
}

// skip skips the rest of a value that began with t.
func (p *parser) skip(t json.Token) error {
	for open := 0; ; {
		switch t {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
		if open == 0 {
			return nil
		}
		var err error
		if t, err = p.in.Token(); err != nil {
			return err
		}
	}
}

// unwrap parses the JSON in a string; nil if there is none.
func (p *parser) unwrap(text string) *node {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if p.unwrapDepth >= maxUnwraps || text == "" || text[0] != '{' && text[0] != '[' && text[0] != '"' {
		return nil
	}
	p.unwrapDepth++
	defer func() { p.unwrapDepth-- }()
	n := p.parseText(text)
	if n == nil || n.kind != object && n.kind != list {
		return nil
	}
	return n
}
