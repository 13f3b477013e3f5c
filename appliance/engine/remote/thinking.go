package remote

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinking leaves out what a reasoning model thinks aloud before it answers:
// many servers send it as part of the reply, between <think> and </think>.
// Only a block at the very beginning is taken out; it is never spoken.
type thinking struct {
	state int    // 0 at the beginning, 1 inside the block, 2 behind it
	held  string // not decided yet
}

// spoken returns what of the reply can be said after one more piece of it.
func (t *thinking) spoken(piece string) string {
	if t.state == 2 {
		return piece
	}
	t.held += piece
	if t.state == 0 {
		begun := strings.TrimLeft(t.held, " \r\n\t")
		switch {
		case strings.HasPrefix(begun, thinkOpen):
			t.state, t.held = 1, begun[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, begun):
			return "" // may still become the tag
		default:
			t.state = 2
			return t.rest()
		}
	}
	if _, after, ok := strings.Cut(t.held, thinkClose); ok {
		t.state, t.held = 0, after // white space, or another block, may follow
		return t.spoken("")
	}
	// Only the end can be the beginning of the closing tag.
	t.held = t.held[max(0, len(t.held)-len(thinkClose)):]
	return ""
}

// rest returns what was held back when the reply ends here.
func (t *thinking) rest() string {
	if t.state == 1 {
		return "" // it never came to an answer
	}
	held := t.held
	t.held = ""
	return held
}
