package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// verdict classifies a position in a text: the end of a sentence, which is then buf[:at]; not
// an end, where at is the next position to judge; or unsure until more text is known.
type verdict struct {
	end, unsure bool
	at          int
}

var unsure = verdict{unsure: true}

// maxLookahead bounds how far after a full stop the next word is read before it counts as
// complete; the longest word that decides anything has nine letters.
const maxLookahead = 12

// judge classifies the position i of buf. The verdict depends only on buf, not on how it was
// assembled, and does not change as buf grows unless it is unsure.
func judge(buf []rune, i int) verdict {
	switch {
	case buf[i] == '\n':
		return judgeLine(buf, i)
	case terminates(buf[i]):
		return judgeStop(buf, i)
	}
	return verdict{at: i + 1}
}

// judgeStop classifies the run of full stops, question and exclamation marks that begins at i.
func judgeStop(buf []rune, i int) verdict {
	stop := i
	wide := false
	for stop < len(buf) && terminates(buf[stop]) {
		wide = wide || buf[stop] > 0x2fff || strings.ContainsRune("।॥", buf[stop])
		stop++
	}
	closed := stop
	for closed < len(buf) && closes(buf[closed]) {
		closed++
	}
	if closed == len(buf) {
		return unsure
	}
	end, no := verdict{end: true, at: closed}, verdict{at: stop}
	if wide { // Chinese and Japanese have no space after it, and Indian scripts not always
		return end
	}
	kind := kindOfStop(buf, i, stop)
	switch {
	case unicode.IsSpace(buf[closed]):
	case kind == plainStop && closed == stop:
		return judgeJoined(buf, i, stop, end, no)
	default:
		return no
	}
	switch {
	case kind == inside:
		return no
	case kind == plainStop && closed == stop:
		return end // whatever follows it
	}
	next := closed
	for next < len(buf) && unicode.IsSpace(buf[next]) {
		if buf[next] == '\n' && next+1 < len(buf) && buf[next+1] == '\n' {
			return end
		}
		next++
	}
	if next == len(buf) {
		return unsure
	}
	return judgeNext(kind, buf[next:], end, no)
}

// judgeJoined classifies a stop without the space after it: "First one.Second one." A stop that
// may be part of an address, a file name or the name of a program is not an end.
func judgeJoined(buf []rune, i, stop int, end, no verdict) verdict {
	next := buf[stop:]
	n := 0
	for n < len(next) && unicode.IsLetter(next[n]) {
		n++
	}
	switch {
	case i < 2 || !unicode.IsLower(buf[i-1]) || !unicode.IsLower(buf[i-2]) || !unicode.IsUpper(next[0]):
		return no
	case n == len(next) && n < maxLookahead:
		return unsure
	case n == 1 && next[0] != 'I' && next[0] != 'A', n > 1 && !unicode.IsLower(next[1]):
		return no
	case n < len(next) && !unicode.IsSpace(next[n]) && !strings.ContainsRune(",;:!?.'’", next[n]):
		return no
	case n < len(next) && next[n] == '.' && n+1 == len(next) && buf[i] == '.':
		return unsure
	case n+1 < len(next) && next[n] == '.' && buf[i] == '.' &&
		unicode.IsLower(next[n+1]), stops("files", strings.ToLower(string(next[:n]))):
		return no
	}
	if before := lastWord(string(buf[:i])); before == "www" || strings.ContainsAny(before, "/@:\\_") {
		return no
	}
	return end
}

// judgeNext classifies an ambiguous stop by what follows it.
func judgeNext(kind stopKind, next []rune, end, no verdict) verdict {
	switch {
	case unicode.IsLower(next[0]) || next[0] == ':':
		return no
	case kind == plainStop || kind == ellipsis:
		return end
	case unicode.IsDigit(next[0]) || next[0] == '&' || next[0] == '=' || unicode.Is(unicode.Sc, next[0]):
		return no
	case kind == beforeDigit && len(next) > 1 && unicode.IsUpper(next[0]) && next[1] == '.': // 45 d. C.
		return no
	case kind == beforeDigit && unicode.IsUpper(next[0]):
		return judgeCode(next, end, no)
	case kind == beforeDigit || !unicode.IsLetter(next[0]):
		return end
	}
	n := 1
	for n < len(next) && unicode.IsLetter(next[n]) {
		n++
	}
	if n == len(next) && n < maxLookahead {
		return unsure
	}
	word := strings.ToLower(string(next[:n]))
	initial := n == 1 && n < len(next) && next[n] == '.'
	switch {
	case kind == abbreviation && !stops("of a date", word):
		return end
	case kind == initials && stops("starters", word) && !initial:
		return end
	}
	return no
}

