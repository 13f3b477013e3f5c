package markup

import "strings"

// mark handles a marker.
func (f *Filter) mark(m marker) {
	switch {
	case f.heading:
		f.markHeading(m)
	case f.inside.kind == literal:
		f.markText(m)
	case f.inside.kind == possibleThought:
		f.markPossibleThought(m)
	case m.ends(f.inside):
		f.endPart(m)
	case f.inside.kind == tool:
		f.pass(m.raw)
	case f.inside.kind == thought && m.kind == thought && !m.close:
		f.nested = true
	}
}

// markText handles a marker within speakable text.
func (f *Filter) markText(m marker) {
	switch {
	case m.kind == role || m.kind == channel:
		f.begin(m)
		f.heading = true
	case m.kind == ending:
		f.markEnding(m)
	case f.between:
	case m.kind == message:
		f.between, f.removed = f.begun, true
	case m.kind == thought && m.close:
		f.loneEnd(m)
	case m.close:
	case m.kind == thought || m.kind == result || m.kind == tool:
		f.begin(m)
		if m.kind == tool {
			f.pass(m.raw)
		}
	case m.name == "s":
		f.strike = f.begun
	}
}

// markEnding handles a marker that ends the reply, if there was something before it.
func (f *Filter) markEnding(m marker) {
	switch {
	case m.name == "s" && f.strike:
		f.strike = false
	case f.begun || f.between:
		f.over = true
	case m.name == "inst": // a repetition of the question
		f.begin(marker{kind: result, name: m.name})
	}
}

// loneEnd handles the end of a thought without a begin mark, which is in the model's prompt. All of
// the reply so far was the thought.
func (f *Filter) loneEnd(m marker) {
	if m.name == "details" {
		return
	}
	f.unopenedThought = true
	f.removed = true
	if !f.sent {
		f.spoken.Reset()
		f.begun = false
	}
}

// markPossibleThought handles a marker within what may be a thought without a begin mark.
func (f *Filter) markPossibleThought(m marker) {
	switch {
	case m.kind == thought && m.close && m.name != "details":
		f.unopenedThought = f.unopenedThought || !f.nested
		f.endPart(m)
	case m.kind == thought && !m.close, m.kind == tool && !m.close, m.kind == channel, m.kind == role:
		f.endPart(marker{})
		f.markText(m)
	case m.kind == ending || m.kind == message:
		f.held = m.raw + f.held
		f.releaseHeld()
	default:
		f.pass(m.raw)
	}
}

// begin begins a part of the reply that is not spoken.
func (f *Filter) begin(m marker) {
	f.inside, f.guessed, f.nested = m, false, false
	f.partText.Reset()
}

// endPart ends that part; m is the marker that ended it.
func (f *Filter) endPart(m marker) {
	if f.inside.kind == tool {
		f.endCall()
	}
	nested := f.nested && f.inside.kind == thought
	f.begin(marker{})
	f.removed, f.between, f.recipient = true, m.kind == message && f.begun, ""
	switch {
	case m.kind == ending:
		f.over = true
	case m.kind == role || m.kind == channel:
		f.markText(m)
	case nested: // the outer thought may continue
		f.begin(marker{kind: possibleThought})
		f.nested = true
	}
}

// releaseHeld treats text that was held back without a marker as speakable text.
func (f *Filter) releaseHeld() {
	text := f.partText.String()
	if f.inside.kind == tool && f.endCall() {
		text = ""
	}
	if f.inside.name == stripped {
		_, text, _ = strings.Cut(text, stripped)
	}
	f.begin(marker{})
	f.held, f.openingChecked = text+f.held, true
}

// endCall ends the text of a call, and reports whether it is one.
func (f *Filter) endCall() bool {
	call, isCall := readCall(f.partText.String(), f.recipient, f.tools)
	if f.call == nil {
		f.call = call
	}
	f.partText.Reset()
	return isCall
}

// markHeading handles a marker within the words that name the author and the channel of a message.
func (f *Filter) markHeading(m marker) {
	switch m.kind {
	case headerEnd:
		f.endHeading()
	case headerGap:
		f.pass(" ")
	case role, channel:
		if f.endHeading(); !f.over {
			f.markText(m)
		}
	case ending:
		f.over = true
	}
}

// endHeading interprets those words.
func (f *Filter) endHeading() {
	whose := ""
	for _, word := range strings.Fields(f.partText.String()) {
		if to, found := strings.CutPrefix(word, "to="); found {
			f.recipient = to
		} else if whose == "" {
			whose = strings.ToLower(word)
		}
	}
	m := f.inside
	f.begin(marker{})
	f.heading = false
	switch {
	case m.kind == role && !assistants[whose], m.kind == role && f.begun && m.name != "start":
		f.over = true // another speaker's turn, or a second one
	case f.recipient != "":
		f.begin(marker{kind: tool, name: "channel"})
	case m.kind == channel && whose != "final" && whose != "commentary":
		f.begin(marker{kind: channel, name: "analysis"})
	}
	f.between = false
}
