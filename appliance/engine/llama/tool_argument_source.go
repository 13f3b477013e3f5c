package llama

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"parley/appliance/engine"
	"parley/appliance/engine/schema"
	"parley/appliance/text"
)

// source is what was said in a conversation, as words and numbers. The arguments of a tool call are
// compared with it, because small models invent values that nobody said.
type source struct {
	text    string // as said, one line per message; lower is the same in lower case
	lower   string
	words   []string
	numbers map[string]bool // in digits
	days    []time.Time     // the days that were named last
	years   map[string]bool // numbers that the user said, years among them
	english bool
	// ignored are words that request a tool and say nothing about a value.
	ignored map[string]bool
}

// ignoring returns s with words that only request the tool: "play" does not say what to play.
func (s source) ignoring(words []string) source {
	s.ignored = wordSet(strings.Join(words, " "))
	return s
}

// maxSourceBytes is how many bytes of a conversation, the newest, the strings of a call are copied
// from.
const maxSourceBytes = 16 << 10

// newSource collects what the user and the assistant said, the arguments and results of tool calls,
// and the part of the prompt that is specific to this conversation. The rest of the prompt is the
// same for all users and says nothing about this request.
func newSource(messages []engine.Message) source {
	var b strings.Builder
	var texts, asked []string
	for _, m := range messages {
		text := m.Content
		if m.Role == engine.System {
			text = text[len(text)-min(m.VolatileBytes, len(text)):]
		} else {
			texts = append(texts, text[:len(text)-min(m.NoteBytes, len(text))])
		}
		if m.Role == engine.User {
			asked = append(asked, texts[len(texts)-1])
		}
		b.WriteString(text + "\n")
		for _, c := range m.Calls {
			b.WriteString(c.Arguments + "\n")
		}
	}
	s := source{text: strings.ToValidUTF8(b.String()[max(b.Len()-maxSourceBytes, 0):], ""), words: wordsOf(b.String())}
	s.lower = lowerSameLength(s.text)
	s.numbers = numbersOf(s.words)
	s.english = slices.ContainsFunc(s.words, func(w string) bool {
		_, numeral := numerals[w]
		return englishWords[w] || numeral && !foreignNumerals[w]
	})
	if s.english {
		s.years = numbersOf(wordsOf(strings.Join(asked, "\n")))
		s.days = newestDays(texts, today(messages, time.Now()))
	}
	return s
}

// englishWords are words of which most English sentences have one, short requests too: "Give Anna
// some money."
var englishWords = wordSet(
	"the a an i you it is are me my to for and please yes no in on at of do can we this that's i'd i'm what " +
		"some any with from by your our him her them give get show tell make take call turn want need would could " +
		"where when who how which another more less money tomorrow today")

// foreignNumerals are number words that other languages have too.
var foreignNumerals = wordSet("oh second couple pair single six ten once zero")

// wordSet returns the words of a text as a set.
func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// wordsOf returns the words of a text in lower case. Digits are separated from letters, so "A1007"
// is two words.
func wordsOf(s string) []string {
	var out []string
	for _, w := range text.Written(s) {
		at := 0
		for i, r := range w {
			if i > at && unicode.IsDigit(r) != unicode.IsDigit(rune(w[i-1])) {
				out, at = append(out, w[at:i]), i
			}
		}
		out = append(out, w[at:])
	}
	return out
}

// supports reports whether the value of an argument was said or follows from the conversation. The
// model is trusted with values that can be said in other words (a choice of two, "yes").
func (s source) supports(a schema.Argument, raw json.RawMessage) bool {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return false
	}
	return s.hasValue(a, value)
}

// maxCodeBytes is the length of enum values that are abbreviations, such as "am" and "kg". People
// say them in other words, so the model is trusted with them.
const maxCodeBytes = 3

func (s source) hasValue(a schema.Argument, value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return true
	case float64:
		return !s.english || s.hasNumber(v)
	case string:
		if len(a.Enum) == 1 || len(a.Enum) > 1 && len(v) <= maxCodeBytes {
			return true
		}
		return s.hasText(a, v)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return s.hasValue(itemArgument(a), item) })
	case map[string]any:
		for name, item := range v {
			if s.hasPart(propertyArgument(a, name), item) {
				return true
			}
		}
	}
	return false
}

// hasPart is like hasValue for a property of an object; the model is trusted with properties that
// it has to choose.
func (s source) hasPart(a schema.Argument, value any) bool {
	return value != nil && a.Required && a.Chosen() || s.hasValue(a, value)
}

func (s source) hasNumber(v float64) bool {
	return s.numbers[strconv.FormatFloat(v, 'f', -1, 64)] || v != float64(int(v)) && s.numbers[strconv.Itoa(int(v))]
}

