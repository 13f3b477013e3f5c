package remote

import (
	_ "embed"
	"strings"
)

// languageTable has the languages that Whisper knows, with its names for them: servers answer with
// "english" where others have "en".
//
//go:embed languages.tsv
var languageTable string

// languageTag returns the BCP 47 tag of a language that a server names, by its tag or its English
// name, or otherwise if it names none.
func languageTag(named, otherwise string) string {
	named = strings.ToLower(strings.TrimSpace(named))
	if named == "jw" { // Whisper's own tag of Javanese
		return "jv"
	}
	for line := range strings.Lines(languageTable) {
		if tag, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); named == tag || named == name {
			return tag
		}
	}
	return otherwise
}
