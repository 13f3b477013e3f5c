package text

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The files of words are one for each language: a list a paragraph, by its name, and a word a
// line, with what is said for it behind "=" where it stands for another.
//
//go:embed words/*.txt
var wordFiles embed.FS

// A list is a list of words in their order, and what is said for each.
type list struct {
	words []string
	said  map[string]string
}

func (l list) has(word string) bool { _, ok := l.said[word]; return ok }

// pattern matches any word of the list, the longest first.
func (l list) pattern() string {
	words := slices.Clone(l.words)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return "(?:" + strings.Join(words, "|") + ")"
}

// listed is a list by its language and name.
func listed(language, name string) list { return allLists()[language][name] }

// stops reports what a full stop behind a word means.
func stops(meaning, word string) bool { return listed("stops", meaning).has(word) }

var allLists = sync.OnceValue(func() map[string]map[string]list {
	all := map[string]map[string]list{}
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, f := range files {
		data, err := wordFiles.ReadFile("words/" + f.Name())
		if err != nil {
			panic(err)
		}
		lists, name := map[string]list{}, ""
		all[strings.TrimSuffix(f.Name(), ".txt")] = lists
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSuffix(line, "\n")
			if head, ok := strings.CutSuffix(line, ":"); ok && !strings.Contains(line, "=") {
				name = head
				lists[name] = list{said: map[string]string{}}
			} else if line != "" && !strings.HasPrefix(line, "# ") {
				word, said, _ := strings.Cut(line[1:], "=") // a sign may be "=" itself
				word = line[:1] + word
				l := lists[name]
				l.said[word] = said
				l.words = append(l.words, word)
				lists[name] = l
			}
		}
	}
	return all
})

// A wordList is a few words between single spaces, with one in front and behind.
type wordList string

func (l wordList) has(word string) bool { return strings.Contains(string(l), " "+word+" ") }
