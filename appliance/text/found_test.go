package text

import (
	"strings"
	"testing"
)

func TestMoneyAndMomentsAreFound(t *testing.T) {
	for s, want := range map[string]string{
		"It costs $12.50 or 20 euros, not EUR 5.":              "$12.50|20 euros|EUR 5",
		"They paid £1.2 million and two hundred dollars.":      "£1.2 million|two hundred dollars",
		"On 3 May 2019, at 10:30 am":                           "3 May 2019|10:30 am",
		"Monday, 5 October and Friday evening":                 "Monday, 5 October|Friday evening",
		"in March 1863, in 1905, since May; May I march?":      "March 1863|1905|May",
		"2015-09-01, July 20, 1969, 8 p.m., noon, 9 o'clock":   "2015-09-01|July 20, 1969|8 p.m.|noon|9 o'clock",
		"Take 1984 steps, 3.5 times, at 5:3, version 1.2.3.":   "",
		"It was the 1990s; I counted to five, or fifty-seven.": "1990s",
		"": "",
	} {
		var found []string
		for _, at := range append(Money(s), Moments(s)...) {
			found = append(found, s[at[0]:at[1]])
		}
		if got := strings.Join(found, "|"); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
