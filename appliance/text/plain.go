package text

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// marks are the patterns of what is written for the eye only.
type marks struct {
	link, orphan, bare, tag, fence, rule, lead *regexp.Regexp
}

// eyeMarks compiles the patterns once, when the first text comes.
var eyeMarks = sync.OnceValue(func() marks {
	return marks{
		link:   regexp.MustCompile(`!?\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)`),
		orphan: regexp.MustCompile(`\]\([^)\s]*\)`), // the end of a link whose beginning was cut off
		bare:   regexp.MustCompile(`<(https?://[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>`),
		tag:    regexp.MustCompile(`(?i)</?(?:br|p|b|i|u|em|strong|small|mark|del|sub|sup|code|pre|ul|ol|li|div|span|h[1-6])\s*/?>`),
		fence:  regexp.MustCompile("^\\s*(?:```|~~~)[^`]*$"),
		rule:   regexp.MustCompile(`^\s*(?:[-*_=]\s*){3,}$|^[\s|:-]*\|[\s|:-]*$`),
		lead:   regexp.MustCompile(`^\s*(?:(?:#{1,6}|>+|[-*+•‣·–])\s+|>+)(?:\[[ xX]\]\s+)?`),
	}
})

// plain takes Markdown, simple HTML tags and emoji out of s and makes its
// white space single spaces.
func plain(s string) string {
	if s == "" {
		return ""
	}
	m := eyeMarks()
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if m.fence.MatchString(line) || m.rule.MatchString(line) {
			continue
		}
		line = m.lead.ReplaceAllString(line, "")
		lines = append(lines, row(line))
	}
	s = strings.Join(lines, " ")
	s = m.link.ReplaceAllString(s, "$1")
	s = m.orphan.ReplaceAllString(s, "")
	if i := strings.LastIndexByte(s, '['); i >= 0 && !strings.Contains(s[i:], "]") {
		s = s[:i] + s[i+1:] // the beginning of such a link
	}
	s = m.bare.ReplaceAllString(s, "$1")
	s = m.tag.ReplaceAllString(s, " ")
	s = withoutEmphasis(s)
	s = withoutEmoji(s)
	return tidy(s)
}

// row reads the cells of a table row one after another.
func row(line string) string {
	t := strings.TrimSpace(line)
	if len(t) < 3 || t[0] != '|' || t[len(t)-1] != '|' {
		return line
	}
	cells := strings.Split(t[1:len(t)-1], "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return strings.Join(cells, ", ")
}

// withoutEmphasis drops the stars, underscores, tildes and backticks that mark
// words, and keeps those that are meant: "3 * 4", "snake_case".
func withoutEmphasis(s string) string {
	if !strings.ContainsAny(s, "*_~`") {
		return s
	}
	r := []rune(s)
	var b strings.Builder
	for i := 0; i < len(r); {
		if !strings.ContainsRune("*_~`", r[i]) {
			b.WriteRune(r[i])
			i++
			continue
		}
		j := i
		for j < len(r) && r[j] == r[i] {
			j++
		}
		inWord := i > 0 && j < len(r) && alnum(r[i-1]) && alnum(r[j])
		alone := (i == 0 || unicode.IsSpace(r[i-1])) && (j == len(r) || unicode.IsSpace(r[j]))
		single := j-i == 1 && r[i] != '`'
		about := r[i] == '~' && single && j < len(r) && unicode.IsDigit(r[j])
		if single && (inWord || alone) || about {
			b.WriteRune(r[i])
		}
		i = j
	}
	return b.String()
}

// withoutEmoji drops pictures and the invisible runes that belong to them.
func withoutEmoji(s string) string {
	wasEmoji := false
	return strings.Map(func(r rune) rune {
		switch {
		case emoji(r):
			wasEmoji = true
			return -1
		case r == '\u200d' && wasEmoji: // joins two pictures; elsewhere it shapes letters
			return -1
		}
		wasEmoji = false
		return r
	}, s)
}

// emoji reports whether r is a picture, or part of one: the blocks of
// pictographs, dingbats, miscellaneous symbols and arrows, variation
// selectors, the keycap and flag tags.
func emoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1fbff || r >= 0x2600 && r <= 0x27bf || r >= 0x2b00 && r <= 0x2bff ||
		r >= 0xfe00 && r <= 0xfe0f || r == 0x20e3 || r >= 0xe0020 && r <= 0xe007f
}

// tidy makes all white space and control characters single spaces.
func tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\ufeff', r == '\u200b', r == '\u00ad': // invisible, inside words
			return -1
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func alnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
