package store

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

const (
	// maxEventText is how many bytes of a message text are stored: the longest system
	// prompt in characters of four bytes, and its variables.
	maxEventText = 512 << 10
	// maxEventJSON bounds an event's metadata and its expression scores, in bytes: the
	// box writes hundreds.
	maxEventJSON = 64 << 10
	// pageBytes bounds the text of a page of events, and likewise its metadata and its
	// scores. The events share it equally. So a page of 100 has 6 MiB at most, and a page
	// of 4 has every event whole.
	pageBytes = 2 << 20
	// resumedBytes bounds the text that a resumed conversation remembers: some 60,000
	// tokens, more than the context of an embedded model.
	resumedBytes = 256 << 10
)

// cutMark ends a text that was cut.
const cutMark = "…"

// bytesPerEvent is how many bytes of text each event of the page may have.
func (p Page) bytesPerEvent() int { return pageBytes / max(p.Size, 1) }

// size is about how many bytes an event takes on the disk.
func (e Event) size() int64 {
	return int64(eventBytes + len(e.MessageText) + len(e.EmotionFeatures) + len(e.Metadata))
}

// bounded returns the event with at most so many bytes of text and of JSON.
func (e Event) bounded(text, jsonText int) Event {
	if len(e.EmotionFeatures) > jsonText {
		e.EmotionFeatures = ""
	}
	if n := len(e.Metadata); n > jsonText {
		e.Metadata = truncated("", n)
	}
	if len(e.MessageText) > text {
		e.cut(text, len(e.MessageText))
	}
	return e
}

// cut truncates the message text to at most n bytes, and notes the size of the whole in the
// metadata.
func (e *Event) cut(n, whole int) {
	e.Metadata = truncated(e.Metadata, whole)
	if e.Type == SessionSettings || e.Type == FunctionCall {
		e.MessageText = truncated("", whole) // a part of JSON is not JSON
		return
	}
	text := e.MessageText[:max(min(n, len(e.MessageText))-len(cutMark), 0)]
	for len(text) > 0 {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size > 1 {
			break
		}
		text = text[:len(text)-1] // a part of a character
	}
	e.MessageText = text + cutMark
}

// truncated returns metadata (JSON, or empty) with the size of the cut text in bytes.
func truncated(metadata string, bytes int) string {
	mark := fmt.Sprintf(`{"truncated":%d}`, bytes)
	fields := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(metadata), &fields) != nil || len(fields) == 0 {
		return mark
	}
	fields["truncated"] = json.RawMessage(fmt.Sprint(bytes))
	marked, err := json.Marshal(fields)
	if err != nil {
		return mark
	}
	return string(marked)
}
