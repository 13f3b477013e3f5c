package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The patterns of mark-up.
var (
	mdLink = regexp.MustCompile(`!?\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)`)
	// the end of a link whose beginning was cut off; [^2], a note in Markdown
	mdOrphan = regexp.MustCompile(`\]\([^)\s]*\)|\[\^[^\]\s]{1,20}\]:?`)
	mdBegun  = regexp.MustCompile(`\[([^\[\]]*)$`) // the beginning of such a link
	mdBare   = regexp.MustCompile(`<(https?://[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>`)
	mdNote   = regexp.MustCompile(
		`([\pL\d.,;:!?"')])\[(?:\d{1,3}(?: ?[,–-] ?\d{1,3})*|citation needed|note \d{1,3})\]`)
	mdFence = regexp.MustCompile("^\\s*(?:```|~~~)[^`]*$")
	mdRule  = regexp.MustCompile(`^\s*(?:[-*_=]\s*){3,}$|^[\s|:-]*\|[\s|:-]*$`)
	mdLead  = regexp.MustCompile(`^\s*(?:(?:#{1,6}|>+|[-*+•‣·–])\s+|>+)(?:\[[ xX]\]\s+)?`)
	smiley  = regexp.MustCompile(`(^|\s)[:;=]['-]?[()DPp]+(?:\s|$)`)
)

// plain removes Markdown, tags, footnote marks and emoji from t and replaces its white space by
// single spaces. Stars stay at the positions that stars returns; nil returns none.
func plain(t traced, stars func(string) []int) traced {
	if t.s == "" {
		return t
	}
	t = withoutTags(lines(t).only(mdLink, 1).only(mdOrphan, 0).only(mdBegun, 1).only(mdBare, 1))
	t = t.only(mdNote, 1).only(smiley, 1)
	return withoutEmoji(withoutEmphasis(t, stars)).tidy()
}

// lines joins the lines of t, without their marks and without separator lines.
func lines(t traced) traced {
	var w tracer
	for begin := 0; begin < len(t.s); {
		end := strings.IndexByte(t.s[begin:], '\n') + begin
		if end < begin {
			end = len(t.s)
		}
		line := t.s[begin:end]
		if !mdFence.MatchString(line) && !mdRule.MatchString(line) {
			lead := len(mdLead.FindString(line))
			row(&w, t.slice(begin+lead, end))
			if end < len(t.s) {
				w.put(" ", t.of[end])
			}
		}
		begin = end + 1
	}
	return w.text()
}

// row appends the cells of a table row, or an ordinary line.
func row(w *tracer, t traced) {
	begin := len(t.s) - len(strings.TrimLeftFunc(t.s, unicode.IsSpace))
	end := len(strings.TrimRightFunc(t.s, unicode.IsSpace))
	if end-begin < 3 || t.s[begin] != '|' || t.s[end-1] != '|' {
		w.copy(t, 0, len(t.s))
		return
	}
	for i := begin + 1; i < end-1; i++ {
		space := t.s[i] == ' ' && t.s[i+1] == '|'
		switch {
		case t.s[i] == '|':
			w.put(", ", t.of[i])
		case !space:
			w.copy(t, i, i+1)
		}
	}
}

// only replaces each match of a pattern by one of its groups, or by nothing for group 0.
func (t traced) only(pattern *regexp.Regexp, group int) traced {
	found := pattern.FindAllStringSubmatchIndex(t.s, -1)
	if found == nil {
		return t
	}
	var w tracer
	done := 0
	for _, at := range found {
		w.copy(t, done, at[0])
		if group > 0 {
			w.copy(t, at[2*group], at[2*group+1])
		}
		done = at[1]
	}
	w.copy(t, done, len(t.s))
	return w.text()
}

// withoutEmphasis removes the stars, underscores, tildes and backticks of emphasis, and leaves
// others: "3 * 4", "snake_case".
func withoutEmphasis(t traced, stars func(string) []int) traced {
	if !strings.ContainsAny(t.s, emphasis) {
		return t
	}
	var stay []int
	if stars != nil {
		stay = stars(t.s)
	}
	var w tracer
	for i := 0; i < len(t.s); {
		j := i + 1
		if strings.IndexByte(emphasis, t.s[i]) < 0 {
			w.copy(t, i, j)
			i = j
			continue
		}
		for j < len(t.s) && t.s[j] == t.s[i] {
			j++
		}
		if meant(t.s, i, j) || slices.Contains(stay, i) {
			w.copy(t, i, j)
		}
		i = j
	}
	return w.text()
}

const emphasis = "*_~`"

// meant reports whether the stars or underscores s[i:j] are not emphasis.
func meant(s string, i, j int) bool {
	before, after := s[:i], s[j:]
	inWord := endsWord(before) && startsWord(after)
	alone := (before == "" || strings.HasSuffix(before, " ")) && (after == "" || after[0] == ' ')
	single := j-i == 1 && s[i] != '`'
	about := s[i] == '~' && single && (startsDigit(after) || strings.IndexAny(after, "$£€¥") == 0)
	key := s[i] == '*' && single && startsDigit(after) && strings.IndexByte(after, '*') < 0 // press *67
	return single && (inWord || alone) || about || key
}

// startsDigit reports whether s begins with a digit.
func startsDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// withoutEmoji removes emoji and the invisible runes that belong to them.
func withoutEmoji(t traced) traced {
	wasEmoji := false
	return t.runes(func(r rune) rune {
		switch {
		case emoji(r):
			wasEmoji = true
			return -1
		case r == '\u200d' && wasEmoji: // joins two emoji; elsewhere it shapes letters
			return -1
		}
		wasEmoji = false
		return r
	})
}

// emoji reports whether r is an emoji or part of one: the blocks of pictographs, dingbats,
// miscellaneous symbols and arrows, variation selectors, the keycap and flag tags.
func emoji(r rune) bool {
	if r >= '♭' && r <= '♯' { // musical notes
		return false
	}
	return r >= 0x1f000 && r <= 0x1fbef || r >= 0x2600 && r <= 0x27bf || r >= 0x2b00 && r <= 0x2bff ||
		r >= 0xfe00 && r <= 0xfe0f || r == 0x20e3 || r >= 0xe0020 && r <= 0xe007f
}

func alnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
