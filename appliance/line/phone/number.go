package phone

import "strings"

// callerNumber returns a caller's number as E.164 where that can be told: with a country code, after + or
// 00. Other digits stay as the trunk gave them. Names that stand for a withheld number become empty.
func callerNumber(from string) string {
	n := strings.TrimSpace(from)
	switch strings.ToLower(n) {
	case "anonymous", "unknown", "restricted", "unavailable", "private", "withheld", "anonymous@anonymous.invalid":
		return ""
	}
	plain := strings.NewReplacer(" ", "", "-", "", ".", "", "/", "", "(", "", ")", "").Replace(n)
	digits, plus := strings.CutPrefix(plain, "+")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return n // the name of a SIP user
	}
	if after, ok := strings.CutPrefix(digits, "00"); !plus && ok && len(after) >= minInternational {
		return "+" + after
	}
	return plain
}

// minInternational is the fewest digits behind 00 for it to be the international prefix: the shortest
// national numbers with their country codes. An internal extension such as 007 stays as it is.
const minInternational = 7
