package contract

import (
	"bytes"
	"fmt"
)

// maxFields bounds the fields of one object, known and unknown: far above what
// the interface has or a client adds. Without a bound, parsing the fields of the
// largest message would take dozens of times its size.
const maxFields = 10_000

// tooManyEntries returns why an object or list must not be parsed, or "".
func tooManyEntries(raw []byte, what string, most int) string {
	if n := entries(raw); n > most {
		return fmt.Sprintf("%d %s; at most %d are allowed", n, what, most)
	}
	return ""
}

// entries counts the fields of an object or the entries of a list without parsing
// it: its own commas, plus one. It returns 1 for an empty one, and an arbitrary
// number for invalid JSON.
func entries(raw []byte) int {
	n, depth := 1, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i += stringEnd(raw[i:])
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 1 {
				n++
			}
		}
	}
	return n
}

// stringEnd returns the index of the closing quote of the string at the start of
// raw, or len(raw).
func stringEnd(raw []byte) int {
	for i := 1; i < len(raw); {
		quote := bytes.IndexByte(raw[i:], '"')
		if quote < 0 {
			break
		}
		i += quote
		escapes := 0
		for raw[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
		i++
	}
	return len(raw)
}
