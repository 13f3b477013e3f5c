package answers

import (
	"math"
	"strings"
	"unicode/utf8"

	"parley/appliance/contract"
)

// functionWords are English words that say little about what is asked. In other languages every word counts.
const functionWords = " a an the is are was were be been am do does did can could will would shall should may might " +
	"must i you he she it we they me my your our his her its us their this that these those of in on at to for from " +
	"with by about and or but if so as not no yes any some there here what when where who whom which how why many " +
	"much one please hi hello thanks thank just get got have has had need want like know tell going go im ive whats " +
	"theres dont u ur ok okay too also then than into up out "

// contentWords returns the stems of the words of a text that say what it is about.
func contentWords(text string) (words []string) {
	for _, w := range strings.Fields(Normal(text)) {
		if !strings.Contains(functionWords, " "+w+" ") {
			words = append(words, stem(w))
		}
	}
	return words
}

// stem removes an English ending, roughly: "opening" and "opens" have the same stem.
func stem(w string) string {
	for _, end := range [...]string{"ing", "ies", "es", "ed", "s"} {
		if s, ok := strings.CutSuffix(w, end); ok && utf8.RuneCountInString(s) >= 3 {
			return s
		}
	}
	return w
}

// wordIndex tells which items have which words in their ways of asking or in what they say.
type wordIndex struct {
	items map[string][]int32 // in ascending order
	count int                // of all items
}

func newWordIndex(a contract.Answers) wordIndex {
	x := wordIndex{items: map[string][]int32{}, count: len(a.Items)}
	add := func(item int32, text string) {
		for _, w := range contentWords(text) {
			if of := x.items[w]; len(of) == 0 || of[len(of)-1] != item {
				x.items[w] = append(of, item)
			}
		}
	}
	for i, item := range a.Items {
		for _, text := range item.Ask {
			add(int32(i), text)
		}
		add(int32(i), item.Say)
	}
	return x
}

// weight returns how much a word tells about an item: the inverse document frequency, in natural logarithms.
func (x wordIndex) weight(word string) float64 {
	return math.Log(float64(x.count+1) / (float64(len(x.items[word])) + 0.5))
}

// coverage returns for each item the share of the words of a question that it has, by their weights, 0 to 1.
func (x wordIndex) coverage(words []string) []float64 {
	shares, total := make([]float64, x.count), 0.0
	for _, w := range words {
		weight := x.weight(w)
		total += weight
		for _, item := range x.items[w] {
			shares[item] += weight
		}
	}
	for i := range shares {
		if total > 0 {
			shares[i] = min(1, max(0, shares[i]/total))
		}
	}
	return shares
}
