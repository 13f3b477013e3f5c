package schema

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// formats are the rules of strings of a format (JSON Schema, section 7.3); of
// others a grammar knows nothing, and they are checked.
var formats = map[string]struct {
	rule  string
	needs []string
}{
	"date":      {`day`, []string{"day"}},
	"time":      {`clock`, []string{"clock"}},
	"date-time": {`day "T" clock`, []string{"day", "clock"}},
	"email": {`[a-zA-Z0-9] [a-zA-Z0-9_-]{0,30} ("." [a-zA-Z0-9_-]{1,20})? "@" [a-zA-Z0-9] [a-zA-Z0-9]{0,30} ("." ` +
		`[a-zA-Z]{2,10}){1,2}`, nil},
	"uuid": {`[0-9a-f]{8} ("-" [0-9a-f]{4}){3} "-" [0-9a-f]{12}`, nil},
}

// text is the rule of a string.
func (w *writer) text(s node, at string) (string, error) {
	if f, known := formats[s.Format]; known {
		for _, n := range f.needs {
			w.basic(n)
		}
		return w.add(`"\"" ` + f.rule + ` "\""`), nil
	}
	if s.Pattern != "" && len(s.Pattern) <= maxPattern {
		if body, ok := matching(s.Pattern); ok {
			w.basic("char")
			return w.add(`"\"" ` + body + ` "\""`), nil
		}
	}
	if s.MinLength == 0 && s.MaxLength == nil {
		return w.basic("string"), nil
	}
	times, err := repeat(s.MinLength, s.MaxLength, at+".maxLength")
	return w.add(`"\"" ` + w.basic("char") + times + ` "\""`), err
}

// matching is a regular expression as GBNF; false: it has what GBNF has not.
func matching(pattern string) (body string, ok bool) {
	p, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	p = p.Simplify()
	parts := []*syntax.Regexp{p}
	if p.Op == syntax.OpConcat {
		parts = p.Sub
	}
	begins := len(parts) > 0 && (parts[0].Op == syntax.OpBeginText || parts[0].Op == syntax.OpBeginLine)
	if begins {
		parts = parts[1:]
	}
	n := len(parts)
	ends := n > 0 && (parts[n-1].Op == syntax.OpEndText || parts[n-1].Op == syntax.OpEndLine)
	if ends {
		parts = parts[:n-1]
	}
	var out []string
	if !begins {
		out = append(out, "char*")
	}
	for _, part := range parts {
		text, ok := asGBNF(part, 0)
		if !ok {
			return "", false
		}
		out = append(out, text)
	}
	if !ends {
		out = append(out, "char*")
	}
	if len(out) == 0 {
		out = []string{`""`}
	}
	body = strings.Join(out, " ")
	return body, len(body) <= 4*maxPattern
}

func asGBNF(p *syntax.Regexp, depth int) (string, bool) {
	if depth > maxDepth {
		return "", false
	}
	var subs []string
	for _, s := range p.Sub {
		text, ok := asGBNF(s, depth+1)
		if !ok {
			return "", false
		}
		subs = append(subs, text)
	}
	switch p.Op {
	case syntax.OpEmptyMatch:
		return `""`, true
	case syntax.OpLiteral:
		return literal(p.Rune, p.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return class(p.Rune)
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		return "char", true
	case syntax.OpCapture:
		return subs[0], true
	case syntax.OpConcat:
		return "(" + strings.Join(subs, " ") + ")", true
	case syntax.OpAlternate:
		return "(" + strings.Join(subs, " | ") + ")", true
	case syntax.OpStar:
		return "(" + subs[0] + ")*", true
	case syntax.OpPlus:
		return "(" + subs[0] + ")+", true
	case syntax.OpQuest:
		return "(" + subs[0] + ")?", true
	}
	return "", false // anchors within, word boundaries
}

// literal is text as it stands in JSON.
func literal(runes []rune, anyCase bool) (string, bool) {
	if !anyCase {
		for _, r := range runes {
			if !plain(r) {
				return "", false
			}
		}
		return Literal(string(runes)), true
	}
	var out []string
	for _, r := range runes {
		text, ok := class([]rune{unicode.ToLower(r), unicode.ToLower(r), unicode.ToUpper(r), unicode.ToUpper(r)})
		if !ok {
			return "", false
		}
		out = append(out, text)
	}
	return strings.Join(out, " "), true
}

// plain tells whether a rune stands in JSON's strings as it is.
func plain(r rune) bool { return r >= 0x20 && r != '"' && r != '\\' && r != 0x7F }

// class is a set of runes, given as pairs, without those that JSON escapes.
func class(pairs []rune) (string, bool) {
	holes := []rune{'"', '\\', 0x7F}
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		from, to := max(pairs[i], 0x20), pairs[i+1]
		for _, h := range holes {
			if h < from || h > to {
				continue
			}
			if from < h {
				fmt.Fprintf(&b, "%s-%s", hex(from), hex(h-1))
			}
			from = h + 1
		}
		if from <= to {
			fmt.Fprintf(&b, "%s-%s", hex(from), hex(to))
		}
	}
	if b.Len() == 0 || slices.Contains(pairs, unicode.MaxRune) && len(pairs) > 64 {
		return "", false
	}
	return "[" + b.String() + "]", true
}

func hex(r rune) string { return fmt.Sprintf(`\U%08X`, r) }
