package media

import (
	"errors"
	"io"
	"os"
	"unicode/utf8"
)

// textHead is how much of a file is examined to tell texts from other files. Binary formats have
// control characters in their first bytes.
const textHead = 64 << 10

// isText reports whether a file begins like a text: UTF-8 without control characters, not empty.
func isText(f *os.File) (bool, error) {
	head := make([]byte, textHead)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	whole := errors.Is(err, io.EOF)
	for b := head[:n]; len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			return !whole && !utf8.FullRune(b), nil // the head cuts a character
		}
		if (r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f') || r == '\x7f' {
			return false, nil
		}
		b = b[size:]
	}
	return n > 0, nil
}
