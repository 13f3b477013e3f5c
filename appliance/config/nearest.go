package config

import (
	"strings"

	"parley/internal/levenshtein"
)

// Nearest returns the candidate that name most likely meant, and "" if none is similar: at
// most a third of the letters may differ.
func Nearest(name string, candidates []string) string {
	best, distance := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := levenshtein.Distance([]byte(strings.ToLower(name)), []byte(strings.ToLower(c))); d < distance {
			best, distance = c, d
		}
	}
	return best
}
