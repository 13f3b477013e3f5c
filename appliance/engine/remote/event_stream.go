package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLineBytes limits one line of a stream. A token takes 300 bytes with its JSON; the largest
// events that servers send, with the probabilities of other tokens, take some ten thousand.
const maxLineBytes = 256 << 10

var errLineSize = fmt.Errorf("an event of the answer has more than %d bytes", maxLineBytes)

// endOfStream is the data with which a server of the OpenAI API ends a stream.
const endOfStream = "[DONE]"

// An eventStream reads server-sent events, as the HTML standard defines them ("Interpreting an
// event stream"), as far as the OpenAI API uses them: their data. It skips names, ids and comments.
type eventStream struct {
	lines *bufio.Scanner
	data  []byte
	// loose also accepts what self-made servers send: an event is complete as soon as it is JSON,
	// without an empty line after it; the last event may lack that line; and an answer may be plain
	// JSON, one line for each piece or a single one.
	loose  bool
	tried  int  // how often this event was checked for JSON
	bare   bool // this event is JSON without a field name
	before bool // the first line was read
	cr     bool // the last line ended with CR: an LF directly after it belongs to the same line end
	marked bool // the end mark was read
}

func newEventStream(r io.Reader, loose bool) *eventStream {
	s := &eventStream{lines: bufio.NewScanner(r), loose: loose}
	s.lines.Buffer(nil, maxLineBytes)
	s.lines.Split(s.line)
	return s
}

// line is a bufio.SplitFunc for lines that end with CR, LF or both, as in the standard. A CR ends
// its line at once, since the next byte may come much later.
func (s *eventStream) line(data []byte, atEOF bool) (advance int, line []byte, err error) {
	skip := 0
	if s.cr && len(data) > 0 {
		if s.cr = false; data[0] == '\n' {
			skip = 1
		}
	}
	if end := bytes.IndexAny(data[skip:], "\r\n"); end >= 0 {
		end += skip
		s.cr = data[end] == '\r'
		return end + 1, data[skip:end], nil
	}
	if atEOF && len(data) > skip {
		return len(data), data[skip:], nil
	}
	return skip, nil, nil
}

// next returns the data of the next event, valid until the next call, or io.EOF at the end of the
// stream, with or without an end mark. An incomplete event is dropped.
func (s *eventStream) next() ([]byte, error) {
	s.data, s.tried, s.bare = s.data[:0], 0, false
	begun := false
	for s.lines.Scan() {
		value, isData := s.value(s.lines.Bytes(), begun)
		switch {
		case isData:
			if len(s.data)+len(value) >= maxLineBytes {
				return nil, errLineSize
			}
			if begun {
				s.data = append(s.data, '\n')
			}
			begun = true
			s.data = append(s.data, bytes.TrimPrefix(value, []byte(" "))...)
			if s.loose && s.complete() {
				return s.event()
			}
		case len(s.lines.Bytes()) == 0 && begun:
			return s.event()
		}
	}
	switch err := s.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errLineSize
	case err != nil:
		return nil, err
	case s.loose && begun:
		return s.event()
	}
	return nil, io.EOF
}

// value returns the data in a line, if any.
func (s *eventStream) value(line []byte, begun bool) (value []byte, isData bool) {
	if !s.before {
		s.before = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	if value, isData = bytes.CutPrefix(line, []byte("data:")); isData || !s.loose {
		return value, isData
	}
	s.bare = s.bare || !begun && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{"))
	return line, s.bare && len(line) > 0
}

// maxTried limits how often an event is checked for JSON, so that an event of many lines costs at
// most that many times its length.
const maxTried = 64

// complete reports whether the event is complete: JSON, or the end mark.
func (s *eventStream) complete() bool {
	d := bytes.TrimSpace(s.data)
	if string(d) == endOfStream {
		return true
	}
	if len(d) == 0 || d[len(d)-1] != '}' || s.tried >= maxTried {
		return false
	}
	s.tried++
	return json.Valid(d)
}

func (s *eventStream) event() ([]byte, error) {
	if string(bytes.TrimSpace(s.data)) == endOfStream {
		s.marked = true
		return nil, io.EOF
	}
	return s.data, nil
}
