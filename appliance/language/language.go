// Package language holds what a conversation has to know about each language: which sounds only say "go on",
// which words show that a speaker has more to say, and the instruction to a model to answer in it. It is a table and
// the functions that read it.
package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Language is one row of the table.
type Language struct {
	// tag is the primary part of its BCP 47 tag; empty for what all languages share.
	tag string
	// joined means that words are written without spaces between them.
	joined bool
	// answer tells a model to answer in the language. English has none, because answers to the box's English
	// prompt are English anyway.
	answer string
	// unknown is how one says "I don't know"; yes holds words that begin a positive answer.
	unknown string
	yes     []string
	// backchannels are the sounds with which a listener says "go on".
	backchannels []string
	// cannotEnd are words that end no sentence: more is to come.
	cannotEnd []string
	// seldomEnd are words that end few sentences ("Yes, it is").
	seldomEnd []string
	// oftenEnd are the exceptions from seldomEnd, which end many sentences.
	oftenEnd []string
	// clauseOpeners begin a clause that needs another one, or a phrase that is not a sentence.
	clauseOpeners []string
	// floorTakers are words that take the floor without saying anything yet.
	floorTakers []string
	// stops are the utterances that end a conversation. Each must be the whole utterance: with more words it
	// means something else.
	stops []string
	// groups name things that people say in groups with pauses between them, as a question would name them,
	// without accents.
	groups []string
	// determiners, verbs and subjects are for English only; see english.go.
	determiners, verbs, subjects []string
	// agreement are further beginnings of a positive answer, some with a negative word ("no problem"). no are words
	// that make an answer a negative one, wherever they stand in the rest of it.
	agreement, no []string
	// mailbox and wrongNumber are what the recordings say that answer telephones.
	mailbox, wrongNumber []string
	// lines are what an assistant says without thinking; empty if the language has none.
	lines lines
}

// Of returns the language of a BCP 47 tag ("de", "pt-BR"). For an unknown tag or "" it returns what all
// languages share.
func Of(tag string) Language {
	primary, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	primary = strings.ToLower(primary)
	if l, known := languages[primary]; known && l.unknown != "" {
		return l
	}
	return common
}

// AnswerInstruction returns the sentence that tells a model to answer in the language. It is empty if the
// model needs none, or if the language is unknown.
func (l Language) AnswerInstruction() string { return l.answer }

// Unknown returns how one says "I don't know" in the language; in English if the language is unknown.
func (l Language) Unknown() string { return l.unknown }

// Yes returns the words that begin a positive answer, including the English ones, because the prompt may be
// English.
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

// English reports whether the language is English or unknown.
func (l Language) English() bool { return l.tag == "en" || l.tag == "" }

// longestBackchannel bounds the text of a backchannel, in bytes: a listener says two or three of them in a
// row.
const longestBackchannel = 80

// Backchannel reports whether text is only the sounds of a listener who wants to hear more ("Mm-hm. Right.").
// A text without words is one too.
func (l Language) Backchannel(text string) bool {
	words := l.normalise(text)
	return len(words) <= longestBackchannel && l.consistsOf(words, func(l Language) []string { return l.backchannels })
}

// OnlyTakesFloor reports whether text takes the floor without saying anything yet ("Well, so"). More is to
// come, and it is not a backchannel.
func (l Language) OnlyTakesFloor(text string) bool {
	words := l.normalise(text)
	return words != "" && len(words) <= longestBackchannel && l.consistsOf(words, func(l Language) []string {
		return l.floorTakers
	})
}

// CannotEnd reports whether text ends in a word that hardly anyone ends with ("I would like to go to the,
// um"), so that its speaker will go on. A question may end that way ("Who is it for?").
func (l Language) CannotEnd(text string) bool {
	if Question(text) {
		return false
	}
	words := l.normalise(text)
	return l.endsWith(words, l.cannotEnd) || l.endsWith(words, common.cannotEnd) || l.OnlyTakesFloor(text)
}

// SeldomEnds reports whether text ends as few sentences do: in a comma, a colon, a dash or an ellipsis, or in
// a word such as "is" or "about".
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

// longestClause is the most words of a clause that is still incomplete. longestJoinedClause is the same in
// characters, for languages without spaces.
const longestClause, longestJoinedClause = 12, 12

// OpensClause reports whether the last sentence of text is a clause or a phrase that needs another one ("If
// you would like to leave a message"). As an answer to a question it may be complete ("When it is done", "To
// Vienna").
func (l Language) OpensClause(text string) bool {
	if Question(text) {
		return false
	}
	sentence := lastSentence(text)
	if strings.ContainsAny(sentence, ",，、،;；:：") { // the second clause has begun
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

// lastSentence returns what follows the last full stop of text, not counting one at its end.
func lastSentence(text string) string {
	text = strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if i := strings.LastIndexAny(text, ".!?…。！？｡।॥؟۔"); i >= 0 {
		return text[i+1:] // the rest of a mark of several bytes is not a letter
	}
	return text
}

// endsWith reports whether words end in an entry of list and have something before it. A word alone may be a
// whole answer, or a letter that is spelled.
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

// consistsOf reports whether words consist only of entries of one kind, of the language or of those that all
// languages share.
func (l Language) consistsOf(words string, kind func(Language) []string) bool {
	reached := make([]bool, len(words)+1) // positions where an entry may begin
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

// normalise returns text in the form of the table: lower-case words with one space between them, or none if
// the language writes none. Of a letter repeated for length ("hmmmm"), two stay.
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
