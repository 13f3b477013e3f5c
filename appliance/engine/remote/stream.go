package remote

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLineBytes bounds one line of a stream. A token takes 300 bytes with the
// JSON around it, and the largest that servers send, with the probabilities of
// other tokens, some ten thousand.
const maxLineBytes = 256 << 10

var errLineSize = fmt.Errorf("an event of the answer has more than %d bytes", maxLineBytes)

// endOfStream is the data with which a server of the OpenAI API ends a stream.
const endOfStream = "[DONE]"

// An eventStream reads server-sent events, as the HTML standard has them
// ("Interpreting an event stream"), as far as a server of the OpenAI API uses
// them: their data. Names, ids and comments are passed over.
type eventStream struct {
	lines *bufio.Scanner
	data  []byte
}

func newEventStream(r io.Reader) *eventStream {
	s := &eventStream{lines: bufio.NewScanner(r)}
	s.lines.Buffer(nil, maxLineBytes)
	return s
}

// next returns the data of the next event, valid until the call after it, and
// io.EOF where the stream ends, by its mark or without one. An event that is
// cut off is none.
func (s *eventStream) next() ([]byte, error) {
	s.data = s.data[:0]
	begun := false
	for s.lines.Scan() {
		line := s.lines.Bytes()
		value, isData := bytes.CutPrefix(line, []byte("data:"))
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
		case len(line) == 0 && begun:
			if string(s.data) == endOfStream {
				return nil, io.EOF
			}
			return s.data, nil
		}
	}
	switch err := s.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errLineSize
	case err != nil:
		return nil, err
	}
	return nil, io.EOF
}
