package text

import "strings"

// Classes of words that tell what a word beside them is.
const (
	determiners wordList = " the a an this these those my your his her our their its each every any some no all both " +
		"another whose much many several other most few first last next new old one two three "
	prepositions wordList = " of for in with by from on without after before during under per about into via than "
	objects      wordList = " me us him them it you yourself "
	singulars    wordList = " he she it who which that everyone everybody someone anyone nobody "
	subjects     wordList = " i we they who you people children men women staff police "
	beForms      wordList = " is are was were be been being am isn't aren't wasn't weren't i'm we're you're they're it's " +
		"he's she's that's stay remain seem seems feel feels very so too quite fairly how as get got getting stand "
	beforeVerb wordList = " to can could will would shall should may might must cannot can't couldn't won't wouldn't " +
		"shouldn't mustn't do does did don't doesn't didn't please let's let help i'll we'll you'll they'll i'd we'd you'd they'd "
	haveForms wordList = " have has had having haven't hasn't hadn't i've we've you've they've he's she's it's "
	adverbs   wordList = " not also always never just only even still now then usually often sometimes already soon " +
		"recently ever finally later probably else kindly carefully quickly easily safely "
	follows wordList = " in at on with for from to by as when if that because once after before until through early late " +
		"here there well both between into over under out up down "
	whereabouts wordList = " in at here there near nearby alone together with next above across on around until by "
	// compounds are plurals that stand before another noun.
	compounds wordList = " sales sports news customs arms goods savings systems claims accounts operations services plus " +
		"press always perhaps various this his its us is was has does "
	pastTimes wordList = " yesterday ago last earlier once when before morning "
)

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
	case ws.inPhrase(i, verbPhrases):
		return verb
	case ws.inPhrase(i, otherPhrases):
		return other
	case stem == "minute" || stem == "wound" || stem == "bow" && before != "to":
		return unknown
	case stem != ws[i].lower:
		return ws.inflected(before, next, stem)
	case ws.afterSubject(i, at, before, next, stem):
		return verb
	case stem == "content":
		if beForms.has(before) {
			return verb // I am content
		}
	case beForms.has(before) || beForms.has(ws.at(at-1, i)) && (subjects.has(before) || singulars.has(before)):
		return other // they are present, were you present
	case ws.withinNounPhrase(at) || beForms.has(next):
		return other
	}
	return unknown
}

// previous is the word before i in its clause, and its place, without the adverbs
// between.
func (ws placedWords) previous(i int) (string, int) {
	at := i - 1
	for adverbs.has(ws.at(at, i)) && ws.at(at, i) != "" {
		at--
	}
	return ws.at(at, i), at
}

// Phrases of up to four words in which a homograph has one reading wherever they stand.
const (
	verbPhrases = "close of|to a close|wear and tear|tear off|tear along|tear open|tear up|tear here|take a bow|bow down|" +
		"bow of|content with|content to|tear in|wind up|wind down|wind it|wind the|wound up|wound around|wound down|excuse me"
	otherPhrases = "close to|close by|close enough|close together|close friend|go live|goes live|going live|went live|" +
		"bow tie|bow and|tear gas|refuse bin|refuse bins|refuse collection|refuse sacks|" +
		"minute amounts|minute traces|minute particles|minute detail|minute details|live music|live show|live shows|" +
		"fresh produce|in use|no use|at present|in progress|strong wind|import duty|wind farm|wind turbine|wind speed"
)

// inPhrase reports whether word i stands in one of phrases, which are parted by bars.
func (ws placedWords) inPhrase(i int, phrases string) bool {
	around := " " + ws.at(i-2, i) + " " + ws.at(i-1, i) + " " + ws[i].lower + " " + ws.at(i+1, i) + " "
	for phrase := range strings.SplitSeq(phrases, "|") {
		if strings.Contains(phrase, ws[i].lower) && strings.Contains(around, " "+phrase+" ") {
			return true
		}
	}
	return false
}

