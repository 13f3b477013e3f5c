package text

import (
	"cmp"
	"math/bits"
	"regexp/syntax"
	"slices"
	"unicode"
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte) { s[b>>6] |= 1 << (b & 63) }

func (s byteSet) meets(t byteSet) bool { return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0 }

func bySize(s, t byteSet) int {
	size := func(s byteSet) (n int) {
		for _, word := range s {
			n += bits.OnesCount64(word)
		}
		return n
	}
	return cmp.Compare(size(s), size(t))
}

func bytesOf(text string) (s byteSet) {
	for i := range len(text) {
		s.add(text[i])
	}
	return s
}

// needs returns sets of bytes such that any text that matches the pattern has a byte of each.
// They rule out most rules for most sentences.
func needs(re *syntax.Regexp) (all []byteSet) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			s := bytesOf(string(r)[:1])
			for f := unicode.SimpleFold(r); re.Flags&syntax.FoldCase != 0 && f != r; f = unicode.SimpleFold(f) {
				s.add(string(f)[0])
			}
			all = append(all, s)
		}
	case syntax.OpCharClass:
		all = make([]byteSet, 1)
		for i := 0; i < len(re.Rune); i += 2 {
			for b := int(string(re.Rune[i])[0]); b <= int(string(re.Rune[i+1])[0]); b++ {
				all[0].add(byte(b))
			}
		}
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat, syntax.OpRepeat:
		for _, sub := range re.Sub {
			if re.Op != syntax.OpRepeat || re.Min > 0 {
				all = append(all, needs(sub)...)
			}
		}
	case syntax.OpAlternate: // the rarest byte of each alternative
		all = make([]byteSet, 1)
		for _, sub := range re.Sub {
			of := needs(sub)
			if len(of) == 0 {
				return nil
			}
			for i, word := range slices.MinFunc(of, bySize) {
				all[0][i] |= word
			}
		}
	}
	return all
}
