package clerk

import (
	"slices"
	"strings"

	"parley/appliance/text"
)

// The words of errands. A deed is what somebody at a desk who can only speak cannot do.
const (
	polite = "please just kindly maybe possibly hello hi hey ok okay yes no so and now then well oh alright great " +
		"thanks thank you good morning afternoon evening right sorry also perhaps quickly"
	// deeds are wished for by their mere name: "Send a bottle of water."
	deeds = "send book reserve order deliver print cancel reschedule schedule arrange transfer connect forward email " +
		"mail text message sign enrol enroll register refund " +
		"wake remind unlock lock call ring put turn switch set bring get fetch tell let play open close start stop " +
		"move change fix repair mend clean wash iron hold keep save buy pay leave take write"
	// whose are the words behind deeds that are other things too: "get me a taxi", and
	// not "get off at the harbour".
	whose = "me us my our him her them"
	what  = "a an the some one two three " + whose
	// askedOf are deeds that are asked of somebody in so many words, and not of the
	// place: "can you wash my car?" asks for a service.
	askedOf = "send book reserve order cancel reschedule schedule arrange transfer connect forward email mail text " +
		"message sign enrol enroll register wake remind call ring put write tell buy pay move change"
	// toTell is what is told, and no deed.
	toTell = "number numbers address time times price prices password name names hours directions code joke story " +
		"poem riddle song fact facts details information"
)

// IsErrand reports whether somebody wants to have something done: "Please wake me up at
// six", "Could you sign me up?", and not what may be done or is so.
func IsErrand(said string) bool {
	if len(said) > longest {
		return false
	}
	wished, wondered := false, false
	for _, s := range text.Sentences(said) {
		is := errandIn(s)
		wished = wished || is
		wondered = !is && (wondered || strings.HasSuffix(strings.TrimSpace(s), "?")) // what is asked last is answered
	}
	return wished && !wondered
}

// errandIn reports whether a sentence is one.
func errandIn(sentence string) bool {
	words := split(sentence)
	for len(words) > 0 && in(words[0], polite) {
		words = words[1:]
	}
	if len(words) < 2 {
		return false
	}
	has := func(of string) bool { return slices.ContainsFunc(words[1:], func(w string) bool { return in(w, of) }) }
	last := strings.Join(words[len(words)-2:], " ")
	switch question := strings.HasSuffix(strings.TrimSpace(sentence), "?"); {
	case in(words[0], "can could would will") && words[1] == "you":
		words = words[2:]
		for len(words) > 0 && in(words[0], polite) {
			words = words[1:]
		}
		return len(words) > 1 && in(words[0], askedOf) && deed(words) &&
			(has("me us my our please") || words[0] == "tell")
	case len(words) > 4 && (in(words[0], "i'd i we'd we")) &&
		strings.Contains(strings.Join(words[:min(5, len(words))], " "), " you to "):
		for words[0] != "to" {
			words = words[1:]
		}
		return len(words) > 2 && deed(words[1:])
	case question && !in(words[len(words)-1], "please") &&
		!slices.Contains([]string{"will you", "would you", "can you", "could you"}, last):
		return false
	}
	return deed(words)
}

// deed reports whether words begin with one, and with whom or what it is done to.
func deed(words []string) bool {
	if len(words) < 2 || !in(words[0], deeds) {
		return false
	}
	next, has := words[1], func(of string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return in(w, of) })
	}
	switch words[0] {
	case "tell":
		return !in(next, "me us") && !has(toTell)
	case "let":
		return in(next, "me us him her them") && len(words) > 2 && in(words[2], "in out through")
	case "call", "ring":
		// "call me Tom"
		name := next == "me" && len(words) == 3 && !in(words[2], "back again now later today tomorrow please up")
		return in(next, what+" somebody someone back") && !name
	case "get", "bring", "fetch", "take", "leave":
		return in(next, what) && !has(toTell) &&
			(in(next, whose) || in(words[0], "bring fetch") || has("message note order"))
	case "turn", "switch":
		return has("on off up down") && !in(next, "left right")
	case "open", "close", "start", "stop", "set", "play", "write":
		return in(next, what+" to down music") && !has(toTell)
	case "move", "change", "fix", "repair", "mend", "clean", "wash", "iron", "buy", "pay":
		return in(next, whose)
	case "hold", "keep", "save":
		return in(next, what) && has("for") && has("me us")
	}
	return !isNumber(next) && !in(next, "is are was costs cost number") || has("for please me us")
}
