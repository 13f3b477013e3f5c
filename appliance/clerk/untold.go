package clerk

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"parley/appliance/text"
)

// wares finds what somebody asks for in "Do you have a dentist?" and "Is there a
// bus to the island?", as far as the next preposition.
var wares = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:and|so|but|well|excuse me|hello|hi|sorry),? ` +
		`)?(?:(?:do|does|did|can|could|would|will) (?:you|they|we|i|one|the [a-z]+|this [a-z]+)(?: also| still| ` +
		`ever)? (?:have|sell|rent(?: out)?|hire(?: out)?|lend|offer|serve|provide|stock|carry|get|buy|find)|` +
		`(?:is|are) there(?: also)?|have you(?: got)?)((?: [^ ]+?)+?)(?: ` +
		`(?:to|for|in|at|on|near|nearby|with|from|here|of|by|around|inside|outside|close|behind|who|that|which|where|` +
		`today|tomorrow|now)\b.*)?[?.!]*$`)
})

// talk is what people ask about who speaks, and not about the place.
const talk = "time minute moment second question problem idea opinion favorite favourite name age feeling feelings " +
	"dream dreams hobby hobbies friend friends family brother sister " +
	"children kids wife husband joke story plan plans advice tip tips recommendation recommendations suggestion " +
	"suggestions place places way ways chance choice reason difference rule rules information news " +
	"hours times price prices fee fees access service services area areas option options kind kinds type types " +
	"section sections facilities menu"

// kin are words for things so near to each other that who asks for one may be told
// of another.
var kin = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, group := range [...]string{
		"food eat meal snack snacks sandwich soup cake pizza breakfast lunch dinner restaurant cafe café kiosk " +
			"canteen bakery bistro kitchen ice vegetarian vegan popcorn fruit bread",
		"drink drinks coffee tea water beer wine juice lemonade cafe café bar kiosk",
		"toilet toilets restroom bathroom washroom wc loo lavatory shower", "elevator lift escalator stairs",
		"internet wifi wi fi wireless network wlan online computer laptop",
		"bag luggage baggage suitcase backpack locker cloakroom coat jacket wardrobe umbrella",
		"park parking car garage vehicle", "dog cat pet animal leash", "bike bicycle cycle cycling ebike",
		"child children kid kids baby toddler family playground stroller",
		"shop store souvenir souvenirs gift gifts postcard sells sold", "doctor physician nurse specialist",
		"phone telephone number call", "photo photos photograph picture pictures camera",
		"wheelchair disabled ramp accessible barrier", "card cards cash credit pay payment check",
		"ticket tickets admission entrance entry enter card pass", "tour guide guided audio", "room rooms bed hotel",
		"discount discounts reduction cheaper half free student students senior seniors",
		"film films movie movies cinema", "boat boats ship ships ferry ferries", "bus buses train tram taxi shuttle",
		"appointment appointments reservation booking reserve reserved book", "towel towels swimsuit swimwear",
		"book books novel novels magazine newspaper", "print printer printing copy copier scan scanner scanning",
		"lesson lessons course courses class classes teach",
	} {
		words := strings.Fields(group)
		for _, w := range words {
			out[stem(w)] = append(out[stem(w)], words...)
		}
	}
	return out
})

// untold reports whether a question asks for something of which neither the facts
// nor what was said has a word, or one near to it.
func (d *Desk) untold(asked, said string) bool {
	all := text.Sentences(asked)
	if len(all) == 0 {
		return false
	}
	m := wares().FindStringSubmatch(all[len(all)-1])
	if m == nil {
		return false
	}
	for _, w := range split(m[1]) {
		if in(w, talk) || in(strings.TrimSuffix(w, "s"), talk) || isNumber(w) {
			return false
		}
	}
	wanted := stems(m[1])
	if len(wanted) == 0 {
		return false
	}
	heard := stems(said)
	known := func(s string) bool {
		return d.tells(s) || heard[s] || slices.ContainsFunc(kin()[s], func(near string) bool {
			return d.tells(stem(near)) || heard[stem(near)]
		})
	}
	words := split(m[1])
	if what := stem(words[len(words)-1]); wanted[what] && len(wanted) > 1 && !known(what) {
		return true // "climbing ropes": that people climb here says nothing of ropes
	}
	for s := range wanted {
		if known(s) {
			return false
		}
	}
	return true
}

// tells reports whether the facts have a word of that stem, also as a part of
// another word ("cloakroom" has a room).
func (d *Desk) tells(stem string) bool {
	for _, l := range d.lines {
		if l.stems[stem] {
			return true
		}
	}
	return len(stem) > 3 && strings.Contains(d.all, stem)
}
