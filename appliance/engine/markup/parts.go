package markup

import "strings"

// mark takes a marker.
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

// markText takes a marker that stands in what is said.
func (f *Filter) markText(m marker) {
	switch {
	case m.kind == role || m.kind == channel:
		f.begin(m)
		f.heading = true
	case m.kind == ending:
		f.markEnding(m)
	case f.between:
	case m.kind == message:
		f.between, f.gap = f.begun, true
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

// markEnding takes a marker behind which nothing of the reply stands; before it
// something has to.
func (f *Filter) markEnding(m marker) {
	switch {
	case m.name == "s" && f.strike:
		f.strike = false
	case f.begun || f.between:
		f.over = true
	case m.name == "inst": // the question, said once more
		f.begin(marker{kind: result, name: m.name})
	}
}

// loneEnd takes the end of a thought whose beginning is not marked: the model's
// template has it in the prompt. All of the reply so far was the thought.
func (f *Filter) loneEnd(m marker) {
	if m.name == "details" {
		return
	}
	f.unopenedThought = true
	f.gap = true
	if !f.sent {
		f.spoken.Reset()
		f.begun = false
	}
}

// markPossibleThought takes a marker in what may be a thought of which only the end is
// marked.
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

// begin begins a part of the reply that is not said.
func (f *Filter) begin(m marker) {
	f.inside, f.guessed, f.nested = m, false, false
	f.region.Reset()
}

// endPart ends that part, with the marker by which it is over.
func (f *Filter) endPart(m marker) {
	if f.inside.kind == tool {
		f.endCall()
	}
	nested := f.nested && f.inside.kind == thought
	f.begin(marker{})
	f.gap, f.between, f.to = true, m.kind == message && f.begun, ""
	switch {
	case m.kind == ending:
		f.over = true
	case m.kind == role || m.kind == channel:
		f.markText(m)
	case nested: // the outer thought may go on
		f.begin(marker{kind: possibleThought})
		f.nested = true
	}
}

// releaseHeld takes what was held back without a marker as text.
func (f *Filter) releaseHeld() {
	text := f.region.String()
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
	call, is := readCall(f.region.String(), f.to, f.tools)
	if f.call == nil {
		f.call = call
	}
	f.region.Reset()
	return is
}

// markHeading takes a marker among the words that say whose a message is, and on
// which channel.
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

// endHeading reads those words.
func (f *Filter) endHeading() {
	whose := ""
	for _, word := range strings.Fields(f.region.String()) {
		if to, found := strings.CutPrefix(word, "to="); found {
			f.to = to
		} else if whose == "" {
			whose = strings.ToLower(word)
		}
	}
	m := f.inside
	f.begin(marker{})
	f.heading = false
	switch {
	case m.kind == role && !assistants[whose], m.kind == role && f.begun && m.name != "start":
		f.over = true // somebody else's turn, or one more
	case f.to != "":
		f.begin(marker{kind: tool, name: "channel"})
	case m.kind == channel && whose != "final" && whose != "commentary":
		f.begin(marker{kind: channel, name: "analysis"})
	}
	f.between = false
}
