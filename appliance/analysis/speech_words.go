package analysis

import (
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// timedWords returns the words of a transcribed part that begins at a sample of the sound and has voice in these
// stretches. Words whose times the transcriber did not measure are spread over the voice by their letters.
func timedWords(t engine.Transcript, begin int64, voiced []stretch) []Word {
	var all []Word
	at := 0 // in t.Words
	measured := false
	words, _ := wordsOf(t.Text, freely)
	for _, w := range words {
		word := Word{From: w.From, To: w.To, Confidence: rounded(t.Confidence, 4)}
		for at < len(t.Words)-1 && t.Words[at].To <= w.From {
			at++
		}
		n := 0
		var certainty float64
		for k := at; k < len(t.Words) && t.Words[k].From < w.To; k++ {
			from := t.Words[k]
			if n == 0 {
				word.Begin = seconds(begin + int64(from.Begin))
			}
			word.End = seconds(begin + int64(from.End))
			measured = measured || from.End > 0
			certainty += from.Confidence
			n++
		}
		if n > 0 {
			word.Confidence = rounded(certainty/float64(n), 4)
		}
		all = append(all, word)
	}
	if measured {
		clip(all, voiced)
	} else {
		spread(t.Text, all, voiced)
	}
	lengthen(all, voiced)
	for i := range all {
		all[i].Begin, all[i].End = rounded(all[i].Begin, 3), rounded(all[i].End, 3)
	}
	return all
}

// shortestWord is the length, in seconds, of a word that the transcriber gives none: the step of its times.
const shortestWord = 0.02

// lengthen gives every word at least shortestWord. A word after the end of the last voice then begins earlier, as it
// would otherwise end after the sound.
func lengthen(words []Word, voiced []stretch) {
	before := 0.0 // the beginning of the word before
	for i := range words {
		w := &words[i]
		if w.End < w.Begin+shortestWord {
			if n := len(voiced); n > 0 {
				w.Begin = max(before, min(w.Begin, seconds(voiced[n-1].to)-shortestWord))
			}
			w.End = max(w.End, w.Begin+shortestWord)
		}
		before = w.Begin
	}
}

// clip ends words at the pauses that follow them: the transcriber only says where the next word begins.
func clip(words []Word, voiced []stretch) {
	if len(voiced) == 0 {
		return
	}
	v := 0
	for i := range words {
		w := &words[i]
		for v < len(voiced)-1 && seconds(voiced[v].to) <= w.Begin {
			v++
		}
		from, to := seconds(voiced[v].from), seconds(voiced[v].to)
		if v == 0 || w.End > from {
			w.Begin = max(w.Begin, min(from, w.End))
		}
		if w.Begin < to {
			w.End = min(w.End, to)
		}
	}
}

// spread gives each word the share of the voice that its letters are of all letters.
func spread(text string, words []Word, voiced []stretch) {
	letters, total := 0, int64(0)
	for _, w := range words {
		letters += lettersOf(text[w.From:w.To])
	}
	for _, v := range voiced {
		total += v.to - v.from
	}
	done := 0
	for i := range words {
		w := &words[i]
		w.Begin = seconds(voicedAt(voiced, total*int64(done)/int64(max(letters, 1)), false))
		done += lettersOf(text[w.From:w.To])
		w.End = seconds(voicedAt(voiced, total*int64(done)/int64(max(letters, 1)), true))
	}
}

// voicedAt returns the sample that has n samples of voice before it. At a pause, that is its beginning or, for the
// beginning of a word, its end.
func voicedAt(voiced []stretch, n int64, end bool) int64 {
	for i, v := range voiced {
		if length := v.to - v.from; n < length || n == length && (end || i == len(voiced)-1) {
			return v.from + n
		} else {
			n -= length
		}
	}
	return 0
}

// lettersOf counts the letters and digits of a word, at least one. A letter of a script that writes syllables or words
// counts as three.
func lettersOf(word string) int {
	n := 0
	for _, r := range word {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana):
			n += 3
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			n++
		}
	}
	return max(n, min(1, utf8.RuneCountInString(word)))
}
