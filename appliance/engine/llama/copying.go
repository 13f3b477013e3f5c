package llama

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine/schema"
)

// Told a city and shown "San Francisco, CA" as an example, a model writes "New York,
// NY" for New York City. So where the strings of a call begin with words that were
// said, they go on with them: of the tokens that may follow, the likeliest is taken
// with which the string is still a piece of what was said. A string that begins
// otherwise is left to the model, for settle to judge: that is how an invention shows.

// maxTried is how many tokens are looked at for one that goes on with what was said:
// behind so many the model means something else.
const maxTried = 64

// copier holds one call's strings to what was said. The owner uses it.
type copier struct {
	source source
	names  map[string]bool // of the arguments that it is about
	// strict: a string begins with what was said, too.
	strict bool
	at     cursor
}

// copier is one for the free strings of a tool's arguments: those without values of
// their own.
func (s source) copier(parameters json.RawMessage, strict bool) *copier {
	c := &copier{source: s, names: map[string]bool{}, strict: strict}
	var whole any
	if json.Unmarshal(parameters, &whole) == nil {
		freeStrings(whole, c.names)
	}
	return c
}

// freeStrings gathers the names of properties that are strings of any kind, or lists
// of them.
func freeStrings(of any, into map[string]bool) {
	switch s := of.(type) {
	case []any:
		for _, part := range s {
			freeStrings(part, into)
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for name, raw := range properties {
			property, _ := raw.(map[string]any)
			if items, is := property["items"].(map[string]any); is {
				property = items
			}
			says, _ := property["description"].(string)
			bound := slices.ContainsFunc([]string{"enum", "const", "format", "pattern"}, func(k string) bool {
				return property[k] != nil
			})
			if property["type"] == "string" && !bound && !schema.SaysToInfer(says) {
				into[name] = true
			}
		}
		for _, part := range s {
			freeStrings(part, into)
		}
	}
}

// pick takes the likeliest token that the grammar and what was said allow.
func (c *copier) pick(logits []float32, g *grammar) (Token, error) {
	best, err := likeliest(logits)
	if err != nil {
		return 0, err
	}
	if !g.allows(best, logits[best]) {
		logits = g.mask(logits)
		if best, err = likeliest(logits); err != nil {
			return 0, err
		}
	}
	at, ok := c.at.through(g.vocab.piece(best, false), c)
	if !ok {
		logits = g.mask(logits)
		for t, tried := best, 0; tried < maxTried && !ok; tried++ {
			logits[t] = float32(math.Inf(-1))
			if t, err = likeliest(logits); err != nil || g.vocab.ends(t) {
				break
			}
			if next, may := c.at.through(g.vocab.piece(t, false), c); may {
				best, at, ok = t, next, true
			}
		}
	}
	if !ok { // nothing that was said fits the schema
		at.free = true
	}
	c.at = at
	return best, nil
}

// cursor is a place in JSON that is being written.
type cursor struct {
	within string // the objects and lists around it, as their brackets
	last   byte   // the last sign outside of strings
	name   string // of the property
	in     bool   // a string
	isName bool   // it names a property
	free   bool   // it need not be what was said
	escape bool
	text   string // of the string
}

// through is the cursor behind more bytes; false: they go on otherwise than what was
// said.
func (u cursor) through(piece []byte, c *copier) (cursor, bool) {
	ok := true
	for _, b := range piece {
		var may bool
		u, may = u.next(b, c)
		ok = ok && may
	}
	return u, ok
}

func (u cursor) next(b byte, c *copier) (cursor, bool) {
	switch {
	case !u.in:
		switch b {
		case '{', '[':
			u.within += string(rune(b))
		case '}', ']':
			u.within = u.within[:max(len(u.within)-1, 0)]
		case '"':
			u.in, u.text = true, ""
			u.isName = strings.HasSuffix(u.within, "{") && u.last != ':'
			u.free = u.isName || !c.names[u.name]
		}
		if b != ' ' && b != '\n' {
			u.last = b
		}
		return u, true
	case u.escape:
		u.escape, u.text = false, u.text+string([]byte{b})
		return u, true
	case b == '"':
		u.in, u.last = false, b
		if u.isName {
			u.name = u.text
		}
		return u, u.free || c.source.contains(u.text) || !c.strict && u.text == ""
	}
	before := u.text
	u.text += string([]byte{b})
	u.escape = b == '\\'
	switch {
	case u.free:
	// Numbers, times, codes and addresses are said otherwise than they are written.
	case before == "" && b < utf8.RuneSelf && !unicode.IsLetter(rune(b)):
		u.free = true
	case c.source.hasPrefix(u.text):
	case b == '\\', b >= '0' && b <= '9', b == '@', !c.strict && !c.source.hasContentWord(before):
		u.free = true
	default:
		return u, false
	}
	return u, true
}

// hasPrefix tells whether somebody said words that begin so.
func (s source) hasPrefix(text string) bool {
	was, at := s.find(text, false)
	return at >= 0 && !(strings.HasSuffix(was, ",") && s.commaEnds(at+len(was)-1))
}

// commaEnds tells whether the comma at a place of the text ends what stands before it. A
// name goes on with a name or a number alone ("Phoenix, Arizona", but "Paris, please"),
// and nothing goes on with a courtesy.
func (s source) commaEnds(comma int) bool {
	before, after := s.text[:comma], strings.TrimLeft(s.text[comma+1:], " ")
	next, _ := utf8.DecodeRuneInString(after)
	if unicode.IsUpper(next) || unicode.IsDigit(next) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(before[strings.LastIndexAny(before, " \n")+1:])
	return unicode.IsUpper(first) || courtesy.MatchString(after)
}

var courtesy = regexp.MustCompile(`^(?:please|thanks|thank you)\b`)

// contains tells whether somebody said these words, one after the other.
func (s source) contains(text string) bool {
	_, at := s.find(text, true)
	return at >= 0
}

// find is a text as it was said last, from the beginning of a word on, and where; -1:
// nobody said it.
func (s source) find(text string, whole bool) (string, int) {
	text = lowerSameLength(strings.ToValidUTF8(text, ""))
	if whole && text == "" {
		return "", -1
	}
	for end := len(s.lower); ; {
		at := strings.LastIndex(s.lower[:end], text)
		if at < 0 {
			return "", -1
		}
		before, _ := utf8.DecodeLastRuneInString(s.lower[:at])
		behind, _ := utf8.DecodeRuneInString(s.lower[at+len(text):])
		if !isWordRune(before) && !(whole && isWordRune(behind)) {
			return s.text[at : at+len(text)], at
		}
		if end = at + len(text) - 1; end < 0 {
			return "", -1
		}
	}
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// lowerSameLength is text in small letters, each of as many bytes as before.
func lowerSameLength(text string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, text)
}

// hasContentWord tells whether a text, which was said, has a whole word that says something.
func (s source) hasContentWord(text string) bool {
	if !s.contains(text) {
		text = text[:strings.LastIndex(text, " ")+1]
	}
	return slices.ContainsFunc(wordsOf(text), func(w string) bool {
		return len(w) > 1 && s.hasWord(w) // one letter may begin a code
	})
}
