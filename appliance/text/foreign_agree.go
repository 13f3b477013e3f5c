package text

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// foreign_agree.txt has the words by which numbers are said: what is feminine and, of what
// ends alike, masculine (a hyphen stands before an ending); "numbered by" stand before the
// number of a thing, which counts nothing, "no nouns" behind one; "before one" stand before a
// one that counts, whatever follows it; "counted" are counted whatever stands before them.
//
//go:embed foreign_agree.txt
var agreeFile string

// agreeLists are its lists by their names.
var agreeLists = sync.OnceValue(func() map[string]wordList { return namedLists(agreeFile) })

func namedLists(file string) map[string]wordList {
	lists, name := map[string]wordList{}, ""
	for line := range strings.Lines(file) {
		if head, ok := strings.CutSuffix(line, ":\n"); ok {
			name, lists[head] = head, " "
		} else if name != "" && line != "\n" {
			lists[name] += wordList(strings.TrimSpace(line) + " ")
		}
	}
	return lists
}

// hasEnding reports whether a list has a word, or its ending behind a hyphen.
func (l wordList) hasEnding(word string) bool {
	return l.has(word) || slices.ContainsFunc(strings.Fields(string(l)), func(e string) bool {
		return e[0] == '-' && strings.HasSuffix(word, e[1:])
	})
}

// A grammar is how the numbers of a language follow the gender of what they count, which
// eSpeak NG does not know: "41 personas" are "cuarenta y una". It writes a number below a
// million; false where eSpeak NG reads it rightly.
type grammar func(n int, feminine bool, noun string) (string, bool)

var grammars = map[string]grammar{"fr": sayFrench, "es": saySpanish, "pt": sayPortuguese, "it": sayItalian}

// agreement writes the numbers that follow the gender of what they count.
func agreement(code string) rule {
	lists := agreeLists()
	numberedBy, countsNothing := lists["numbered by"], lists["no nouns"]
	oneOf, oftenCounted := lists["before one"], lists["counted"]
	return doubtfulRule(`\b(\d{1,3}(?:[.\x{a0}\x{202f}]\d{3})?|\d{4,6})[ \x{a0}\x{202f}](\pL[\pL-]*)`,
		func(m match) (string, bool) {
			noun, before := strings.ToLower(m.group(2)), strings.TrimRight(m.before(), " \u00a0\u202f")
			last := strings.ToLower(strings.TrimRight(before[strings.LastIndexAny(before, " \u00a0(")+1:], "."))
			stop := strings.ContainsAny(lastRunes(before), ",;:-/+€$£.")
			n := atoi(ungrouped.Replace(m.group(1)))
			switch {
			case m.group(1)[0] == '0', endsWord(m.before()), pointedBefore(m.before()),
				strings.HasSuffix(m.before(), "-"):
				return "", false
			case numberedBy.has(last) && !(stop &&
				!strings.HasSuffix(before, ".")), countsNothing.has(noun), len([]rune(noun)) < 3:
				return "", false
			case n == 1 && !stop && last != "" && !oneOf.hasEnding(last) && !oftenCounted.has(noun):
				return "", false // Apolo 1 despegó
			case n != 1 && noun != "mil" && !strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "x"):
				return "", false
			}
			said, ok := grammars[code](n, isFeminine(code, noun, n > 1), noun)
			return strings.Replace(said+" ", "' ", "'", 1) + m.group(2), ok
		})
}

// isFeminine guesses the gender of a noun by its ending.
func isFeminine(code, noun string, plural bool) bool {
	forms := []string{noun}
	if plural {
		forms = append(forms, strings.TrimSuffix(noun, "s"), strings.TrimSuffix(noun, "es"), strings.TrimSuffix(noun,
			"ces")+"z")
		for _, ending := range [...][2]string{{"ciones", "ción"}, {"siones", "sión"}, {"ções", "ção"}, {"sões", "são"},
			{"gens", "gem"}} {
			if base, ok := strings.CutSuffix(noun, ending[0]); ok {
				forms = append(forms, base+ending[1])
			}
		}
	}
	return !slices.ContainsFunc(forms, agreeLists()["masculine "+code].has) &&
		slices.ContainsFunc(forms, agreeLists()["feminine "+code].hasEnding)
}
