package reply

import (
	"errors"
	"strings"
	"unicode"
)

// ErrSilent is what a model has failed with that was asked and wrote nothing
// that can be said: no word, or signs alone ("#").
var ErrSilent = errors.New("the language model wrote nothing that can be said")

// mute reports whether a text has nothing to be said: no letter and no number.
func mute(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}
