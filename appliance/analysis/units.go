package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/contract"
	"parley/appliance/text"
)

// A unit is a part of a transcript that gets its own scores.
type unit struct {
	from, to int  // bytes of the text
	words    Span // of the transcript; empty if the unit is only punctuation
}

// maxSentence is the length, in bytes, past which a sentence without an end is cut: as much as the text model reads,
// some two minutes of speech.
const maxSentence = 2 << 10

// units cuts a transcript into its words, sentences, utterances or turns, in order. They cover all words.
func units(t Transcript, by contract.Granularity) []unit {
	blank := strings.TrimSpace(t.Text) == ""
	switch {
	case blank:
		return nil
	case len(t.Words) == 0 && by != contract.ByWord: // only punctuation
		return []unit{unit{to: len(t.Text)}.trimmed(t.Text)}
	}
	switch by {
	case contract.BySentence:
		all, _ := sentences(t, freely)
		return all
	case contract.ByUtterance:
		return t.unitsOf(t.Utterances)
	case contract.ByTurn:
		return t.unitsOf(turns(t))
	}
	all := make([]unit, len(t.Words))
	for i, w := range t.Words {
		all[i] = unit{from: w.From, to: w.To, words: Span{From: i, To: i + 1}}
	}
	return all
}

// turns returns the ranges of words that one speaker says without another one in between.
func turns(t Transcript) []Span {
	var all []Span
	for i, w := range t.Words {
		if i == 0 || w.Speaker != t.Words[i-1].Speaker {
			all = append(all, Span{From: i})
		}
		all[len(all)-1].To = i + 1
	}
	return all
}

// unitsOf returns ranges of words that together cover all words, as units. The punctuation between two ranges belongs
// to the first one if it follows it without a space, else to the second one.
func (t Transcript) unitsOf(ranges []Span) []unit {
	all := make([]unit, 0, len(ranges))
	from := 0
	for i, r := range ranges {
		to := len(t.Text)
		if i+1 < len(ranges) {
			to = t.Words[ranges[i+1].From].From
			gap := t.Text[t.Words[r.To-1].To:to]
			if space := strings.IndexFunc(gap, unicode.IsSpace); space >= 0 {
				to -= len(gap) - space
			}
		}
		u := unit{from: from, to: to, words: r}
		all = append(all, u.trimmed(t.Text))
		from = to
	}
	return all
}

// trimmed returns a unit without the space around it.
func (u unit) trimmed(whole string) unit {
	written := strings.TrimRightFunc(whole[u.from:u.to], unicode.IsSpace)
	u.to = u.from + len(written)
	u.from = u.to - len(strings.TrimLeftFunc(written, unicode.IsSpace))
	return u
}

// sentences cuts a transcript into sentences. None crosses from one speaker to another. An error is one of next.
func sentences(t Transcript, next step) ([]unit, error) {
	if len(t.Words) == 0 {
		return nil, nil
	}
	var all []unit
	word := 0
	for _, turn := range t.unitsOf(turns(t)) {
		begin, goesOn := len(all), false
		for from := turn.from; from < turn.to; {
			if err := next(); err != nil {
				return nil, err
			}
			part := firstPiece(t.Text[from:turn.to], maxPart)
			segments := text.Segments(part)
			behind := from + len(part)
			if last := len(segments) - 1; behind < turn.to && last > 0 { // the last one may go on
				behind = from + segments[last].From
				segments = segments[:last]
			}
			for _, s := range segments {
				u := unit{from: from + s.From, to: from + s.To}
				if last := len(all) - 1; goesOn && u.to-all[last].from <= maxSentence {
					all[last].to = u.to
				} else {
					all = append(all, u)
				}
				goesOn = s.GoesOn
			}
			from = behind
		}
		if len(all) == begin { // words that are not spoken, such as emoji
			all = append(all, turn)
		}
		for i := begin; i < len(all); i++ {
			word = all[i].takeWords(t, word)
		}
	}
	return all, nil
}

// maxPart is how much of a text is cut into sentences in one step, in bytes: it takes some 10 ms.
const maxPart = 16 << 10

// takeWords gives u the words that begin in it. The first of them is word, or none is left. It returns the next word.
func (u *unit) takeWords(t Transcript, word int) (next int) {
	u.words.From = word
	for word < len(t.Words) && t.Words[word].From < u.to {
		word++
	}
	u.words.To = word
	return word
}

// positions returns a function that converts bytes of a text to code points. Calls with growing numbers take time in
// proportion to the text in all.
func positions(text string) func(at int) int {
	done, runes := 0, 0
	return func(at int) int {
		if at < done {
			done, runes = 0, 0
		}
		runes += utf8.RuneCountInString(text[done:at])
		done = at
		return runes
	}
}
