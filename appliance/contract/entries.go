package contract

import (
	"bytes"
	"fmt"
)

// maxFields of one object, known ones and others: far above what the interface
// has or a client adds. Without a bound the fields of the largest message would
// take dozens of times its size.
const maxFields = 10_000

// tooManyEntries says why an object or list is not to be opened, or nothing.
func tooManyEntries(raw []byte, what string, most int) string {
	if n := entries(raw); n > most {
		return fmt.Sprintf("%d %s; at most %d are allowed", n, what, most)
	}
	return ""
}

// entries counts what an object or a list has, without opening it: its own
// commas, and one. It is one too many for an empty one, and means nothing for
// what is no JSON.
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

// stringEnd is where the string that raw begins with ends: the place of its
// closing quote, or the end of raw.
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
