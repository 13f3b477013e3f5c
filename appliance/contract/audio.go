package contract

import (
	"bytes"
)

// plainAudio reads an audio_input as clients write it, fifty times a second: an
// object of a type and data, two strings without escapes. It takes a quarter of the
// time of reading JSON whatever it holds. What is written otherwise, or wrong, it
// leaves: ok is false.
func plainAudio(data []byte) (m AudioInput, ok bool) {
	rest, ok := past(data, '{')
	if !ok {
		return m, false
	}
	var audio []byte // in its quotes
	for typed := false; ; {
		name, after, ok := plainString(rest)
		if !ok {
			return m, false
		}
		if rest, ok = past(after, ':'); !ok {
			return m, false
		}
		value, after, ok := plainString(rest)
		switch {
		case !ok:
			return m, false
		case string(name) == `"type"` && !typed && string(value) == `"audio_input"`:
			typed = true
		case string(name) == `"data"` && audio == nil:
			audio = value
		default:
			return m, false
		}
		if typed && audio != nil {
			rest = after
			break
		}
		if rest, ok = past(after, ','); !ok {
			return m, false
		}
	}
	if rest, ok = past(rest, '}'); !ok || len(unspaced(rest)) > 0 {
		return m, false
	}
	if bytes.IndexByte(audio, '\n') >= 0 || bytes.IndexByte(audio, '\r') >= 0 { // no JSON, though base64
		return m, false
	}
	var err error
	m.Data, err = decodeBase64(audio)
	return m, err == nil
}

// unspaced is b without the space before it.
func unspaced(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// past is what follows a character, which may have space before it.
func past(b []byte, c byte) (rest []byte, ok bool) {
	b = unspaced(b)
	if len(b) == 0 || b[0] != c {
		return nil, false
	}
	return b[1:], true
}

// plainString takes a string in its quotes from the front of b, which may have
// space before it; false if it has an escape in it.
func plainString(b []byte) (s, rest []byte, ok bool) {
	b = unspaced(b)
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexByte(b[1:], '"')
	if end < 0 || bytes.IndexByte(b[:end+1], '\\') >= 0 {
		return nil, nil, false
	}
	return b[:end+2], b[end+2:], true
}
