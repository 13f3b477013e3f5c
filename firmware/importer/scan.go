package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	// maxDepth bounds the nesting of lists and objects: pages of chats with events have 6
	// levels, and a config 5.
	maxDepth = 40
	// maxText is how long a text may be, in bytes: eight times the longest that the box
	// stores. Longer ones, such as sound in base64, are skipped.
	maxText = 4 << 20
	// maxList and maxObject are the sizes from which the entries of a list or the fields
	// of an object are handled one by one, before their end has been read. So a file of any
	// length takes little memory. Records are smaller.
	maxList   = 1 << 20
	maxObject = 8 << 20
	// maxLiteral is the length of the longest number.
	maxLiteral = 64
)

// A scanner reads the JSON values of a file, and finds the records in them. It goes on
// after errors as far as it can.
type scanner struct {
	in      *bufio.Reader
	at      int64        // bytes read, of the text as UTF-8
	nextRun func() int64 // numbers lists
	// found is called for each object that may be a record, with its place in a list. It
	// reports whether it was one, and whether to look for others in it.
	found   func(n *node, run int64, pos int) (is, descend bool)
	records int  // found so far
	ansi    bool // some text was not UTF-8, and was read as Windows-1252
	strays  int  // entries of lists without any record
	stray   string
}

// A fault is what is wrong with a file at a byte.
type fault struct {
	at  int64
	why string
}

func (f fault) Error() string { return fmt.Sprintf("byte %d: %s", f.at, f.why) }

func (s *scanner) faultf(format string, args ...any) error {
	return fault{s.at, fmt.Sprintf(format, args...)}
}

// values reads all values of the file. After a fault, it continues at the next line that
// begins like a value, as in a file with a record on each line. The first fault is
// returned, with the number of all.
func (s *scanner) values() (faults int, err error) {
	run := s.nextRun()
	for pos := 0; ; pos++ {
		switch _, e := s.next(" \t\r\n,"); {
		case errors.Is(e, io.EOF):
			return faults, err
		case e != nil:
			return faults + 1, errors.Join(err, e)
		}
		_ = s.in.UnreadByte() // next has read one
		s.at--
		n, e := s.value(0)
		s.visit(n, run, pos)
		if e == nil {
			continue
		}
		if faults++; err == nil {
			err = e
		}
		if _, mendable := errors.AsType[fault](e); !mendable || !s.skipToValue() {
			return faults, err
		}
	}
}

// skipToValue skips to the next line that begins with a brace or bracket.
func (s *scanner) skipToValue() bool {
	begin := false // of a line
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return false
		}
		s.at++
		if begin && (c == '{' || c == '[') {
			_ = s.in.UnreadByte()
			s.at--
			return true
		}
		begin = c == '\n'
	}
}

// next returns the next byte that is not one of skip.
func (s *scanner) next(skip string) (byte, error) {
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return 0, err
		}
		s.at++
		if bytes.IndexByte([]byte(skip), c) < 0 {
			return c, nil
		}
	}
}

const space = " \t\r\n"

// value reads one value. With an error, the records in it that are complete have been
// handled, and the value is nil.
func (s *scanner) value(depth int) (*node, error) {
	c, err := s.next(space)
	switch {
	case errors.Is(err, io.EOF):
		return nil, s.faultf("the file ends in the middle of a value")
	case err != nil:
		return nil, err
	case depth > maxDepth:
		return nil, s.faultf("lists and objects are nested more than %d deep", maxDepth)
	}
	switch c {
	case '{', '[':
		n := &node{kind: c, size: 100}
		if c == '[' {
			n.run = s.nextRun()
			err = s.list(n, depth)
		} else {
			err = s.object(n, depth)
		}
		if err != nil {
			if is := shapeOf(n); is == isChat || is == isGroupPage { // what its events belong to
				_, _ = s.found(n, 0, 0)
			}
			s.spill(n)
			return nil, err
		}
		return n, nil
	case '"':
		text, cut, err := s.text()
		return &node{kind: '"', text: text, cut: cut, size: 100 + len(text)}, err
	}
	return s.literal(c)
}