// afterSubject reports whether what stands before a word asks for a verb: an
// auxiliary, a subject, or the beginning of a command.
func (ws placedWords) afterSubject(i, at int, before, next, stem string) bool {
	object := determiners.has(next) || objects.has(next)
	switch {
	case before == "" || before == "and" || before == "or" || before == "then" || before == "but":
		return next != "" && (object || (before == "and" || before == "or") && whereabouts.has(next) && stem == "live")
	case beforeVerb.has(before):
		return true
	case before == "that" && severalOf(ws.at(at-1, i)):
		return true // frogs that live here
	case subjects.has(before):
		return !beForms.has(ws.at(at-1, i))
	case auxiliaries(ws.at(at-2, i)) && !determiners.has(before) && determiners.has(ws.at(at-1, i)):
		return true // does the museum close
	case auxiliaries(ws.at(at-1, i)) && !determiners.has(before) && !prepositions.has(before) && !beForms.has(before):
		return true // do they close, does Anna live
	case !severalOf(before):
		return false
	}
	return next == "" || object || follows.has(next) || adverbs.has(next) || strings.HasSuffix(next, "ly")
}

// severalOf reports whether a word looks like a noun of several.
func severalOf(word string) bool {
	return strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "'s") &&
		!compounds.has(word) && !determiners.has(word) && !beForms.has(word)
}

func auxiliaries(word string) bool {
	return word != "" && word != "to" && word != "please" && beforeVerb.has(word)
}

// withinNounPhrase reports whether a determiner, a preposition or an adjective behind
// one stands before a word.
func (ws placedWords) withinNounPhrase(at int) bool {
	for i := at; i > at-3; i-- {
		switch word := ws.at(i, at); {
		case word == "", beforeVerb.has(word), subjects.has(word), strings.HasSuffix(word, "s"):
			return i == at && determiners.has(word)
		case determiners.has(word), i == at && prepositions.has(word):
			return true
		}
	}
	return false
}

// inflected reads a word with the ending "s": a verb of a singular, or a plural.
func (ws placedWords) inflected(before, next, stem string) reading {
	switch {
	case singulars.has(before) || stem == "close":
		return verb
	case before == "" || determiners.has(before) || prepositions.has(before):
		return other
	case stem == "live":
		if whereabouts.has(next) {
			return verb
		}
		return other
	case severalOf(before) || next == "" || next == "of" || next == "and" || next == "or" || beForms.has(next) ||
		beforeVerb.has(next) && next != "to" || haveForms.has(next):
		return other
	}
	return verb // the mill exports cloth
}

// tense reads "read": other is the past, and what is or has been read.
func (ws placedWords) tense(i int) reading {
	before, at := ws.previous(i)
	switch {
	case beForms.has(before) || haveForms.has(before) || before == "well" || before == "widely":
		return other
	case haveForms.has(ws.at(at-1, i)) && !determiners.has(ws.at(at, i)): // have you read
		return other
	case beforeVerb.has(before) || auxiliaries(ws.at(at-1, i)) || auxiliaries(ws.at(at-2, i)):
		return verb
	case singulars.has(before) && before != "that" && before != "which" && before != "it":
		return other // else it would be "reads"
	case before != "" && determiners.has(ws.at(at-1, i)) && !severalOf(before) && !subjects.has(before):
		return other // the nurse read
	}
	for j := range ws {
		word := ws.at(j, i)
		switch {
		case word == "" || j == i:
		case j < i && (before == "and" || before == "then") && strings.HasSuffix(word, "ed"):
			return other // opened it and read
		case before != "" && before != "and" && pastTimes.has(word):
			return other
		}
	}
	return verb
}

// metal reads "lead": other is the metal.
func (ws placedWords) metal(i int) reading {
	const things wordList = " pipe pipes paint paints poisoning glass roof roofs weight weights shot acid ore apron aprons crystal " +
		"content solder levels exposure dust sheet sheets lined battery batteries free frame bullets mine mines made cast traces layer layers lined covered amount amounts sealed coated "
	const around wordList = " contain contains contained containing molten traces copper zinc tin iron mercury arsenic cadmium " +
		"brass steel silver bronze stained "
	before, next := ws.at(i-1, i), ws.at(i+1, i)
	if things.has(next) || around.has(before) || (before == "of" || before == "from" || before == "with" || before == "in" || before == "to") && things.has(ws.at(i-2, i)) {
		return other
	}
	for _, j := range [...]int{i - 2, i + 1, i + 2} { // tin and lead; lead, zinc and copper
		if j >= 0 && j < len(ws) && around.has(ws[j].lower) && (j > i || before == "and" || before == "or") {
			return other
		}
	}
	return unknown
}
