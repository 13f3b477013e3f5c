package clerk

import (
	"regexp"
	"strings"
	"sync"

	"parley/appliance/text"
)

// in reports whether a word is in a list, with spaces between.
func in(word, list string) bool { return word != "" && strings.Contains(" "+list+" ", " "+word+" ") }

// split cuts a text into its words, in small letters; a word with a hyphen is two.
func split(s string) []string {
	words := text.Written(electric().ReplaceAllString(s, "${1}e$2"))
	for i, w := range words {
		words[i] = strings.TrimSuffix(strings.Trim(w, "'"), "'s")
	}
	return words
}

// electric finds what is another thing than without its first letter: an e-bike.
var electric = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(^|[^a-z0-9])e-([a-z])`) })

// empty are words that say nothing of what is asked for: those of grammar, and of
// asking politely.
const empty = "a an the this that these those some any all no not there here it its he she they we us our you your i " +
	"me my mine his her their them " +
	"is are am was were be been being do does did have has had having can could may might must shall should will " +
	"would cannot can't don't doesn't isn't aren't " +
	"what which who whom whose when where why how if whether so and or but also too than then as at by for from in " +
	"into of off on onto out over to up with without about " +
	"please sorry thanks thank hello hi hey yes okay ok well just still even only again now today tonight tomorrow " +
	"please tell say know like want need wish would get got getting go going come " +
	"take bring give let make use put one thing something anything someone anyone somebody anybody possible allowed " +
	"able i'm i'd i'll i've it's that's there's what's who's where's " +
	"much many more most very really together altogether total both each every other another ones lot bit else instead"

// days are the days of the week as they are begun in a mask, Monday first.
const days = "monday tuesday wednesday thursday friday saturday sunday"

// timely are words that only say when.
const timely = days + " weekday weekdays weekend weekends day days morning afternoon evening night noon midnight " +
	"o'clock am pm hour hours time half quarter past until till before after"

// stem is what words of one family begin with, roughly: "repairs", "repaired" and
// "repairing" are one.
func stem(w string) string {
	for _, end := range [...]string{"ing", "ies", "ied", "ed", "es", "s", "ly", "er"} {
		cut, found := strings.CutSuffix(w, end)
		if !found || len(cut) < 3 || end == "s" && strings.HasSuffix(cut, "s") {
			continue
		}
		if end == "ies" || end == "ied" {
			return cut + "i"
		}
		if n := len(cut); cut[n-1] == cut[n-2] && !in(cut[n-2:], "ss ll ee") {
			cut = cut[:n-1] // "swimming"
		}
		w = cut
		break
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
		if strings.HasSuffix(w, "y") {
			w = w[:len(w)-1] + "i"
		}
	}
	return w
}

// stems are those of the words of a text that say what it is about.
func stems(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range split(s) {
		if len(w) > 1 && !in(w, empty) && !isNumber(w) {
			out[stem(w)] = true
		}
	}
	return out
}
