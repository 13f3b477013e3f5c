package text

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Number is a number that a text says.
type Number struct {
	Value float64
	// Spelt is its digits where it was said digit by digit, as telephone numbers
	// are: three of them or more.
	Spelt string
	// Word: it was written as one or several words; Ordinal: as a place in a row.
	Word, Ordinal bool
	// Clock: it is the hour or the minutes of a time of day that is written with a
	// colon.
	Clock bool
	// Money: the sign of a currency stands before it ($, € or £).
	Money bool
	// Before and After are the words beside it, in small letters; empty at the
	// ends of the text.
	Before, After string
}

// Numbers are the numbers that s says, in order, in digits or in English words.
// A time of day is two of them, its hour and its minutes.
func Numbers(s string) []Number {
	pieces := readNumbers(s)
	var out []Number
	for i, p := range pieces {
		if !p.is {
			continue
		}
		if i > 0 {
			p.number.Before = pieces[i-1].word
		}
		if i+1 < len(pieces) {
			p.number.After = pieces[i+1].word
		}
		out = append(out, p.number)
	}
	return out
}

// Digits writes s in small letters without punctuation and with its numbers in
// digits, so that two ways of writing the same number are equal: "Twenty-five,
// at 5:30" is "25 at 5 30".
func Digits(s string) string {
	var words []string
	for _, p := range readNumbers(s) {
		words = append(words, p.word)
	}
	return strings.Join(words, " ")
}

// numberedPiece is a word of a text, or a number of several.
type numberedPiece struct {
	word   string // of a number its digits
	is     bool   // a number
	number Number
}

// readNumbers reads s as words and numbers.
func readNumbers(s string) []numberedPiece {
	words := numberWords(s)
	var out []numberedPiece
	for i := 0; i < len(words); {
		n, took := spelt(words[i:])
		if took == 0 {
			n, took = counted(words[i:])
		}
		if took == 0 {
			out = append(out, numberedPiece{word: words[i].text})
			i++
			continue
		}
		said := n.Spelt
		if said == "" {
			said = strconv.FormatFloat(n.Value, 'f', -1, 64)
		}
		out = append(out, numberedPiece{word: said, is: true, number: n})
		i += took
	}
	return out
}

// numberWord is a word of a text; stopped says that a comma or the like stands
// between it and the one before, money that the sign of a currency does, and
// colon that nothing but a colon does.
type numberWord struct {
	text                  string
	stopped, money, colon bool
}

// figuresOrWord is a number, with a decimal point or the commas of thousands within, or a word.
var figuresOrWord = regexp.MustCompile(`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|[\pL\pM']+`)

// numberWords cuts s into words in small letters: "1,250.50" is one, "5, 6" and "5.30.6" are
// several.
func numberWords(s string) []numberWord {
	s = strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	var out []numberWord
	for i, end := 0, 0; ; i = end {
		at := figuresOrWord.FindStringIndex(s[i:])
		if at == nil {
			return out
		}
		begin := i + at[0]
		end = i + at[1]
		if integer, _, decimal := strings.Cut(s[begin:end], "."); decimal && !whole(match{s, []int{begin, end}}) {
			end = begin + len(integer)
		}
		between := s[i:begin]
		if word := strings.Trim(s[begin:end], "'"); word != "" {
			out = append(out, numberWord{word, strings.ContainsAny(between, ",;.!?:()"),
				strings.ContainsAny(between, "$€£"), between == ":"})
		}
	}
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || isDigit(r) || r == '\'' }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// leastSpelt is how many digits in a row, said one by one, are one number.
const leastSpelt = 3

// spelt reads a number said digit by digit from the beginning of words; took is
// how many of them it has, 0: there is none.
func spelt(words []numberWord) (n Number, took int) {
	var digits strings.Builder
	for _, w := range words {
		d, place := numberName(w.text)
		if w.text == "oh" && took > 0 {
			d = 0
		}
		if d < 0 || d > 9 || place || took > 0 && w.stopped {
			break
		}
		digits.WriteByte(byte('0' + d))
		took++
	}
	if took < leastSpelt {
		return n, 0
	}
	n.Spelt, n.Word = digits.String(), true
	n.Value, _ = strconv.ParseFloat(n.Spelt, 64)
	return n, took
}

// counted reads a number in digits or in words from the beginning of words.
func counted(words []numberWord) (n Number, took int) {
	if isDigit(rune(words[0].text[0])) {
		return inDigits(words)
	}
	total, group, room := 0, 0, 1000 // room: what comes next has to be below it
	for took < len(words) {
		w := words[took]
		if took > 0 && w.stopped {
			break
		}
		value, ordinal := numberName(w.text)
		switch {
		case value < 0 && w.text == "and" && took > 0 && (room == 100 || group == 0) && took+1 < len(words):
			if next, _ := numberName(words[took+1].text); next < 0 || next >= 100 {
				return inWords(total+group, took), took
			}
			took++
			continue
		case value < 0:
			return inWords(total+group, took), took
		case value >= 1000:
			if group == 0 {
				return inWords(total+group, took), took
			}
			total, group, room = total+group*value, 0, 1000
		case value == 100:
			if group == 0 || group >= 10 && room != 10 && group%10 == 0 || group >= 100 {
				return inWords(total+group, took), took
			}
			group, room = group*100, 100
		case value < room && (value > 0 || took == 0):
			group += value
			room = 1
			if value >= 20 {
				room = 10
			}
		default:
			return inWords(total+group, took), took
		}
		took++
		if ordinal {
			n = inWords(total+group, took)
			n.Ordinal = true
			return n, took
		}
	}
	return inWords(total+group, took), took
}

// inWords is a number that so many words said.
func inWords(value, took int) Number {
	return Number{Value: float64(value), Word: took > 0}
}

// inDigits reads a number in digits, with the ending of an ordinal.
func inDigits(words []numberWord) (n Number, took int) {
	value, err := strconv.ParseFloat(strings.ReplaceAll(words[0].text, ",", ""), 64)
	if err != nil {
		return n, 0
	}
	n.Value, n.Money, took = value, words[0].money, 1
	n.Clock = words[0].colon || len(words) > 1 && words[1].colon && isDigit(rune(words[1].text[0]))
	if len(words) > 1 && slices.Contains([]string{"st", "nd", "rd", "th"}, words[1].text) && !words[1].stopped {
		n.Ordinal, took = true, 2
	}
	return n, took
}

// numberName is the value of a number's name, -1 of any other word.
func numberName(word string) (value int, ordinal bool) {
	n, found := numberNames()[word]
	if !found {
		return -1, false
	}
	return n.value, n.ordinal
}

type namedNumber struct {
	value   int
	ordinal bool
}

// numberNames are the names of numbers, and those of places in a row up to the
// ninety-ninth by their last word.
var numberNames = sync.OnceValue(func() map[string]namedNumber {
	all := map[string]namedNumber{
		"hundred": {value: 100}, "thousand": {value: 1000}, "million": {value: 1_000_000},
		"dozen": {value: 12}, "noon": {value: 12}, "midday": {value: 12},
	}
	add := func(n int, name string) {
		all[name] = namedNumber{value: n}
		if n > 0 {
			all[english{}.ordinal(strconv.Itoa(n))] = namedNumber{n, true}
		}
	}
	for n, name := range units {
		add(n, name)
	}
	for n, name := range tens[2:] {
		add(10*(n+2), name)
	}
	return all
})