var (
	clock = regexp.MustCompile(`(?i)\b([0-9]{1,2})(?::([0-9]{2}))?(?::[0-9]{2})?\s*(am|pm)?`)
	// wholeClock matches a time and nothing else; its hour alone does not support it.
	wholeClock = regexp.MustCompile(`^([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?$`)
	day        = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}`)
	clockTime  = regexp.MustCompile(`[0-9]{1,2}:[0-9]{2}`)
)

func (s source) hasText(a schema.Argument, v string) bool {
	if d, err := time.Parse(time.DateOnly, day.FindString(v)); err == nil {
		return !s.english || s.hasDay(d)
	}
	if m := wholeClock.FindStringSubmatch(v); m != nil {
		return !s.english || s.hasClock(m[1], m[2])
	}
	if s.english && s.hasUnsaidNumber(v) {
		return false
	}
	for _, w := range wordsOf(v) {
		if s.hasWord(w) {
			return true
		}
	}
	if m := clock.FindStringSubmatch(v); m != nil {
		return !s.english || s.hasClock(m[1], m[2])
	}
	return !s.english && !unicode.IsDigit([]rune(v + " ")[0]) && !s.sameScript(v)
}

// addressWords are words of addresses that nobody says, or says differently.
var addressWords = wordSet("com org net www http https mail e")

// hasUnsaidNumber reports whether v contains a number that was not said and is not an hour that was
// said. In an address with "@" the same holds for words, because small models invent addresses.
func (s source) hasUnsaidNumber(v string) bool {
	address := strings.Contains(v, "@")
	for _, w := range wordsOf(clockTime.ReplaceAllString(v, " ")) {
		number := unicode.IsDigit([]rune(w)[0])
		switch {
		case !number && (!address || addressWords[w]), s.hasWord(w), slices.Contains(s.words, w):
		case number && len(w) <= 2 && !address && s.hasClock(w, "00"):
		default:
			return true
		}
	}
	return false
}

// days are words that can refer to a day without its number or name; weekdays name one. Months are
// not included, because people who name a month also say the day.
var (
	days     = wordSet("today tomorrow tonight yesterday weekend week day month next now asap earliest soonest")
	weekdays = wordSet("monday tuesday wednesday thursday friday saturday sunday")
)

// hasDay reports whether a day was said or can be meant. Small models calculate badly: if a weekday
// was said, the day must fall on it.
func (s source) hasDay(d time.Time) bool {
	if s.numbers[strconv.Itoa(d.Day())] || slices.Contains(s.words, strings.ToLower(d.Weekday().String())) {
		return true
	}
	return !s.hasAnyWord(weekdays) && s.hasAnyWord(days)
}

func (s source) hasAnyWord(of map[string]bool) bool {
	return slices.ContainsFunc(s.words, func(w string) bool { return of[w] })
}

// hasClock reports whether a time was said: its hour, or the next one, as in "a quarter to six".
func (s source) hasClock(hour, minute string) bool {
	h, _ := strconv.Atoi(hour)
	for _, at := range []int{h, h % 12, h%12 + 12, 12} {
		if at == 12 && h%12 != 0 {
			continue
		}
		if (s.numbers[strconv.Itoa(at)] || minute > "30" && s.numbers[strconv.Itoa(at%12+1)]) && s.hasMinute(minute) {
			return true
		}
	}
	return s.hasAnyWord(wordSet("now noon midnight immediately"))
}

// hasMinute reports whether the minute of a time was said, counted from either hour.
func (s source) hasMinute(minute string) bool {
	m, _ := strconv.Atoi(minute)
	switch {
	case m == 0, s.numbers[strconv.Itoa(m)], s.numbers[strconv.Itoa(60-m)]:
		return true
	case m == 30:
		return slices.Contains(s.words, "half")
	}
	return m%30 == 15 && slices.Contains(s.words, "quarter")
}

// stopWords are words that say nothing about a value.
var stopWords = wordSet(
	"the and for with from that this some any one please want would like have not none unknown null user " +
		"guest customer name")

// minStem is how many letters two forms of a word share at their beginning: "towels" and "towel".
const minStem = 4

func (s source) hasWord(w string) bool {
	if unicode.IsDigit([]rune(w)[0]) {
		return s.numbers[strings.TrimLeft(w, "0")] || s.numbers[w] || slices.Contains(s.words, w)
	}
	if stopWords[w] || s.ignored[w] {
		return false
	}
	return slices.ContainsFunc(s.words, func(said string) bool {
		if said == w {
			return true
		}
		n := 0
		for n < min(len(said), len(w)) && said[n] == w[n] {
			n++
		}
		return n >= minStem && n >= min(len(said), len(w))-1
	})
}

// sameScript reports whether a text is in the script of the conversation; a word in another script
// may be the same word.
func (s source) sameScript(text string) bool {
	isLatin := func(t string) bool {
		return strings.ContainsFunc(t, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	}
	return isLatin(text) == slices.ContainsFunc(s.words, isLatin)
}
