package text

import "strings"

// is reports whether a word is of a class.
func is(word, class string) bool { return listed("homographs", class).has(word) }

// A reading is how a homograph is said.
type reading int

const (
	unknown reading = iota
	verb
	other
)

// reading says how homograph i sounds. Its stem is the word without the ending "s".
func (ws placedWords) reading(i int, stem string) reading {
	before, at := ws.previous(i)
	next := ws.at(i+1, i)
	switch {
	case ws[i].lower == "read":
		return ws.tense(i)
	case stem == "read":
		return verb
	case stem == "lead":
		return ws.metal(i)
	case ws.inPhrase(i, "phrase-verb"):
		return verb
	case ws.inPhrase(i, "phrase-other"):
		return other
	case stem == "minute" || stem == "wound" || stem == "bow" && before != "to":
		return unknown
	case stem != ws[i].lower:
		return ws.inflected(before, next, stem)
	case ws.afterSubject(i, at, before, next, stem):
		return verb
	case stem == "content":
		if is(before, "be") {
			return verb // I am content
		}
	case is(before, "be") || is(ws.at(at-1, i), "be") && (is(before, "subject") || is(before, "singular")):
		return other // they are present, were you present
	case ws.withinNounPhrase(at) || is(next, "be"):
		return other
	}
	return unknown
}

// previous is the word before i in its clause, and its place, without the adverbs
// between.
func (ws placedWords) previous(i int) (string, int) {
	at := i - 1
	for is(ws.at(at, i), "adverb") {
		at--
	}
	return ws.at(at, i), at
}

// inPhrase reports whether word i stands in one of the phrases of a class.
func (ws placedWords) inPhrase(i int, class string) bool {
	around := " " + ws.at(i-2, i) + " " + ws.at(i-1, i) + " " + ws[i].lower + " " + ws.at(i+1, i) + " "
	for _, phrase := range listed("homographs", class).words {
		if strings.Contains(phrase, ws[i].lower) && strings.Contains(around, " "+phrase+" ") {
			return true
		}
	}
	return false
}

// afterSubject reports whether what stands before a word asks for a verb: an
// auxiliary, a subject, or the beginning of a command.
func (ws placedWords) afterSubject(i, at int, before, next, stem string) bool {
	object := is(next, "determiner") || is(next, "object")
	switch {
	case before == "" || before == "and" || before == "or" || before == "then" || before == "but":
		return object || stem == "live" && (before == "and" || before == "or") && is(next, "whereabouts")
	case is(before, "before-verb"):
		return true
	case before == "that" && severalOf(ws.at(at-1, i)):
		return true // frogs that live here
	case is(before, "subject"):
		return !is(ws.at(at-1, i), "be")
	case auxiliary(ws.at(at-2, i)) && !is(before, "determiner") && is(ws.at(at-1, i), "determiner"):
		return true // does the museum close
	case auxiliary(ws.at(at-1, i)) && !is(before, "determiner") && !is(before, "preposition") && !is(before, "be"):
		return true // do they close, does Anna live
	case !severalOf(before):
		return false
	}
	return next == "" || object || is(next, "behind-verb") || is(next, "adverb") || strings.HasSuffix(next, "ly")
}

// severalOf reports whether a word looks like a noun of several.
func severalOf(word string) bool {
	return strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "'s") &&
		!is(word, "compound") && !is(word, "determiner") && !is(word, "be")
}

// auxiliary reports whether a word may begin a question whose verb is to come.
func auxiliary(word string) bool {
	return word != "to" && word != "please" && is(word, "before-verb")
}

// withinNounPhrase reports whether a preposition or, within three words, a determiner precedes.
func (ws placedWords) withinNounPhrase(at int) bool {
	for i := at; i > at-3; i-- {
		switch word := ws.at(i, at); {
		case word == "", is(word, "before-verb"), is(word, "subject"), strings.HasSuffix(word, "s"):
			return i == at && is(word, "determiner")
		case is(word, "determiner"), i == at && is(word, "preposition"):
			return true
		}
	}
	return false
}

// inflected reads a word with the ending "s": a verb of a singular, or a plural.
func (ws placedWords) inflected(before, next, stem string) reading {
	switch {
	case is(before, "singular") || stem == "close":
		return verb
	case before == "" || is(before, "determiner") || is(before, "preposition"):
		return other
	case stem == "live":
		if is(next, "whereabouts") {
			return verb
		}
		return other
	case severalOf(before) || next == "" || next == "of" || next == "and" || next == "or" || is(next, "be") ||
		is(next, "before-verb") && next != "to" || is(next, "have"):
		return other
	}
	return verb // the mill exports cloth
}

// tense reads "read": other is the past, and what is or has been read.
func (ws placedWords) tense(i int) reading {
	before, at := ws.previous(i)
	switch {
	case is(before, "be") || is(before, "have") || before == "well" || before == "widely":
		return other
	case is(ws.at(at-1, i), "have") && !is(ws.at(at, i), "determiner"): // have you read
		return other
	case is(before, "before-verb") || auxiliary(ws.at(at-1, i)) || auxiliary(ws.at(at-2, i)):
		return verb
	case is(before, "singular") && before != "that" && before != "which" && before != "it":
		return other // else it would be "reads"
	case before != "" && is(ws.at(at-1, i), "determiner") && !severalOf(before) && !is(before, "subject"):
		return other // the nurse read
	}
	for j := range ws {
		word := ws.at(j, i)
		switch {
		case word == "" || j == i:
		case j < i && (before == "and" || before == "then") && strings.HasSuffix(word, "ed"):
			return other // opened it and read
		case before != "" && before != "and" && is(word, "past-time"):
			return other
		}
	}
	return verb
}

// metal reads "lead": other is the metal.
func (ws placedWords) metal(i int) reading {
	before, next := ws.at(i-1, i), ws.at(i+1, i)
	if is(next, "of-lead") || is(before, "near-lead") || is(before, "before-metal") && is(ws.at(i-2, i), "of-lead") {
		return other
	}
	for _, j := range [...]int{i - 2, i + 1, i + 2} { // tin and lead; lead, zinc and copper
		if j >= 0 && j < len(ws) && is(ws[j].lower, "near-lead") && (j > i || before == "and" || before == "or") {
			return other
		}
	}
	return unknown
}
