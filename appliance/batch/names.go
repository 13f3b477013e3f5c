package batch

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// maxNameChars bounds an element of a path in an archive: file systems allow 255 bytes,
// and characters have up to four.
const maxNameChars = 60

// cleanName returns a name that every file system accepts.
func cleanName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if all := []rune(clean); len(all) > maxNameChars {
		end := []rune(path.Ext(clean))
		end = end[:min(len(end), 8)]
		clean = string(all[:maxNameChars-len(end)]) + string(end)
	}
	if clean = strings.TrimRight(strings.TrimSpace(clean), ". "); strings.Trim(clean, ".") == "" {
		return "_"
	}
	return clean
}

// cleanPath cleans each element of a path.
func cleanPath(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = cleanName(parts[i])
	}
	return path.Join(parts...)
}

// uniqueNames are the names that were given out, in small letters.
type uniqueNames map[string]bool

// next returns a name that was not given out before: the name itself, or with a number.
func (u uniqueNames) next(name string) string {
	name = cleanPath(name)
	unique := name
	for n := 2; u[strings.ToLower(unique)]; n++ {
		unique = fmt.Sprintf("%s_%d", name, n)
	}
	u[strings.ToLower(unique)] = true
	return unique
}
