package store

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

const (
	// maxEventText is how many bytes of a message text are stored: a system
	// prompt of the longest, in letters of four bytes, and room for its variables.
	maxEventText = 512 << 10
	// maxEventJSON is how many bytes an event's metadata and its scores of
	// feeling may have: the box writes hundreds.
	maxEventJSON = 64 << 10
	// pageBytes is how much text a page of events has at most, and as much of
	// metadata and of scores: each event gets an equal share. A page of 100 is
	// then 6 MiB at the most, and one of 4 has every event whole.
	pageBytes = 2 << 20
	// resumedBytes is how much text a resumed conversation remembers: some
	// 60,000 tokens, more than an embedded model reads.
	resumedBytes = 256 << 10
)

// cutMark ends a text that goes on.
const cutMark = "…"

// bytesPerEvent is how many bytes of its text each event on the page may have.
func (p Page) bytesPerEvent() int { return pageBytes / max(p.Size, 1) }

// size is what an event takes on the disk, in bytes, about.
func (e Event) size() int64 {
	return int64(eventBytes + len(e.MessageText) + len(e.EmotionFeatures) + len(e.Metadata))
}

// bounded is the event with a text and with JSON of so many bytes at most.
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

// cut leaves n bytes of the message text at most, and says how many the whole
// had.
func (e *Event) cut(n, whole int) {
	e.Metadata = truncated(e.Metadata, whole)
	if e.Type == SessionSettings || e.Type == FunctionCall {
		e.MessageText = truncated("", whole) // a part of JSON is none
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

// truncated is metadata (JSON, or empty) with the number of bytes that were
// there.
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
