package expression

import (
	_ "embed"
	"strings"
	"sync"
)

// englishList has the words that English comments often have in lower case, one a line.
//
//go:embed weights/english.txt
var englishList string

var englishWords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(englishList) {
		all[word] = true
	}
	return all
})

// CommonEnglish reports whether a word, in any case, is a common word of English that is not a name.
func CommonEnglish(word string) bool {
	return englishWords()[strings.ReplaceAll(strings.ToLower(word), "’", "'")]
}
