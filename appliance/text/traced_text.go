package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// traced is a text that knows, for each of its bytes, which bytes of the written text it stands
// for, however often it was rewritten.
type traced struct {
	s  string
	of []origin // one for each byte of s
}

// origin is the range of the written text that a byte stands for, and the lexicon entry that
// gives its pronunciation, if any.
type origin struct {
	from, to int
	by       *pronunciation
}

// trace returns s as written. Invalid UTF-8 becomes spaces.
func trace(s string) traced {
	var w tracer
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		o := origin{from: i, to: i + n}
		if r == utf8.RuneError && n == 1 {
			r = ' '
		}
		w.put(string(r), o)
		i += n
	}
	return w.text()
}

// slice returns t.s[i:j].
func (t traced) slice(i, j int) traced { return traced{t.s[i:j], t.of[i:j]} }

// origin returns the range that the bytes i to j stand for together.
func (t traced) origin(i, j int) origin {
	if i == j { // nothing: the position between its neighbours
		if i < len(t.of) {
			return origin{from: t.of[i].from, to: t.of[i].from}
		}
		if i > 0 {
			return origin{from: t.of[i-1].to, to: t.of[i-1].to}
		}
		return origin{}
	}
	all := t.of[i]
	for _, o := range t.of[i+1 : j] {
		all.from, all.to = min(all.from, o.from), max(all.to, o.to)
	}
	all.by = nil
	return all
}

// pronounced reports whether a lexicon gives the pronunciation of any of the bytes i to j.
func (t traced) pronounced(i, j int) bool {
	for _, o := range t.of[i:j] {
		if o.by != nil {
			return true
		}
	}
	return false
}

// runes replaces each rune by mapped, or drops it if that is negative.
func (t traced) runes(mapped func(rune) rune) traced {
	var w tracer
	same := true
	for i, r := range t.s {
		m := mapped(r)
		if m >= 0 {
			w.put(string(m), t.of[i])
		}
		same = same && m == r
	}
	if same {
		return t
	}
	return w.text()
}

// composed returns t in Unicode normalization form C.
func (t traced) composed() traced {
	if norm.NFC.IsNormalString(t.s) {
		return t
	}
	var w tracer
	for i := 0; i < len(t.s); {
		n := norm.NFC.NextBoundaryInString(t.s[i:], true)
		o := t.origin(i, i+n)
		o.by = t.of[i].by
		w.put(norm.NFC.String(t.s[i:i+n]), o)
		i += n
	}
	return w.text()
}

// replace rewrites each match (as returned by regexp's FindAll…Index) for which say returns
// true, except where a lexicon gives the pronunciation.
func (t traced) replace(found [][]int, say func(m match) (string, bool)) traced {
	var all []replacement
	for _, at := range found {
		if said, ok := say(match{t.s, at}); ok {
			c := changed(t.s[at[0]:at[1]], said)
			if i, j := at[0]+c.head, at[1]-c.tail; !t.pronounced(i, j) {
				all = append(all, replacement{i, j, c.text, t.origin(i, j)})
			}
		}
	}
	return t.with(all)
}

// replacement is the spoken form of the bytes i to j.
type replacement struct {
	i, j int
	text string
	of   origin
}

// with applies replacements, which must be in order.
func (t traced) with(places []replacement) traced {
	if len(places) == 0 {
		return t
	}
	var w tracer
	done := 0
	for _, p := range places {
		w.copy(t, done, p.i)
		w.put(p.text, p.of)
		done = p.j
	}
	w.copy(t, done, len(t.s))
	return w.text()
}

// change is the part of a text that a rule has rewritten: head bytes at its beginning and tail
// bytes at its end are the same.
type change struct {
	head, tail int
	text       string
}

// changed compares whole words, so that the spoken form of "Room 101" stands for the number
// alone.
func changed(was, said string) change {
	head := 0
	for i := 0; i < len(was) && i < len(said) && was[i] == said[i]; i++ {
		if was[i] == ' ' {
			head = i + 1
		}
	}
	a, b := was[head:], said[head:]
	tail := 0
	for i := 1; i <= len(a) && i <= len(b) && a[len(a)-i] == b[len(b)-i]; i++ {
		if a[len(a)-i] == ' ' {
			tail = i
		}
	}
	c := change{head, tail, said[head : len(said)-tail]}
	if head+tail == len(was) && strings.ContainsFunc(c.text, alnum) {
		return change{0, 0, said} // words that were only inserted stand for the whole
	}
	return c
}

// tracer builds a traced text.
type tracer struct {
	b  strings.Builder
	of []origin
}

// copy appends t.s[i:j].
func (tr *tracer) copy(t traced, i, j int) {
	tr.b.WriteString(t.s[i:j])
	tr.of = append(tr.of, t.of[i:j]...)
}

// put appends text that stands for o.
func (tr *tracer) put(said string, o origin) {
	tr.b.WriteString(said)
	for range len(said) {
		tr.of = append(tr.of, o)
	}
}

func (tr *tracer) text() traced { return traced{tr.b.String(), tr.of} }

// tidy replaces all white space and control characters by single spaces.
func (t traced) tidy() traced {
	t = t.runes(plainSpace)
	if !strings.HasPrefix(t.s, " ") && !strings.HasSuffix(t.s, " ") && !strings.Contains(t.s, "  ") {
		return t
	}
	var w tracer
	for i := range len(t.s) {
		if t.s[i] != ' ' || i > 0 && t.s[i-1] != ' ' {
			w.copy(t, i, i+1)
		}
	}
	t = w.text()
	if n := len(t.s); n > 0 && t.s[n-1] == ' ' {
		t = t.slice(0, n-1)
	}
	return t
}

// plainSpace maps invisible characters to a space, and characters without width to nothing.
func plainSpace(r rune) rune {
	switch {
	case r == '\ufeff', r == '\u200b', r == '\u00ad': // invisible, inside words
		return -1
	case unicode.IsSpace(r), unicode.IsControl(r):
		return ' '
	}
	return r
}
