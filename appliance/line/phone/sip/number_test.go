package sip

import (
	"strings"
	"testing"
)

func TestNumberOfTheCaller(t *testing.T) {
	for _, c := range []struct {
		fields []string
		number string
	}{
		{[]string{`From: "Ada" <sip:1001@h>;tag=1`}, "1001"},
		{[]string{`From: <sip:+49-30-123456@h;user=phone>;tag=1`}, "+4930123456"},
		{[]string{`From: sip:%2B4930123456@h;tag=1`}, "+4930123456"},
		{[]string{`From: <tel:+49(30)12.34;phone-context=x>;tag=1`}, "+49301234"},
		{[]string{`From: "4930" <sip:4930;cpc=ordinary@h>;tag=1`}, "4930"},
		{[]string{`From: "Anonymous" <sip:anonymous@anonymous.invalid>;tag=1`}, ""},
		{[]string{`From: <sip:h>;tag=1`}, ""},
		{[]string{`From: "x" <sip:anonymous@anonymous.invalid>;tag=1`, "P-Asserted-Identity: <sip:+4930@h>",
			"Privacy: id"}, ""},
		{[]string{`From: <sip:trunk@h>;tag=1`, `P-Asserted-Identity: "Bob, Jr" <sip:+4930@h>, <tel:+4931>`},
			"+4930"},
		{[]string{`From: <sip:trunk@h>;tag=1`, "P-Asserted-Identity: <tel:+4931>", "Privacy: none"}, "+4931"},
		{[]string{`From: <sip:trunk@h>;tag=1`, `Remote-Party-ID: "Bob" <sip:4930@h>;party=calling;privacy=off`},
			"4930"},
		{[]string{`From: <sip:trunk@h>;tag=1`, `Remote-Party-ID: "Bob" <sip:4930@h>;privacy=full`}, ""},
		{[]string{"From: <sip:\x01\xff" + strings.Repeat("a", 200) + "@h>;tag=1"}, strings.Repeat("a", maxNumber)},
	} {
		req := requestOf(t, "sip:100@box", c.fields...)
		if number := caller(req); number != c.number {
			t.Errorf("%q: the caller is %q; want %q", c.fields, number, c.number)
		}
	}
}

func TestNumberThatWasCalled(t *testing.T) {
	for _, c := range []struct {
		to, registered string
		fields         []string
		want           string
	}{
		{"sip:100@box", "", nil, "100"},
		{"sip:+49-30-100@box;user=phone", "", nil, "+4930100"},
		{"sip:parley@192.0.2.1:5060", "parley", []string{"To: <sip:+4930100@provider>"}, "+4930100"},
		{"sip:parley@192.0.2.1:5060", "parley", []string{"To: <sip:provider>"}, "parley"},
		{"sip:parley@192.0.2.1:5060", "parley", []string{"P-Called-Party-ID: <sip:+4930200@provider>"}, "+4930200"},
		{"tel:+4930300", "", nil, "+4930300"},
		{"sip:box", "", []string{"To: <sip:100@box>"}, "100"},
	} {
		if got := called(requestOf(t, c.to, c.fields...), c.registered); got != c.want {
			t.Errorf("%s %q: called is %q; want %q", c.to, c.fields, got, c.want)
		}
	}
}
