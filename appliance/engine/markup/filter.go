// Package markup removes from a language model's output everything that must not be spoken: its
// thoughts, the markers of chat templates, and tool calls that it wrote as text, which become
// calls. Models are trained on dozens of formats, servers leave parts of them in their output, and
// small models mix them up, so all formats are recognised for every model.
package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// Limits of the text that is held back, in bytes.
const (
	// maxCallBytes limits the text of a call: many times the largest arguments seen in any format.
	maxCallBytes = 64 << 10
	// maxHeaderBytes limits the words between the marker that begins a message and the message
	// itself: "assistant to=functions.NAME", where a name has up to 64.
	maxHeaderBytes = 160
	// maxThoughtBytes limits what is held back as a thought of which only the end is marked: 2,000
	// words.
	maxThoughtBytes = 16 << 10
)

// A Filter processes one reply as it is generated. Its result does not depend on how the reply is
// cut into pieces, with one exception: text that was returned before the end mark of a thought
// without a begin mark cannot be taken back.
type Filter struct {
	tools []engine.Tool

	held           string          // not processed yet
	spoken         strings.Builder // the speakable part of the newest piece
	inside         marker          // the marker that began the current part; none in spoken text
	heading        bool            // the part is still in the words after a role or a channel
	partText       strings.Builder // the collected text of the part
	recipient      string          // the tool that a message is addressed to
	nested         bool            // a thought has begun within a thought
	guessed        bool            // the part did not begin with a marker
	openingChecked bool            // the beginning of the reply was examined

	begun           bool // there was speakable text
	sent            bool // and it was returned with an earlier piece
	last            rune // last rune of the speakable text
	lastInk         rune // last rune that is not a space
	removed         bool // something was removed after last
	strike          bool // <s> has begun a strike-through in HTML
	between         bool // a message has ended, and another may begin
	over            bool // nothing more of the reply is speakable
	unopenedThought bool // a thought had only an end mark
	call            *engine.ToolCall
}

// New returns a Filter for a reply that may call the given tools. opened says that the model's
// template begins its thoughts, so that only their end is marked.
func New(tools []engine.Tool, opened bool) *Filter {
	f := &Filter{tools: tools}
	if opened {
		f.inside = marker{kind: possibleThought}
	}
	return f
}

// Push adds a piece of the reply and returns what can be spoken, including text that was held back.
func (f *Filter) Push(piece string) string {
	f.held += piece
	return f.take(false)
}

// Rest returns the rest of the speakable text at the end of the reply. whole says that the model
// ended the reply itself: then text that was held back as a thought without an end is an answer.
func (f *Filter) Rest(whole bool) string {
	out := f.take(true)
	for f.inside.kind == possibleThought && whole || f.inside.kind == tool && f.guessed && !f.over {
		f.releaseHeld()
		out += f.take(true)
	}
	if f.inside.kind == tool {
		f.endCall()
	}
	return out
}

// Over reports that nothing more of the reply will be spoken.
func (f *Filter) Over() bool { return f.over }

// UnopenedThought reports that the reply had a thought of which only the end was marked.
func (f *Filter) UnopenedThought() bool { return f.unopenedThought }

// Call returns the first tool call that the reply contains as text, or nil.
func (f *Filter) Call() *engine.ToolCall { return f.call }

// take processes the held text and returns its speakable part.
func (f *Filter) take(final bool) string {
	for f.held != "" && !f.over && f.step(final) {
	}
	if f.over {
		f.held = ""
	}
	out := f.spoken.String()
	f.spoken.Reset()
	f.sent = f.sent || out != ""
	return out
}

// step processes one stretch of text or one marker. It returns false if more text is needed.
func (f *Filter) step(final bool) bool {
	if f.inside.kind == literal && !f.begun {
		f.held = strings.TrimLeftFunc(f.held, unicode.IsSpace)
		if f.held == "" || f.opening() && !final {
			return false
		}
	}
	n := strings.IndexAny(f.held, triggers)
	if n < 0 {
		n = len(f.held)
		if !final {
			n -= partial(f.held)
		}
	}
	if f.heading {
		if line := strings.IndexByte(f.held[:n], '\n'); line >= 0 {
			f.pass(f.held[:line])
			f.held = f.held[line+1:]
			f.endHeading()
			return true
		}
	}
	if n > 0 {
		f.pass(f.held[:n])
		f.held = f.held[n:]
		return true
	}
	if partial(f.held) == len(f.held) {
		return false // part of a rune
	}
	m, wait := readMarker(f.held)
	switch {
	case wait && !final:
		return false
	case wait && torn(f.held):
		f.held = ""
	case m.kind == literal || f.quoted(m):
		_, n := utf8.DecodeRuneInString(f.held)
		f.pass(f.held[:n])
		f.held = f.held[n:]
	default:
		f.held = f.held[len(m.raw):]
		f.mark(m)
	}
	return true
}

// partial returns how many bytes at the end of s are the beginning of a rune.
func partial(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if tail := s[len(s)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// torn reports whether the end of a reply is an incomplete marker and not something that people
// write: "5 <".
func torn(s string) bool {
	letters := strings.TrimLeft(s, "</ ")
	return len(letters) > 2 || letters != "" && strings.ContainsAny(letters, "|｜◁/")
}

// quoted reports whether the text only mentions a marker, as in "write `<think>`".
func (f *Filter) quoted(m marker) bool {
	if f.inside.kind != literal || f.removed || f.last == 0 {
		return false
	}
	if strings.ContainsRune("`'\"“‘«", f.last) {
		return true
	}
	return m.name == "details" && (unicode.IsLetter(f.lastInk) || f.lastInk == ',') // HTML
}

// pass handles text that is not a marker.
func (f *Filter) pass(s string) {
	limit := 0
	switch {
	case f.heading:
		limit = maxHeaderBytes
	case f.inside.kind == literal:
		f.emit(s)
		return
	case f.inside.kind == tool:
		limit = maxCallBytes
	case f.inside.kind == possibleThought:
		limit = maxThoughtBytes
	default:
		return
	}
	f.partText.WriteString(s)
	switch {
	case f.partText.Len() <= limit:
	case f.heading:
		f.endHeading()
	default:
		f.over = true
	}
}

// emit handles speakable text.
func (f *Filter) emit(s string) {
	if f.between || s == "" {
		return
	}
	first, _ := utf8.DecodeRuneInString(s)
	if f.removed && f.begun && !unicode.IsSpace(f.last) && !unicode.IsSpace(first) && !unicode.IsPunct(first) {
		f.spoken.WriteByte(' ')
	}
	f.removed = false
	f.spoken.WriteString(s)
	f.last, _ = utf8.DecodeLastRuneInString(s)
	if ink := strings.TrimRightFunc(s, unicode.IsSpace); ink != "" {
		f.begun = true
		f.lastInk, _ = utf8.DecodeLastRuneInString(ink)
	}
}
