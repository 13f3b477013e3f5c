package text

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersAreReadHoweverTheyAreWritten(t *testing.T) {
	for in, want := range map[string]string{
		"Twenty-five dollars":                    "25 dollars",
		"twenty five, thirty":                    "25 30",
		"at 5:30 PM":                             "at 5 30 pm",
		"half past nine":                         "half past 9",
		"one hundred and twenty-five":            "125",
		"two thousand and five people":           "2005 people",
		"nineteen ninety":                        "19 90",
		"twelve fifty":                           "12 50",
		"$12.50.":                                "12.5",
		"1,250 seats, 3,5":                       "1250 seats 3 5",
		"The 3rd floor, the third, twenty-first": "the 3 floor the 3 21",
		"call five five five oh one":             "call 55501",
		"ten, twenty and thirty":                 "10 20 and 30",
		"a hundred":                              "a hundred",
		"It’s noon":                              "it's 12",
		"three hundred thousand":                 "300000",
		"room 12a":                               "room 12 a",
		"7 am-9 pm":                              "7 am 9 pm",
		"6. 7":                                   "6 7",
		"1.6.2026":                               "1 6 2026",
		"Straße 5, zwölf":                        "straße 5 zwölf",
		"":                                       "",
	} {
		if got := Digits(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestANumberKnowsItsNeighbours(t *testing.T) {
	got := Numbers("It costs $14, on the second floor.")
	want := []Number{{
		Value:  14,
		Money:  true,
		Before: "costs",
		After:  "on",
	}, {
		Value:   2,
		Word:    true,
		Ordinal: true,
		Before:  "the",
		After:   "floor",
	}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v", got)
	}
}

// What Spoken says of a whole number is read as that number.
func TestWhatIsSpokenIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 999_999).Draw(t, "n")
		said := english{}.cardinal(strconv.Itoa(n))
		if got := Numbers(said); len(got) != 1 || got[0].Value != float64(n) {
			t.Fatalf("%d, said %q, is read as %+v", n, said, got)
		}
	})
}

func TestReadingNumbersNeverPanics(t *testing.T) {
	s := rapid.String()
	rapid.Check(t, func(t *rapid.T) { Numbers(s.Draw(t, "s")) })
}
