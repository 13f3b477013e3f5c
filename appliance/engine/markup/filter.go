// Package markup takes out of what a language model writes all that is not said:
// its thoughts, the markers of chat templates, and calls of tools that it wrote as
// text, which become calls. Models are trained on dozens of formats, servers leave
// parts of them in what they send, and small models mix them up, so all of them are
// known here, whichever model it is.
package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// Limits of what is held back, in bytes.
const (
	// maxCallBytes bounds the text of a call: as much as the largest arguments that any
	// format was seen with, many times over.
	maxCallBytes = 64 << 10
	// maxHeaderBytes bounds the words between the marker that begins a message and the
	// message itself: "assistant to=functions.NAME", where a name has 64.
	maxHeaderBytes = 160
	// maxThoughtBytes bounds what is held back as a thought of which only the end is
	// marked: 2,000 words.
	maxThoughtBytes = 16 << 10
)

// A Filter reads one reply as it comes. What it returns of a reply does not depend
// on how that is cut into pieces, but for a thought of which only the end is marked:
// what was returned before that end came cannot be taken back.
type Filter struct {
	tools []engine.Tool

	held           string          // not read yet
	spoken         strings.Builder // what can be said of the newest piece
	inside         marker          // what began the part that the text is in; none in what is said
	heading        bool            // that part is still in the words behind a role or a channel
	region         strings.Builder // what is kept of that part
	to             string          // the tool that a message is for
	nested         bool            // a thought has begun within a thought
	guessed        bool            // the part was not begun by a marker
	openingChecked bool            // how the reply begins was looked at

	begun           bool // something was said
	sent            bool // and returned, with an earlier piece
	last            rune // of what was said
	lastInk         rune // the same, but for spaces
	gap             bool // something was left out behind last
	strike          bool // <s> has begun what is struck out in HTML
	between         bool // a message has ended, and another may begin
	over            bool
	unopenedThought bool
	call            *engine.ToolCall
}

// New returns a Filter for a reply that may call those tools. opened says that the
// model's template begins its thoughts, so that only their end is marked.
func New(tools []engine.Tool, opened bool) *Filter {
	f := &Filter{tools: tools}
	if opened {
		f.inside = marker{kind: possibleThought}
	}
	return f
}

// Push takes a piece of the reply and returns what can be said of it, and of what
// was held back.
func (f *Filter) Push(piece string) string {
	f.held += piece
	return f.take(false)
}

// Rest returns what was held back and can be said when the reply is over. whole
// says that the model ended it: what was held back as a thought whose end never
// came is an answer then.
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

// Over reports that nothing more of the reply will be said.
func (f *Filter) Over() bool { return f.over }

// UnopenedThought reports that the reply had a thought of which only the end was marked.
func (f *Filter) UnopenedThought() bool { return f.unopenedThought }

// Call returns the first call of one of the tools that the reply has written as
// text; nil: none.
func (f *Filter) Call() *engine.ToolCall { return f.call }

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

// step reads one stretch of text or one marker. It reports whether it could.
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
		return false // of a letter
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

// partial is how many bytes at the end of s are the beginning of a rune.
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

// torn tells whether the end of a reply, which a marker may begin with, is the
// half of one and not what people write as well: "5 <".
func torn(s string) bool {
	letters := strings.TrimLeft(s, "</ ")
	return len(letters) > 2 || letters != "" && strings.ContainsAny(letters, "|｜◁/")
}

// quoted tells whether the text only speaks of a marker, as in "write `<think>`".
func (f *Filter) quoted(m marker) bool {
	if f.inside.kind != literal || f.gap || f.last == 0 {
		return false
	}
	if strings.ContainsRune("`'\"“‘«", f.last) {
		return true
	}
	return m.name == "details" && (unicode.IsLetter(f.lastInk) || f.lastInk == ',') // of HTML
}

// pass takes text that is no marker.
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
	f.region.WriteString(s)
	switch {
	case f.region.Len() <= limit:
	case f.heading:
		f.endHeading()
	default:
		f.over = true
	}
}

// emit takes text that is said.
func (f *Filter) emit(s string) {
	if f.between || s == "" {
		return
	}
	first, _ := utf8.DecodeRuneInString(s)
	if f.gap && f.begun && !unicode.IsSpace(f.last) && !unicode.IsSpace(first) && !unicode.IsPunct(first) {
		f.spoken.WriteByte(' ')
	}
	f.gap = false
	f.spoken.WriteString(s)
	f.last, _ = utf8.DecodeLastRuneInString(s)
	if ink := strings.TrimRightFunc(s, unicode.IsSpace); ink != "" {
		f.begun = true
		f.lastInk, _ = utf8.DecodeLastRuneInString(ink)
	}
}
