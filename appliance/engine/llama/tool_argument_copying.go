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

// Given the example "San Francisco, CA", a model writes "New York, NY" for New York City. So once a
// string of a call begins with words of the conversation, it has to continue with them: of the
// possible tokens, the likeliest one is taken with which the string still occurs in the
// conversation. A string that begins differently is left to the model, and checkArguments judges
// it; that is how inventions are found.

// maxTried is how many tokens are tried for one that continues what was said; after that many the
// model means something else.
const maxTried = 64

// copier restricts the strings of one call to text of the conversation. The decoder uses it.
type copier struct {
	source source
	names  map[string]bool // of the restricted arguments
	// strict says that a string must also begin with text of the conversation.
	strict bool
	at     cursor
}

// copier returns a copier for the free strings of a tool's arguments, those without fixed values.
func (s source) copier(parameters json.RawMessage, strict bool) *copier {
	c := &copier{source: s, names: map[string]bool{}, strict: strict}
	var whole any
	if json.Unmarshal(parameters, &whole) == nil {
		freeStrings(whole, c.names)
	}
	return c
}

// freeStrings collects the names of properties that are free strings, or lists of them.
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
			if items, ok := property["items"].(map[string]any); ok {
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

// pick returns the likeliest token that the grammar and the source allow.
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
			if next, fits := c.at.through(g.vocab.piece(t, false), c); fits {
				best, at, ok = t, next, true
			}
		}
	}
	if !ok { // nothing in the source fits the schema
		at.free = true
	}
	c.at = at
	return best, nil
}

// cursor is a position in JSON that is being generated.
type cursor struct {
	within string // the enclosing objects and lists, as their brackets
	last   byte   // the last byte outside of strings
	name   string // of the current property
	in     bool   // within a string
	isName bool   // the string is a property name
	free   bool   // the string need not come from the source
	escape bool
	text   string // of the string so far
}

// through advances the cursor over more bytes; ok is false if they deviate from the source.
func (cur cursor) through(piece []byte, c *copier) (cursor, bool) {
	ok := true
	for _, b := range piece {
		var fits bool
		cur, fits = cur.next(b, c)
		ok = ok && fits
	}
	return cur, ok
}

func (cur cursor) next(b byte, c *copier) (cursor, bool) {
	switch {
	case !cur.in:
		switch b {
		case '{', '[':
			cur.within += string(rune(b))
		case '}', ']':
			cur.within = cur.within[:max(len(cur.within)-1, 0)]
		case '"':
			cur.in, cur.text = true, ""
			cur.isName = strings.HasSuffix(cur.within, "{") && cur.last != ':'
			cur.free = cur.isName || !c.names[cur.name]
		}
		if b != ' ' && b != '\n' {
			cur.last = b
		}
		return cur, true
	case cur.escape:
		cur.escape, cur.text = false, cur.text+string([]byte{b})
		return cur, true
	case b == '"':
		cur.in, cur.last = false, b
		if cur.isName {
			cur.name = cur.text
		}
		return cur, cur.free || c.source.contains(cur.text) || !c.strict && cur.text == ""
	}
	before := cur.text
	cur.text += string([]byte{b})
	cur.escape = b == '\\'
	switch {
	case cur.free:
	// Numbers, times, codes and addresses are not said as they are written.
	case before == "" && b < utf8.RuneSelf && !unicode.IsLetter(rune(b)):
		cur.free = true
	case c.source.hasPrefix(cur.text):
	case b == '\\', b >= '0' && b <= '9', b == '@', !c.strict && !c.source.hasContentWord(before):
		cur.free = true
	default:
		return cur, false
	}
	return cur, true
}

// hasPrefix reports whether something was said that begins with text.
func (s source) hasPrefix(text string) bool {
	was, at := s.find(text, false)
	return at >= 0 && !(strings.HasSuffix(was, ",") && s.commaEnds(at+len(was)-1))
}

// commaEnds reports whether the comma at this position ends a value. Only a name or a number
// continues a name ("Phoenix, Arizona", but not "Paris, please"), and nothing continues with a
// courtesy.
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

// contains reports whether these words were said, one after the other.
func (s source) contains(text string) bool {
	_, at := s.find(text, true)
	return at >= 0
}

// find returns the last occurrence of text, from the beginning of a word on, as it was said, and
// its position; -1 if there is none. whole requires it to end with a word.
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

// isWordRune reports whether r is part of a word.
func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// lowerSameLength returns text in lower case, each rune in as many bytes as before.
func lowerSameLength(text string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, text)
}

// hasContentWord reports whether a text that was said has a complete word with a meaning.
func (s source) hasContentWord(text string) bool {
	if !s.contains(text) {
		text = text[:strings.LastIndex(text, " ")+1]
	}
	return slices.ContainsFunc(wordsOf(text), func(w string) bool {
		return len(w) > 1 && s.hasWord(w) // a single letter may begin a code
	})
}
