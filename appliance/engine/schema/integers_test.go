package schema

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// asRegexp reads the ways to write integers as a regular expression: they use of
// GBNF only what is written alike there, but for quotes and spaces.
func asRegexp(t interface{ Fatal(...any) }, ways []string) *regexp.Regexp {
	plain := strings.NewReplacer(`"`, "", " ", "").Replace(strings.Join(ways, "|"))
	r, err := regexp.Compile("^(" + plain + ")$")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestIntegersAreWrittenWithinTheirBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		side := rapid.OneOf(rapid.Int64Range(-120, 120), rapid.Int64Range(-mostInteger, mostInteger))
		a, b := side.Draw(rt, "a"), side.Draw(rt, "b")
		least, most := min(a, b), max(a, b)
		is := asRegexp(rt, integersBetween(least, most))
		check := func(n int64) {
			if in := least <= n && n <= most; is.MatchString(strconv.FormatInt(n, 10)) != in {
				rt.Fatalf("%d from %d to %d: %v, by %s", n, least, most, !in, is)
			}
		}
		for _, near := range []int64{least, most, 0} {
			for n := near - 12; n <= near+12; n++ {
				check(n)
			}
		}
		check(rapid.Int64Range(-mostInteger, mostInteger).Draw(rt, "n"))
		for _, not := range []string{"", "-", "-0", "00", "01", "1.0", "+1"} {
			if is.MatchString(not) {
				rt.Fatalf("%q is taken for an integer by %s", not, is)
			}
		}
	})
}

func TestTheBoundsOfIntegersAreRead(t *testing.T) {
	for text, want := range map[string]struct{ least, most int64 }{
		`{}`:                         {-mostInteger, mostInteger},
		`{"minimum":1,"maximum":12}`: {1, 12},
		`{"minimum":0.5}`:            {1, mostInteger},
		`{"maximum":-0.5}`:           {-mostInteger, -1},
		`{"exclusiveMinimum":1}`:     {2, mostInteger},
		`{"exclusiveMaximum":1}`:     {-mostInteger, 0},
		`{"exclusiveMinimum":1.5}`:   {2, mostInteger},
		`{"exclusiveMaximum":1.5}`:   {-mostInteger, 1},
		`{"minimum":3,"exclusiveMinimum":3,"maximum":1e300}`: {4, mostInteger},
	} {
		var s node
		if err := json.Unmarshal([]byte(text), &s.other); err != nil {
			t.Fatal(err)
		}
		if least, most, err := s.integers("parameters"); err != nil || least != want.least || most != want.most {
			t.Errorf("%s: %d to %d, %v; want %d to %d", text, least, most, err, want.least, want.most)
		}
	}
	for text, want := range map[string]string{
		`{"type":"integer","minimum":5,"maximum":4}`: "parameters.properties.a: no integer is at least 5 " +
			"and at most 4",
		`{"type":"integer","minimum":1.2,"maximum":1.8}`: "parameters.properties.a: no integer is at least 2 " +
			"and at most 1",
		`{"type":"integer","minimum":"5"}`: `parameters.properties.a.minimum: "5" is not ` +
			`allowed; a number is`,
		`{"type":"integer","minimum":2,"exclusiveMinimum":true}`: "parameters.properties.a.exclusiveMinimum: true is " +
			"not allowed; a number is",
		`{"type":"integer","maximum":null}`: "parameters.properties.a.maximum: null is not " +
			"allowed; a number is",
		`{"type":"integer","minimum":1e300}`: "no integer is at least",
	} {
		_, err := Read("t", []byte(`{"properties":{"a":`+text+`}}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
