package text

import (
	"regexp"
	"strings"
)

// booksOfScripture are the books that chapters and verses are named of, each with
// how it is shortened.
const booksOfScripture = ` Gen:Genesis Ex:Exodus Exod:Exodus Lev:Leviticus Num:Numbers Deut:Deuteronomy Josh:Joshua Judg:Judges Sam:Samuel Ps:Psalm Prov:Proverbs Eccl:Ecclesiastes Isa:Isaiah Jer:Jeremiah Ezek:Ezekiel Dan:Daniel Hos:Hosea Mic:Micah Matt:Matthew Mk:Mark Lk:Luke Jn:John Rom:Romans Cor:Corinthians Gal:Galatians Eph:Ephesians Phil:Philippians Col:Colossians Thess:Thessalonians Tim:Timothy Heb:Hebrews Jas:James Pet:Peter Rev:Revelation `

// wired are the words that say that a text is about currents, where "10A" is no
// door.
const wired = `(?i:fuses?|volts?|amps?|breaker|charger|socket|current|adapter|circuit)\b|\d ?k?V(?: ?[AD]C)?\b`

// everydayRules bring what people write of places, trains, currents, scripture
// and passwords to the ways of writing that the other rules know. They come first.
func (e english) everydayRules() []rule {
	doors := regexp.MustCompile(`(?i)\b(?:gate|seat|row|room|door|flat|apartment|apt\.?|unit|house|platform|exit|stand|bus|class|number|no\.?|hall|level|ward|bay) $`)
	currents := regexp.MustCompile(wired)
	return []rule{
		// 51°28'38"N
		newRule("°", `(\d{1,3}) ?° ?(\d{1,2}(?:\.\d+)?) ?['′](?: ?(\d{1,2}(?:\.\d+)?) ?(?:"|″|''|′′))? ?([NSEW]\b)?`, func(m match) string {
			said := e.sayCount(m.group(1), "degree") + " " + e.sayCountDecimal(m.group(2), "minute")
			if m.group(3) != "" {
				said += " " + e.sayCountDecimal(m.group(3), "second")
			}
			if m.group(4) != "" {
				said += " " + strings.ToLower(compass(m.group(4)))
			}
			return said
		}),
		doubtfulRule("-", `\b(\d{5})-(\d{4})\b`, func(m match) (string, bool) { // a post code with its four more
			return digitByDigit(m.group(1)) + ", " + digitByDigit(m.group(2)), m.apart() && !strings.HasPrefix(m.after(), "-") && !strings.HasSuffix(m.before(), "-")
		}),
		doubtfulRule("s", `\b([A-Z]{1,4})(\d{1,2})s\b`, func(m match) (string, bool) { // MP3s
			return spell(m.group(1)) + " " + pluralWord(e.cardinal(m.group(2))), m.apart() && !strings.HasSuffix(m.before(), "-")
		}),
		doubtfulRule("A", `\b(\d{1,3}(?:\.\d+)?) ?A\b`, func(m match) (string, bool) {
			said := e.sayCountDecimal(m.group(1), "amp")
			if describes(m) { // a 13A fuse
				said = strings.TrimSuffix(said, "s")
			}
			return said, m.apart() && currents.MatchString(m.text) && !doors.MatchString(m.before()) && !strings.ContainsAny(lastRunes(m.before()), "/.")
		}),
		doubtfulRule(digits, `\b((?:[Tt]rain )?(?:ICE|TGV|AVE|Eurostar|Amtrak)|[Tt]rain) ([1-9]\d{3})\b`, func(m match) (string, bool) {
			return m.group(1) + " " + e.sayHouse(m.group(2)), m.apart() && !strings.HasSuffix(m.group(2), "00")
		}),
		doubtfulRule("^", `\b(\d+)\^(-?)(\d{1,3})( ?)(`+unitPattern+`)`, func(m match) (string, bool) { // 10^6 µg
			name := unitAfter(m.group(4), m.group(5), m)
			return e.cardinal(m.group(1)) + " to the power of " + minusBefore(m.group(2), "") + e.cardinal(m.group(3)) + " " + plural("2", name), name != "" && m.apart()
		}),
		// John 3:16, Gen. 1:1-3
		doubtfulRule(":", `\b([A-Z][a-z]+)\.? (\d{1,3}):(\d{1,3})(?: ?[-–] ?(\d{1,3}))?\b`, func(m match) (string, bool) {
			book := bookOfScripture(m.group(1))
			said := book + " " + e.cardinal(m.group(2))
			if m.group(4) != "" {
				return said + ", verses " + e.cardinal(m.group(3)) + " to " + e.cardinal(m.group(4)), book != "" && m.apart()
			}
			return said + " " + e.cardinal(m.group(3)), book != "" && m.apart() && !strings.HasPrefix(m.after(), ":")
		}),
		newRule("oM", `\b(?:YoY|QoQ|MoM)\b`, func(m match) string {
			name := map[string]string{"Y": "year", "Q": "quarter", "M": "month"}[m.group(0)[:1]]
			if e.dayFirst {
				return name + " on " + name
			}
			return name + " over " + name
		}),
		// password: Sunny-Day_42
		doubtfulRule(":", `\b((?i:password|passphrase|passcode|pw|pwd)): ?([A-Za-z0-9]+(?:[-_#$%&*@!+.][A-Za-z0-9]+)+)`, func(m match) (string, bool) {
			return "password: " + e.sayAddress(m.group(2)), strings.ContainsAny(m.group(2), "_#$%&*@!+")
		}),
	}
}

// bookOfScripture is the book that a name or its short form is of, "" if of none.
func bookOfScripture(name string) string {
	if full := formOf(booksOfScripture, name); full != "" {
		return full
	}
	if strings.Contains(booksOfScripture, ":"+name+" ") || name == "Psalms" || name == "Acts" || name == "Job" {
		return name
	}
	return ""
}
