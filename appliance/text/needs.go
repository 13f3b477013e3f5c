package text

import (
	"math/bits"
	"regexp/syntax"
	"slices"
	"unicode"
)

// A byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte) { s[b>>6] |= 1 << (b & 63) }

func (s byteSet) size() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s byteSet) meets(t byteSet) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

// bytesOf are the bytes of a text.
func bytesOf(text string) byteSet {
	var s byteSet
	for i := range len(text) {
		s.add(text[i])
	}
	return s
}

// needs are sets of which a text has a byte each if the pattern matches anywhere in it: most
// sentences are spared most rules by them.
func needs(pattern string) []byteSet {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // the first test of this package finds it
	}
	all := needsOf(parsed)
	slices.SortStableFunc(all, func(a, b byteSet) int { return a.size() - b.size() })
	return slices.Clip(all[:min(len(all), 4)])
}

func needsOf(re *syntax.Regexp) []byteSet {
	switch re.Op {
	case syntax.OpLiteral:
		var all []byteSet
		for _, r := range re.Rune {
			var s byteSet
			s.add(string(r)[0])
			for f := unicode.SimpleFold(r); re.Flags&syntax.FoldCase != 0 && f != r; f = unicode.SimpleFold(f) {
				s.add(string(f)[0])
			}
			all = append(all, s)
		}
		return all
	case syntax.OpCharClass:
		var s byteSet
		for i := 0; i < len(re.Rune); i += 2 {
			for b := int(string(re.Rune[i])[0]); b <= int(string(re.Rune[i+1])[0]); b++ {
				s.add(byte(b))
			}
		}
		return []byteSet{s}
	case syntax.OpCapture, syntax.OpPlus:
		return needsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var all []byteSet
		for _, sub := range re.Sub {
			all = append(all, needsOf(sub)...)
		}
		return all
	case syntax.OpAlternate: // the rarest of each
		var any byteSet
		for _, sub := range re.Sub {
			all := needsOf(sub)
			if len(all) == 0 {
				return nil
			}
			rarest := slices.MinFunc(all, func(a, b byteSet) int { return a.size() - b.size() })
			for i := range any {
				any[i] |= rarest[i]
			}
		}
		return []byteSet{any}
	}
	return nil
}
