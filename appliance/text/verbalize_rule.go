package text

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// rule finds one way of writing and verbalizes it.
type rule struct {
	pattern *regexp.Regexp
	needs   []byteSet
	// say returns the spoken form of a match, or false to leave it unchanged.
	say func(m match) (string, bool)
}

const digits = "0123456789"

// rewrite returns a rule with a function.
func rewrite(pattern string, say func(m match) (string, bool)) rule {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // the first test of this package finds it
	}
	needed := needs(parsed)
	slices.SortFunc(needed, bySize)
	return rule{regexp.MustCompile(pattern), slices.Clip(needed[:min(len(needed), 4)]), say}
}

// condition reports whether a rule applies to a match.
type condition func(m match) bool

var placeholder = regexp.MustCompile(`\{([a-zA-Z])(\d)\}|\{([.<>])\}|\$(\d)`)

// says returns a rule with a template: $1 is a group of the pattern as written, {c1} the group
// verbalized in way c, {.} the full stop if the match includes the one that ends its sentence,
// and {<} and {>} a space where a word touches the match. All conditions must hold.
func says(ways map[byte]func(string) string, pattern, template string, conditions ...condition) rule {
	places := placeholder.FindAllStringSubmatch(template, -1)
	between := placeholder.Split(template, -1)
	return rewrite(pattern, func(m match) (string, bool) {
		if slices.ContainsFunc(conditions, func(holds condition) bool { return !holds(m) }) {
			return "", false
		}
		said := between[0]
		for i, p := range places {
			switch {
			case p[4] != "":
				said += m.group(atoi(p[4]))
			case p[1] != "":
				said += ways[p[1][0]](m.group(atoi(p[2])))
			default:
				said += map[string]func() string{".": m.stop, "<": m.space, ">": m.spaceAfter}[p[3]]()
			}
			said += between[i+1]
		}
		return said, true
	})
}

// apply applies rules to t, one after another.
func apply(rules []rule, t traced) traced {
	has := bytesOf(t.s)
	for _, r := range rules {
		if slices.ContainsFunc(r.needs, func(s byteSet) bool { return !s.meets(has) }) {
			continue
		}
		if found := r.pattern.FindAllStringSubmatchIndex(t.s, -1); found != nil {
			t = t.replace(found, r.say)
			has = bytesOf(t.s)
		}
	}
	return t
}

// match is a position in a text that matches the pattern of a rule.
type match struct {
	text string
	at   []int
}

// group returns the i-th group, empty if it is not part of the match.
func (m match) group(i int) string {
	if m.at[2*i] < 0 {
		return ""
	}
	return m.text[m.at[2*i]:m.at[2*i+1]]
}

// before and after return the text around the match.
func (m match) before() string { return m.text[:m.at[0]] }
func (m match) after() string  { return m.text[m.at[1]:] }

// wordBefore returns the word before the match, in lower case and without punctuation.
func (m match) wordBefore() string {
	return strings.ToLower(strings.Trim(lastWord(m.before()), ".,:(\""))
}

// rest returns the text after the match, without leading space.
func (m match) rest() string { return strings.TrimLeft(m.after(), " ") }

// stop returns "." if the match includes the full stop that ends its sentence.
func (m match) stop() string {
	if !strings.HasSuffix(m.group(0), ".") {
		return ""
	}
	return endOfSentence(m.after())
}

// apart reports whether the match is not within a longer word or number: no letter or digit
// touches it.
func (m match) apart() bool { return !endsWord(m.before()) && !startsWord(m.after()) }

// apart, ended and begins are the conditions that no letter or digit touches the match, follows it,
// or precedes it.
func apart(m match) bool  { return m.apart() }
func ended(m match) bool  { return !startsWord(m.after()) }
func begins(m match) bool { return !endsWord(m.before()) }

// whole reports whether the match is not part of a longer decimal.
func whole(m match) bool { return !pointedBefore(m.before()) && !pointed(m.after()) }

// alone reports whether the match is not part of a longer number, code or date.
func alone(m match) bool {
	joined := strings.HasSuffix(m.before(), "-") || strings.HasSuffix(m.before(), "/") ||
		strings.HasPrefix(m.after(), "-") || strings.HasPrefix(m.after(), "/")
	return m.apart() && !joined && whole(m)
}

// has returns the condition that the text of the match has the pattern.
func has(pattern *regexp.Regexp) condition {
	return func(m match) bool { return pattern.MatchString(m.text) }
}

// pointed reports whether s continues a decimal.
func pointed(s string) bool {
	return len(s) > 1 && (s[0] == '.' || s[0] == ',') && startsDigit(s[1:])
}

// pointedBefore reports whether a number continues after s.
func pointedBefore(s string) bool {
	return len(s) > 1 && strings.ContainsAny(s[len(s)-1:], ".,") && startsDigit(s[len(s)-2:])
}

// endsNumber reports whether s ends with a digit, or with a point after one.
func endsNumber(s string) bool {
	s = strings.TrimRight(s, ".,")
	return s != "" && startsDigit(s[len(s)-1:])
}

// space returns a space if a word touches the match on the left, spaceAfter on the right.
func (m match) space() string {
	if endsWord(m.before()) {
		return " "
	}
	return ""
}

func (m match) spaceAfter() string {
	if startsWord(m.after()) {
		return " "
	}
	return ""
}
