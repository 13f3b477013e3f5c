package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A Readable is a request body that is parsed by its read method.
type Readable[T any] interface{ read(object) T }

// Parse parses a request body. It does not check whether the things that the body
// refers to exist. The error is an ErrMalformed or an ErrInvalid.
func Parse[T Readable[T]](data []byte) (T, error) {
	var body T
	return parseBody(data, body.read)
}

// parseBody parses a request body with read, which notes problems. The error is
// an ErrMalformed for a body that does not fit its schema, and an ErrInvalid for
// one that fits and has a value that is not allowed.
func parseBody[T any](data []byte, read func(object) T) (T, error) {
	var none T
	var problems []ValidationError
	if msg := notJSON(data); msg != "" {
		return none, bodyError([]ValidationError{{Type: "malformed", Msg: msg}})
	}
	o := readObject(nil, data, &problems, false)
	if len(problems) > 0 {
		return none, bodyError(problems)
	}
	v := read(o)
	if len(problems) > 0 {
		return none, bodyError(problems)
	}
	return v, nil
}

// notJSON returns why data is not a JSON text, or "".
func notJSON(data []byte) string {
	var any json.RawMessage
	err := json.Unmarshal(data, &any)
	syntax, broken := errors.AsType[*json.SyntaxError](err)
	switch {
	case len(data) == 0:
		return "the body is empty; expected a JSON object"
	case !utf8.Valid(data):
		return "the body is not UTF-8"
	case broken:
		return fmt.Sprintf("not valid JSON at byte %d: %s", syntax.Offset, syntax.Error())
	case err != nil:
		return "not valid JSON: " + err.Error()
	}
	if at := loneSurrogate(data); at >= 0 {
		return fmt.Sprintf("at byte %d: %s is half of a surrogate pair without the other half", at,
			data[at:at+len(`\ud83d`)])
	}
	return ""
}

// loneSurrogate returns the index of a JSON escape of one half of a surrogate
// pair without the other, or -1. Go strings cannot hold it: the client would read
// back another character than it sent.
func loneSurrogate(data []byte) int {
	for i := 0; i < len(data); i++ {
		next := bytes.IndexByte(data[i:], '\\')
		if next < 0 {
			break
		}
		i += next
		switch one := escaped(data[i:]); {
		case !utf16.IsSurrogate(one):
			i++ // the escaped character, which may be a backslash
		case utf16.DecodeRune(one, escaped(data[i+len(`\ud83d`):])) == unicode.ReplacementChar:
			return i
		default:
			i += len(`\ud83d\ude0`)
		}
	}
	return -1
}

// escaped returns the UTF-16 unit of an escape such as \ud83d at the start of
// text, or 0.
func escaped(text []byte) rune {
	if len(text) < len(`\ud83d`) || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// bodyError makes one error of a body's problems.
func bodyError(problems []ValidationError) error {
	if slices.ContainsFunc(problems, func(p ValidationError) bool { return p.Type != "wrong_value" }) {
		return malformed(problems)
	}
	first := problems[0]
	why := []string{first.Msg}
	for _, p := range problems[1:min(len(problems), maxProblems)] {
		why = append(why, p.String())
	}
	return ErrInvalid{Field: cmp.Or(path(first.Loc), "body"), Why: strings.Join(why, "; ")}
}

// maxProblems bounds the problems in one error; a body may have thousands.
const maxProblems = 100

// malformed returns the error for a body that does not fit its schema.
func malformed(problems []ValidationError) error {
	problems = problems[:min(len(problems), maxProblems)]
	for i, p := range problems {
		loc := []any{"body"}
		for _, step := range p.Loc {
			if name, ok := step.(string); ok {
				step = Clip(name) // it may be megabytes
			}
			loc = append(loc, step)
		}
		problems[i].Loc, problems[i].Msg = loc, ClipError(p.Msg)
	}
	return ErrMalformed{Detail: problems}
}

// label parses a required name of one line. It may have graphic characters,
// spaces of other scripts, and the two joiners that combine characters of scripts
// and emoji.
func (o object) label(name string, most int) string {
	o.require(name)
	s := o.nonBlank(name, most)
	o.noteFirst(name, s, "has the character %U, which cannot be printed",
		func(r rune) bool { return !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' })
	return s
}

// noteFirst notes the first character of text that is bad, and reports whether
// there is none.
func (o object) noteFirst(name, text, why string, bad func(rune) bool) bool {
	for _, r := range text {
		if bad(r) {
			o.note(name, "wrong_value", fmt.Sprintf(why, r))
			return false
		}
	}
	return true
}

// multiline parses a text of several lines. It allows all white space among the
// control characters: text pasted from Word breaks lines with vertical tabs, and
// text from a PDF breaks pages with form feeds.
func (o object) multiline(name string, most int) string {
	s := o.text(name, most)
	o.noteFirst(name, s, "has the control character %U", isControlInText)
	return s
}

func isControlInText(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }

// nonBlank parses a text that is not blank.
func (o object) nonBlank(name string, most int) string {
	s := o.textOrNil(name, most)
	o.expect(name, Shape{Low: bound(1)})
	if s == nil {
		return ""
	}
	if strings.TrimSpace(*s) == "" {
		o.note(name, "wrong_value", "empty; it needs at least one character other than a space")
	}
	return *s
}

func (o object) integerOrNil(name string, low, high int) *int {
	return orNil(o, name, o.integer(name, low, high))
}

func (o object) booleanOrNil(name string) *bool {
	return orNil(o, name, o.boolean(name))
}

// orNil returns a pointer to what was parsed, or nil if the field is absent.
func orNil[T any](o object, name string, read T) *T {
	if _, ok := o.get(name); !ok {
		return nil
	}
	return &read
}

// numberOrNil parses a number in [low, high].
func (o object) numberOrNil(name string, low, high float64) *float64 {
	o.expect(name, Shape{Kind: "number", Low: bound(low), High: bound(high)})
	raw, ok := o.get(name)
	if !ok {
		return nil
	}
	if s := []byte(o.scalar(raw)); json.Valid(s) { // in a query every value is a string
		raw = s
	}
	if kindOf(raw) != "number" {
		o.wrongType(name, "a number", raw)
		return nil
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || v < low || v > high || math.IsNaN(v) {
		o.note(name, "wrong_value", fmt.Sprintf("%s is out of range; allowed: %g to %g", excerpt(raw), low, high))
	}
	return &v
}

// choices parses a list of strings, each one of allowed. Duplicates and null
// entries are dropped.
func choices[T ~string](o object, name string, allowed ...T) []T {
	o.expect(name, Shape{
		Kind:  "array",
		Items: &Shape{Kind: "string", Words: asStrings(allowed)},
		High:  bound(len(allowed)),
	})
	items := o.items(name, len(allowed))
	if items == nil {
		return nil
	}
	chosen := make([]T, 0, len(items))
	for i, item := range items {
		var v T
		switch {
		case kindOf(item) == "null":
		case json.Unmarshal(item, &v) != nil:
			o.in(name).note(i, "wrong_type", "expected a string, got "+excerpt(item))
		case !slices.Contains(allowed, v):
			o.in(name).note(i, "wrong_value",
				fmt.Sprintf("%q is not allowed; allowed: %s", Clip(string(v)), joinWords(allowed)))
		case !slices.Contains(chosen, v):
			chosen = append(chosen, v)
		}
	}
	return chosen
}

// in returns an object whose notes are located below the field.
func (o object) in(name string) object {
	o.loc = o.at(name)
	return o
}
