package text

import "unicode"

// shortLine is the length in runes below which a line followed by a capital is separate, as in
// a title, an address or a poem; longer lines are broken only to fit a page.
const shortLine = 60

// judgeLine classifies the newline buf[i].
func judgeLine(buf []rune, i int) verdict {
	end, no := verdict{end: true, at: i}, verdict{at: i + 1}
	if i == 0 {
		return no
	}
	if i+1 == len(buf) {
		return unsure
	}
	if buf[i+1] == '\n' {
		return end
	}
	begin := i
	for begin > 0 && buf[begin-1] != '\n' {
		begin--
	}
	if known, item := marksItem(buf[begin : i+1]); known && item {
		return end
	}
	known, item := marksItem(buf[i+1:])
	switch {
	case !known:
		return unsure
	case item:
		return end
	case i-begin < shortLine && !unicode.IsLower(buf[i+1]):
		return end
	}
	return no
}

// marksItem reports whether line begins with the mark of a list item, a heading, a quotation, a
// table row or code; known is false while line is too short to tell.
func marksItem(line []rune) (known, item bool) {
	switch line[0] {
	case '#', '>', '|', '•', '‣', '*', '`':
		return true, true
	case '-', '+', '–':
		if len(line) == 1 {
			return false, false
		}
		return true, unicode.IsSpace(line[1]) || line[1] == line[0]
	}
	n := 0
	for n < len(line) && n < 3 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	switch {
	case n == 0:
		return true, false
	case n == len(line):
		return false, false
	case line[n] != '.' && line[n] != ')':
		return true, false
	case n+1 == len(line):
		return false, false
	}
	return true, unicode.IsSpace(line[n+1])
}
