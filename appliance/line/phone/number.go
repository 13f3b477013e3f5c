package phone

import "strings"

// callerNumber returns a number as E.164 where that can be told: with a country code, after + or 00. Other
// digits, and names of SIP users, stay as the trunk gave them.
func callerNumber(from string) string {
	after, ok := strings.CutPrefix(from, "00")
	if ok && len(after) >= minInternational && strings.Trim(after, "0123456789") == "" {
		return "+" + after
	}
	return from
}

// minInternational is the fewest digits behind 00 for it to be the international prefix: the shortest
// national numbers with their country codes. An internal extension such as 007 stays as it is.
const minInternational = 7
