// Package language knows of each language what a conversation must know of it:
// which sounds only say "go on", which words show that somebody has more to
// say, and how a model is told to answer in it. It is a table and what reads it.
package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Language is one row of the table.
type Language struct {
	// tag is the primary part of its BCP 47 tag; empty for what all share.
	tag string
	// joined is writing without spaces between words.
	joined bool
	// answer tells a model to answer in it. English has none: the box's own
	// prompt is English, and so are the answers to it.
	answer string
	// unknown says that one does not know; yes are words with which an answer
	// begins that says yes.
	unknown string
	yes     []string
	// backchannels are the sounds by which a listener says "go on".
	backchannels []string
	// cannotEnd are words that nobody ends with: after them, more is to come.
	cannotEnd []string
	// seldomEnd are words that few end with, though some do ("Yes, it is").
	seldomEnd []string
	// oftenEnd are those of them that many end with.
	oftenEnd []string
	// clauseOpeners are words with which a clause begins that needs another one, or a
	// phrase that is no sentence.
	clauseOpeners []string
	// floorTakers are words that take the floor and say nothing yet.
	floorTakers []string
	// stops are the utterances that end a conversation. Each is all that is said:
	// who says more asks for something else.
	stops []string
	// groups are what people say in groups with pauses between them, as questions
	// for it name it, without accents.
	groups []string
	// Determiners, verbs and subjects are of English alone; see english.go.
	determiners, verbs, subjects []string
	// lines are what an assistant says without having to think; empty where the
	// language has none.
	lines lines
}

// Of returns the language of a BCP 47 tag ("de", "pt-BR"). One that is not in
// the table, or not known (""), has only what all languages share.
func Of(tag string) Language {
	primary, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	primary = strings.ToLower(primary)
	if l, known := languages[primary]; known && l.unknown != "" {
		return l
	}
	return common
}

// AnswerInstruction is the sentence that tells a model to answer in the language; empty
// where the model does so by itself, or the language is not known.
func (l Language) AnswerInstruction() string { return l.answer }

// Unknown is how somebody says in the language that he does not know; in English
// where the language is not in the table.
func (l Language) Unknown() string { return l.unknown }