// list reads the entries of a list, behind its bracket.
func (s *scanner) list(n *node, depth int) error {
	for {
		c, err := s.separator(n, ']')
		if err != nil || c == ']' {
			return err
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		n.values = append(n.values, v)
		n.count++
		if n.size += v.size; n.size > maxList {
			s.spill(n)
		}
	}
}

// object reads the fields of an object, behind its brace.
func (s *scanner) object(n *node, depth int) error {
	for {
		c, err := s.separator(n, '}')
		if err != nil || c == '}' {
			return err
		}
		if c, err = s.next(space); err == nil && c != '"' {
			err = s.faultf("expected the name of a field, found %q", c)
		}
		if err != nil {
			return s.unexpected(err)
		}
		name, _, err := s.text()
		if err != nil {
			return err
		}
		if c, err = s.next(space); err == nil && c != ':' {
			err = s.faultf("expected a colon behind the name of a field, found %q", c)
		}
		if err != nil {
			return s.unexpected(err)
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		n.names, n.values = append(n.names, name), append(n.values, v)
		n.count++
		if n.size += v.size + len(name); n.size > maxObject {
			s.spill(n)
		}
	}
}

// separator reads the comma before the next entry, unless it is the first one, or the end,
// which it returns.
func (s *scanner) separator(n *node, end byte) (byte, error) {
	c, err := s.next(space)
	if err != nil {
		return 0, s.unexpected(err)
	}
	switch {
	case c == end:
		return c, nil
	case n.count == 0:
		s.at--
		return 0, s.in.UnreadByte()
	case c != ',':
		return 0, s.faultf("expected a comma or %q, found %q", end, c)
	}
	return c, nil
}

func (s *scanner) unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return s.faultf("the file ends in the middle of a value")
	}
	return err
}

// spill handles the records within a list or an object that is too long, or damaged, and
// drops them from it.
func (s *scanner) spill(n *node) {
	first := n.count - len(n.values)
	n.size = 100
	var names []string
	var left []*node
	for i, v := range n.values {
		switch {
		case n.kind == '[':
			n.spilled += s.entry(v, n.run, first+i)
		case v.isContainer():
			n.spilled += s.visit(v, s.nextRun(), 0)
		case len(left) < maxSpilled && len(v.text) <= maxLiteral:
			names, left = append(names, n.names[i]), append(left, v)
			n.size += v.size
		}
	}
	n.names, n.values = names, left
}

// maxSpilled is how many short fields of a spilled object stay: more than a page has.
const maxSpilled = 100

// visit hands the objects in a value to found, and returns how many records there were.
func (s *scanner) visit(n *node, run int64, pos int) (records int) {
	if n == nil || !n.isContainer() {
		return 0
	}
	records = n.spilled
	if n.kind == '{' {
		is, descend := s.found(n, run, pos)
		if is {
			records++
			s.records++
		}
		if !descend {
			return records
		}
		for _, v := range n.values {
			records += s.visit(v, s.nextRun(), 0)
		}
		return records
	}
	first := n.count - len(n.values)
	for i, v := range n.values {
		records += s.entry(v, n.run, first+i)
	}
	return records
}

// entry is visit for an entry of a list; it counts those without records.
func (s *scanner) entry(v *node, run int64, pos int) int {
	records := s.visit(v, run, pos)
	if records == 0 && v.kind == '{' && shapeOf(v) == unknown {
		if s.strays++; s.strays == 1 {
			s.stray = fieldNames(v)
		}
	}
	return records
}

// text reads a string, behind its quote.
func (s *scanner) text() (text string, cut bool, err error) {
	raw, slashes := []byte{'"'}, 0 // slashes: backslashes at the end of what has been read
	for {
		part, err := s.in.ReadSlice('"')
		s.at += int64(len(part))
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", false, s.unexpected(err)
		}
		if len(raw) <= maxText {
			raw = append(raw, part...)
		}
		body := bytes.TrimSuffix(part, []byte{'"'})
		if n := len(body) - len(bytes.TrimRight(body, `\`)); n == len(body) {
			slashes += n
		} else {
			slashes = n
		}
		if len(body) < len(part) {
			if slashes%2 == 0 {
				break
			}
			slashes = 0
		}
	}
	if len(raw) > maxText {
		return "", true, nil
	}
	if !utf8.Valid(raw) {
		s.ansi = true
		raw = fromWindows1252(raw)
	}
	if !bytes.ContainsFunc(raw, func(r rune) bool { return r == '\\' || r < ' ' }) { // nothing to decode
		return string(raw[1 : len(raw)-1]), false, nil
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", false, s.faultf("a text is damaged: %v", err)
	}
	return text, false, nil
}

// literal reads a number, true, false or null that begins with c. Python writes NaN and
// Infinity, which count as null.
func (s *scanner) literal(c byte) (*node, error) {
	word := []byte{c}
	for len(word) <= maxLiteral {
		next, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte([]byte(" \t\r\n,:]}[{\""), next) >= 0 {
			if err := s.in.UnreadByte(); err != nil {
				return nil, err
			}
			break
		}
		s.at++
		word = append(word, next)
	}
	text := string(word)
	switch text {
	case "NaN", "Infinity", "-Infinity", "undefined":
		text = "null"
	}
	if len(text) > maxLiteral || !json.Valid([]byte(text)) {
		return nil, s.faultf("expected a JSON value, found %.20q", text)
	}
	return &node{kind: 'l', text: text, size: 80}, nil
}