// judgeCode classifies a stop that a number may follow and that is followed by a capital, which
// begins a code, as in "part no. AB-1234", or the next sentence.
func judgeCode(next []rune, end, no verdict) verdict {
	for i, r := range next[:min(len(next), maxLookahead)] {
		switch {
		case unicode.IsDigit(r):
			return no
		case i == 2 && r == ' ' && i+1 == len(next):
			return unsure
		case i == 2 && r == ' ' && unicode.IsDigit(next[i+1]): // VAT no. GB 123
			return no
		case (i > 1 || i == 1 && next[0] != 'I') && !unicode.IsLetter(r) &&
			strings.Trim(string(next[:i]), "IVXLC") == "": // sec. XVIII
			return no
		case !unicode.IsUpper(r) && (r != '-' && r != '/' || i == 0):
			return end
		}
	}
	if len(next) < maxLookahead {
		return unsure
	}
	return end
}

// stopKind is what a full stop may be, by the text before it.
type stopKind int

const (
	plainStop    stopKind = iota // the end of a sentence
	inside                       // never an end: "Dr."
	ellipsis                     // an end unless a lower-case letter follows
	beforeDigit                  // an end unless a digit follows: "No. 5"
	abbreviation                 // an end if a capital follows: "etc.", "p.m."
	initials                     // an end only before a word that begins sentences: "U.S.", "St."
)

// kindOfStop classifies the run of stops buf[i:stop].
func kindOfStop(buf []rune, i, stop int) stopKind {
	run := string(buf[i:stop])
	switch {
	case strings.ContainsAny(run, "!?؟۔"):
		return plainStop
	case run != ".":
		return ellipsis
	}
	begin := i
	for begin > 0 && !unicode.IsSpace(buf[begin-1]) && !opens(buf[begin-1]) {
		begin--
	}
	word := string(buf[begin:i])
	joins := func(r rune) bool { return strings.ContainsRune("-–—/", r) }
	parts := strings.FieldsFunc(word, joins)
	if n := len(parts); n > 1 && stops("sometimes an end", strings.ToLower(parts[n-1])) {
		word = parts[n-1] // Mon.–Fri., a.m./p.m.
		begin = i - len([]rune(word))
	}
	lower := strings.ToLower(word)
	heads := begin == 0 || buf[begin-1] == '\n'
	capital := begin < i && unicode.IsUpper(buf[begin])
	switch {
	case heads && listNumber(word), capital && stops("titles", lower), stops("never an end", lower),
		!capital && stops("powers", lower):
		return inside
	case word == "a": // 200 a. C.
		return beforeDigit
	case word == "N", word == "Ft": // North, or the Italian number; Fort
		return initials
	case stops("numbered", lower), stops("lives", word):
		return beforeDigit
	case stops("sometimes an end", lower), dottedSmall(word):
		return abbreviation
	case capital && stops("places", lower), dottedLetters(word):
		return initials
	}
	return plainStop
}

// dottedLetters reports whether word is one or more initials, without the last full stop: "J",
// "U.S", "Ph.D".
func dottedLetters(word string) bool {
	parts := strings.Split(word, ".")
	for _, p := range parts {
		r := []rune(p)
		if len(r) == 0 || len(r) > 2 || !unicode.IsUpper(r[0]) ||
			len(r) == 2 && (len(parts) == 1 || !unicode.IsLower(r[1])) {
			return false
		}
	}
	return true
}

// dottedSmall reports whether word is lower-case letters with stops between them, without the
// last: "p.o", "b.i.d".
func dottedSmall(word string) bool {
	for i, r := range []rune(word) {
		if i%2 == 1 && r != '.' || i%2 == 0 && !unicode.IsLower(r) {
			return false
		}
	}
	return len([]rune(word)) > 2
}

// listNumber reports whether word, at the beginning of a line, is the number of a list item.
func listNumber(word string) bool {
	if len(word) == 0 || len(word) > 3 {
		return false
	}
	return strings.Trim(word, "0123456789") == ""
}

// Terminators are the signs that end sentences in all scripts, among them the danda and double
// danda of Indian ones.
const Terminators = ".!?…。！？｡।॥؟۔"

func terminates(r rune) bool { return strings.ContainsRune(Terminators, r) }

// EndsSentence reports whether a text ends with the end of a sentence, and possibly closing
// signs after it.
func EndsSentence(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsSpace(r) || closes(r) })
	r, _ := utf8.DecodeLastRuneInString(s)
	return terminates(r)
}

func closes(r rune) bool { return strings.ContainsRune("\"')]}»”’*_`~」』）】》〉", r) }

func opens(r rune) bool { return strings.ContainsRune("\"'([{«“‘*_`「『（【《〈", r) }