// Yes are the words with which an answer begins that says yes, those of English
// among them, in which a prompt may be written.
func (l Language) Yes() []string {
	var all []string
	for _, of := range []Language{l, Of("en")} {
		for _, word := range of.yes {
			if !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all
}

// English reports whether it is English, or not known.
func (l Language) English() bool { return l.tag == "en" || l.tag == "" }

// longestBackchannel is how many letters, digits and spaces may be nothing but
// backchannels: a listener says two or three of them in a row.
const longestBackchannel = 80

// Backchannel reports whether text is nothing but the sounds of a listener who
// wants to hear more ("Mm-hm. Right."). A text without any word is, too.
func (l Language) Backchannel(text string) bool {
	words := l.normalise(text)
	return len(words) <= longestBackchannel && l.consistsOf(words, func(l Language) []string { return l.backchannels })
}

// OnlyTakesFloor reports whether text takes the floor and says nothing yet ("Well,
// so"): more is to come, and it is no backchannel.
func (l Language) OnlyTakesFloor(text string) bool {
	words := l.normalise(text)
	return words != "" && len(words) <= longestBackchannel && l.consistsOf(words, func(l Language) []string {
		return l.floorTakers
	})
}

// CannotEnd reports whether text ends in a word that hardly anybody ends with ("I
// would like to go to the, um"): its speaker will go on, unless it is a question
// ("Who is it for?").
func (l Language) CannotEnd(text string) bool {
	if Question(text) {
		return false
	}
	words := l.normalise(text)
	return l.endsWith(words, l.cannotEnd) || l.endsWith(words, common.cannotEnd) || l.OnlyTakesFloor(text)
}

// SeldomEnds reports whether text ends as few end: in a comma, a colon, a dash or an
// ellipsis, or in a word such as "is" or "about".
func (l Language) SeldomEnds(text string) bool {
	if Question(text) {
		return false
	}
	end := strings.TrimRightFunc(text, unicode.IsSpace)
	for _, mark := range [...]string{",", "，", "、", "،", ":", "：", ";", "；", "-", "–", "—", "…", "..."} {
		if strings.HasSuffix(end, mark) {
			return true
		}
	}
	words := l.normalise(text)
	return l.endsWith(words, l.seldomEnd) && !l.endsWith(words, l.oftenEnd)
}

// longestClause is how many words, or in a language without spaces characters, a
// clause has that is still to be followed by another one.
const longestClause, longestJoinedClause = 12, 12

// OpensClause reports whether the last sentence of text is a clause or a phrase that
// wants another one ("If you would like to leave a message"). In answer to a
// question it may be all ("When it is done", "To Vienna").
func (l Language) OpensClause(text string) bool {
	if Question(text) {
		return false
	}
	sentence := lastSentence(text)
	if strings.ContainsAny(sentence, ",，、،;；:：") { // the other one has begun
		return false
	}
	words := l.normalise(sentence)
	if l.joined && utf8.RuneCountInString(words) > longestJoinedClause ||
		!l.joined && strings.Count(words, " ") >= longestClause {
		return false
	}
	if l.tag == "en" && englishLacksVerb(words) {
		return true
	}
	for _, p := range l.clauseOpeners {
		rest, found := strings.CutPrefix(words, p)
		if found && rest != "" && (l.joined || rest[0] == ' ') {
			return true
		}
	}
	return false
}

// lastSentence is what stands behind the last full stop of text that is not at
// its end.
func lastSentence(text string) string {
	text = strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if i := strings.LastIndexAny(text, ".!?…。！？｡।॥؟۔"); i >= 0 {
		return text[i+1:] // of a mark of several bytes the rest is no letter
	}
	return text
}

// endsWith reports whether words end in one of a list. A word alone may be all, or a
// letter that somebody spells.
func (l Language) endsWith(words string, list []string) bool {
	for _, p := range list {
		rest, found := strings.CutSuffix(words, p)
		if found && rest != "" && (l.joined || strings.HasSuffix(rest, " ")) {
			return true
		}
	}
	return false
}

// Question reports whether text ends as a question, in any script.
func Question(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Pf, unicode.Pe) || r == '"' || r == '\''
	})
	for _, mark := range [...]string{"?", "？", "؟", "⁇", "⁈", "՞"} {
		if strings.HasSuffix(text, mark) {
			return true
		}
	}
	return false
}

// consistsOf reports whether words consist of []string of one kind, the language's and
// those that all share.
func (l Language) consistsOf(words string, kind func(Language) []string) bool {
	reached := make([]bool, len(words)+1) // where a phrase may begin
	reached[0] = true
	for at := range words {
		if !reached[at] {
			continue
		}
		for _, list := range [...][]string{kind(l), kind(common)} {
			for _, p := range list {
				rest, found := strings.CutPrefix(words[at:], p)
				if !found || !l.joined && rest != "" && rest[0] != ' ' {
					continue
				}
				reached[len(words)-len(strings.TrimPrefix(rest, " "))] = true
			}
		}
	}
	return reached[len(words)]
}

// normalise is text as the table has it: words in small letters with one space
// between them, none where the language writes none. Of a letter that is drawn
// out ("hmmmm") two stay.
func (l Language) normalise(text string) string {
	var b strings.Builder
	var last rune
	run, gap := 0, false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 && !l.joined {
			b.WriteByte(' ')
			last = 0
		}
		gap = false
		r = unicode.ToLower(r)
		if r == last && unicode.IsLetter(r) {
			run++
		} else {
			last, run = r, 1
		}
		if run <= 2 {
			b.WriteRune(r)
		}
	}
	return b.String()
}
