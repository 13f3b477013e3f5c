package text

import (
	"regexp"
	"strings"
)

const (
	// spelled are words that eSpeak NG spells in capitals, as it does every word of up to three
	// letters that is not all there is, and that are hardly ever acronyms.
	spelled wordList = " hi if oh ask bad bag bed big box boy buy cup cut day dry due eat end eye far fee few fly fun" +
		" gun hat hey hot job key kid lay let lie lot low man men met mix mom mum new nut odd off oil old out own " +
		"pay pen" +
		" pot red rid run sad saw say sea see sit six sky sun tax tea tie too top toy try van way wet win won yes " +
		"yet zoo "
	// loud are those that are acronyms, too, but not where all is in capitals.
	loud wordList = " a it us am car cat dog die fit hit ice ill law leg map raw set sum tip war "
	// itNouns stand behind the IT that is no pronoun, or the US that is none.
	itNouns wordList = " DEPARTMENT DEPT SUPPORT DESK HELP HELPDESK SERVICE SERVICES STAFF TEAM SYSTEMS SECURITY" +
		" MANAGER OFFICE ROOM EQUIPMENT TRAINING CUSTOMS DOLLAR DOLLARS PASSPORT PASSPORTS CITIZENS ARMY NAVY " +
		"EMBASSY MAIL" +
		" POSTAL GOVERNMENT "
)

// capitalRules write words small that are in capitals for being seen, and would be spelt.
func (e english) capitalRules() []rule {
	return []rule{doubtfulRule("", `\b(?:[A-Z]{2,3}|A)\b`, func(m match) (string, bool) {
		word := strings.ToLower(m.group(0))
		joined := strings.HasPrefix(m.after(), "-") || strings.HasSuffix(m.before(), "-") ||
			strings.HasPrefix(m.after(), "&")
		if !m.apart() || joined || strings.HasSuffix(m.before(), ".") {
			return "", false
		}
		return word, spelled.has(word) || loud.has(word) && m.shouted()
	})}
}

// capitalsBefore and capitalsAfter are the words in capitals beside one.
var (
	capitalsBefore = regexp.MustCompile(`(?:\b[A-Z][A-Z']* )+$`)
	capitalsAfter  = regexp.MustCompile(`^(?: [A-Z][A-Z']*\b)+`)
)

// shouted reports whether the words around the match are in capitals, too, and none of
// them makes an acronym of it.
func (m match) shouted() bool {
	before, after := strings.Fields(capitalsBefore.FindString(m.before())),
		strings.Fields(capitalsAfter.FindString(m.after()))
	if n := len(before); n > 0 && (before[n-1] == "THE" || before[n-1] == "IN" && m.group(0) == "US") {
		return false
	}
	if len(after) > 0 && itNouns.has(after[0]) {
		return false
	}
	count := len(before) + len(after)
	return count > 1 || count == 1 && strings.ToUpper(m.text) == m.text
}
