package text

import "strings"

func (e english) versionRules() []rule {
	return []rule{
		doubtfulRule(digits, `(?i)\b(v(?:ersion)?\.? ?)(\d+(?:\.\d+)*)([a-z]+\d*)?\b(?:-(rc|alpha|beta|dev|pre)[.-]?(\d{0,3})\b)?`, func(m match) (string, bool) {
			if !m.apart() || strings.HasPrefix(m.after(), "/") {
				return "", false
			}
			stage := strings.ToLower(m.group(4))
			if stage == "rc" {
				stage = "R-C"
			}
			return strings.Join(strings.Fields("version "+e.sayVersion(m.group(2))+" "+m.group(3)+" "+stage+" "+m.group(5)), " "), true
		}),
		newRule(".", `\b\d+(?:\.\d+){2,}\b`, func(m match) string { return e.sayVersion(m.group(0)) }),
	}
}

// sayVersion says the numbers of a version with points between them.
func (e english) sayVersion(v string) string {
	var parts []string
	for p := range strings.SplitSeq(v, ".") {
		parts = append(parts, e.sayShort(p))
	}
	return strings.Join(parts, " point ")
}
