package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// mostInteger is the largest integer that a grammar writes: sixteen digits.
const mostInteger = 9_999_999_999_999_999

// integer is the rule of an integer within the bounds of s.
func (w *writer) integer(s node, at string) (string, error) {
	least, most, err := s.integers(at)
	if err != nil {
		return "", err
	}
	if least == -mostInteger && most == mostInteger {
		return w.basic("integer"), nil
	}
	if least > most {
		return "", fault(at, "no integer is at least %d and at most %d", least, most)
	}
	return w.add(strings.Join(integersBetween(least, most), " | ")), nil
}

// integers are the bounds of s for an integer.
func (s node) integers(at string) (least, most int64, err error) {
	least, most = -mostInteger, mostInteger
	for _, b := range []struct {
		keyword string
		bound   func(float64)
	}{
		{"minimum", func(x float64) { least = max(least, whole(math.Ceil(x))) }},
		{"maximum", func(x float64) { most = min(most, whole(math.Floor(x))) }},
		{"exclusiveMinimum", func(x float64) { least = max(least, whole(math.Floor(x))+1) }},
		{"exclusiveMaximum", func(x float64) { most = min(most, whole(math.Ceil(x))-1) }},
	} {
		raw, there := s.other[b.keyword]
		if !there {
			continue
		}
		var x float64
		if err := json.Unmarshal(raw, &x); err != nil || string(raw) == "null" {
			return 0, 0, fault(at+"."+b.keyword, "%.80s is not allowed; a number is", raw)
		}
		b.bound(x)
	}
	return least, most, nil
}

// number is the rule of a number within the bounds of s, as far as they are
// integers from 0 on; what is beyond is checked.
func (w *writer) number(s node, at string) (string, error) {
	least, most, err := s.integers(at) // the least and the most integer
	if err != nil {
		return "", err
	}
	const fraction = `("." [0-9]{1,15})?`
	switch {
	case least > most: // 0.5 to 0.7
		return w.basic("number"), nil
	case least < 0:
		return w.basic("number"), nil
	case most == mostInteger && least == 0:
		return w.add(`("0" | [1-9] [0-9]{0,15}) ` + fraction), nil
	case most == mostInteger || s.other["exclusiveMaximum"] != nil:
		return w.add("(" + strings.Join(integersBetween(least, most), " | ") + ") " + fraction), nil
	case least == most:
		return w.add(Literal(strconv.FormatInt(most, 10))), nil
	}
	return w.add("(" + strings.Join(integersBetween(least, most-1), " | ") + ") " + fraction + " | " +
		Literal(strconv.FormatInt(most, 10))), nil
}

// whole is x as far as integers go here, and one beyond.
func whole(x float64) int64 {
	return int64(min(max(x, -mostInteger-1), mostInteger+1))
}

// integersBetween are the ways to write the integers from least to most, in GBNF.
func integersBetween(least, most int64) (ways []string) {
	if least < 0 {
		for _, way := range naturalsBetween(max(-most, 1), -least) {
			ways = append(ways, `"-" `+way)
		}
	}
	if most >= 0 {
		ways = append(ways, naturalsBetween(max(least, 0), most)...)
	}
	return ways
}

// naturalsBetween is integersBetween from 0 on: those of one length after the
// other.
func naturalsBetween(least, most int64) (ways []string) {
	for from := least; ; {
		digits := strconv.FormatInt(from, 10)
		to := strings.Repeat("9", len(digits))
		if end := strconv.FormatInt(most, 10); len(end) == len(digits) {
			return append(ways, digitsBetween(digits, end)...)
		}
		ways = append(ways, digitsBetween(digits, to)...)
		from = int64(math.Pow10(len(digits)))
	}
}

// digitsBetween are the ways to write the numbers from least to most, which have
// as many digits.
func digitsBetween(least, most string) (ways []string) {
	n := len(least)
	if strings.Trim(least, "0") == "" && strings.Trim(most, "9") == "" {
		switch n {
		case 0:
			return []string{""}
		case 1:
			return []string{"[0-9]"}
		}
		return []string{fmt.Sprintf("[0-9]{%d}", n)}
	}
	begin := func(digit string, rest []string) {
		for _, way := range rest {
			ways = append(ways, strings.TrimSpace(digit+" "+way))
		}
	}
	one := func(digit byte) string { return `"` + string(digit) + `"` }
	first, last := least[0], most[0]
	if first == last {
		begin(one(first), digitsBetween(least[1:], most[1:]))
		return ways
	}
	zeros, nines := strings.Repeat("0", n-1), strings.Repeat("9", n-1)
	if least[1:] != zeros {
		begin(one(first), digitsBetween(least[1:], nines))
		first++
	}
	beyond := most[1:] != nines
	if beyond {
		last--
	}
	switch {
	case first == last:
		begin(one(first), digitsBetween(zeros, nines))
	case first < last:
		begin(fmt.Sprintf("[%c-%c]", first, last), digitsBetween(zeros, nines))
	}
	if beyond {
		begin(one(most[0]), digitsBetween(zeros, most[1:]))
	}
	return ways
}
