package language

import "strings"

// AsksForGroups reports whether a text, in any language of the table, asks for something that people say in
// groups: a number, a code, an address, a spelled name.
func AsksForGroups(text string) bool {
	for _, word := range strings.Fields(Plain(text)) {
		for tag, l := range languages {
			for _, w := range l.groups {
				compound := (tag == "de" || tag == "nl") && len(w) > 4 && strings.HasSuffix(word, w)
				if word == w || compound {
					return true
				}
			}
		}
	}
	return false
}
