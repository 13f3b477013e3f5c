package text

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// wordFiles has a file of words for each language. A list is a paragraph that begins with its
// name, with one word a line, and the spoken form after "=" where it differs.
//
//go:embed words/*.txt
var wordFiles embed.FS

// list is a list of words in order, with the spoken form of each.
type list struct {
	words  []string
	spoken map[string]string
}

func (l list) has(word string) bool { _, ok := l.spoken[word]; return ok }

// pattern returns a pattern that matches any word of the list, the longest first.
func (l list) pattern() string {
	words := slices.Clone(l.words)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return "(?:" + strings.Join(words, "|") + ")"
}

// listed returns a list by language and name.
func listed(language, name string) list { return allLists()[language][name] }

// stops reports whether a full stop after a word has a meaning.
func stops(meaning, word string) bool { return listed("stops", meaning).has(word) }

var allLists = sync.OnceValue(func() map[string]map[string]list {
	all := map[string]map[string]list{}
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		panic(err) // embedded in the program
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
				lists[name] = list{spoken: map[string]string{}}
			} else if line != "" && !strings.HasPrefix(line, "# ") {
				word, said, _ := strings.Cut(line[1:], "=") // the word itself may be "="
				word = line[:1] + word
				l := lists[name]
				l.spoken[word] = said
				l.words = append(l.words, word)
				lists[name] = l
			}
		}
	}
	return all
})

// wordList is a few words with a space before and after each.
type wordList string

func (l wordList) has(word string) bool { return strings.Contains(string(l), " "+word+" ") }
