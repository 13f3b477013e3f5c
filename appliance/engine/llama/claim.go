package llama

import (
	"strings"

	"parley/appliance/text"
)

// What a small model claims to have done, it mostly claims in English, and in few
// ways: it did something, does it, will do it; something has been done, or is now
// as it was wanted. A claim shows within its first words, so a sentence is judged
// while it comes.

type verdict int

const (
	undecided verdict = iota // it has begun like a claim
	silent                   // it may become one, but nothing of it has come
	harmless
	claimed
)

const (
	// knownAfter is how many words of a sentence are held back while it may become a
	// claim: the first piece that is spoken has as many on a slow machine. What is
	// the user's own is more often claimed than told.
	knownAfter     = 3
	knownAfterYour = 9
	// aboutWhat is how many words may stand before what is said of something: "the
	// lights over the whale in the hall have been turned off".
	aboutWhat = 10
)

// The words of claims. What was done to something may also be a fact of the house
// ("the pool has been closed"), so of things that are not the user's own only those
// count that are done for somebody.
var (
	doneFor = set("booked reserved ordered arranged canceled cancelled scheduled rescheduled sent placed added " +
		"removed confirmed requested " +
		"forwarded transferred notified informed processed submitted refunded registered emailed locked unlocked " +
		"turned switched updated")
	anythingDone = union(doneFor, set("set changed moved opened closed started stopped played called completed "+
		"created made put saved returned renewed "+
		"written done searched looked checked shipped delivered dispatched approved paid issued frozen suspended paused"))
	doingFor = set("booking reserving ordering arranging canceling cancelling scheduling rescheduling sending " +
		"placing adding removing confirming " +
		"forwarding transferring connecting notifying informing processing submitting refunding registering emailing " +
		"locking unlocking turning switching updating")
	anythingDoing = union(doingFor,
		set("setting changing moving starting stopping playing putting saving renewing searching checking"))
	willDo = set("book reserve order arrange cancel schedule reschedule set send place add remove update " +
		"change move switch turn lock unlock open " +
		"close start stop play call confirm request forward transfer connect notify inform process submit create " +
		"make put save refund renew register " +
		"email write look search check get bring have let")
	// canDo is what nobody can who has no tools; of what is left of willDo something may
	// be said ("I can get you the address", "I can let you know").
	canDo = set("book reserve order arrange cancel schedule reschedule send place add remove update change move " +
		"switch turn lock unlock call " +
		"confirm forward transfer connect notify inform submit refund renew register email freeze sell deliver " +
		"remind wake")
	// isNow is how something is that was not so before.
	isNow   = union(doneFor, set("on off set changed playing"))
	isYours = set("booked reserved ordered arranged canceled cancelled scheduled confirmed set sent shipped " +
		"delivered dispatched delayed processed paid " +
		"approved accepted refunded")
	// isYoursAtOnce is what only who can find out nothing makes up: of other desks it may
	// be a fact ("your key is ready at the desk").
	isYoursAtOnce = union(set("ready received being waiting outside"), isYours)
	// alone are claims of one word: "Done."
	alone  = set("done booked reserved ordered canceled cancelled confirmed sent added scheduled")
	youAre = set("booked set registered confirmed")

	hurried = set("just now already also all currently right")
	leads   = [][]string{{"of", "course"}, {"all", "right"}, {"no", "problem"}, {"thank", "you"}, {"got", "it"},
		{"very", "well"}, {"right", "away"},
		{"ok"}, {"okay"}, {"sure"}, {"yes"}, {"great"}, {"certainly"}, {"absolutely"}, {"alright"}, {"perfect"},
		{"thanks"}, {"hello"}, {"hi"}, {"understood"}, {"good"}}
)

func union(a, b map[string]bool) map[string]bool {
	for w := range a {
		b[w] = true
	}
	return b
}

// spoken is a sentence word by word, as far as it has come.
type spoken struct {
	words []string // in small letters, contractions cut: "i've" is "i have"
	ended []bool   // behind which of them stands a mark
	over  bool     // there will be no more
	// unable: nothing can be done by who speaks.
	unable bool
}

// contracted are the ends of words that stand for words of their own. Whether 's
// is "has" or "is" the next word tells.
var contracted = []struct{ end, word string }{{"'ve", "have"}, {"'ll", "will"}, {"'m", "am"}, {"'re", "are"},
	{"'s", "'s"}}

func spokenWords(sentence string, over bool) spoken {
	s := spoken{over: over}
	rest := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
	for rest != "" {
		at := strings.IndexFunc(rest, text.OfWord)
		if at < 0 {
			at = len(rest)
		}
		if n := len(s.ended); n > 0 && strings.ContainsAny(rest[:at], ".,!:;…—–-") {
			s.ended[n-1] = true
		}
		rest = rest[at:]
		end := strings.IndexFunc(rest, func(r rune) bool { return !text.OfWord(r) })
		if end < 0 {
			if end = len(rest); !over {
				break // the word may go on
			}
		}
		s.add(rest[:end])
		rest = rest[end:]
	}
	return s
}

func (s *spoken) add(word string) {
	for _, c := range contracted {
		if first, found := strings.CutSuffix(word, c.end); found && first != "" {
			s.words, s.ended = append(s.words, first, c.word), append(s.ended, false, false)
			return
		}
	}
	if word != "" {
		s.words, s.ended = append(s.words, word), append(s.ended, false)
	}
}

// skip is the first place from at on whose word is none of those.
func (s spoken) skip(at int, of map[string]bool) int {
	for at < len(s.words) && of[s.words[at]] {
		at++
	}
	return at
}

// word is the one at a place; empty: it has not come.
func (s spoken) word(at int) string {
	if at < len(s.words) {
		return s.words[at]
	}
	return ""
}

// has tells whether these words stand at a place; open: they may yet.
func (s spoken) has(at int, words ...string) (yes, open bool) {
	for i, w := range words {
		switch s.word(at + i) {
		case w:
		case "":
			return false, !s.over
		default:
			return false, false
		}
	}
	return true, false
}

// judgeClaim says whether a sentence, or the beginning of one, claims something,
// and which word says what; hold: its words so far are not to be said before that
// is known.
// unable: who says that he can do something claims it, too.
func judgeClaim(sentence string, over, unable bool) (v verdict, verb string, hold bool) {
	s := spokenWords(sentence, over)
	s.unable = unable
	at := s.afterLead()
	v, verb = s.claims(at)
	most := knownAfter
	if s.word(at) == "your" {
		most = knownAfterYour
	}
	return v, verb, !over && (v == undecided || v == silent && len(s.words)-at <= most)
}

// afterLead is where a sentence begins behind "Sure," and its like.
func (s spoken) afterLead() int {
	at := 0
	for more := true; more; {
		more = false
		for _, lead := range leads {
			switch yes, open := s.has(at, lead...); {
			case yes:
				at, more = at+len(lead), true
			case open && at < len(s.words): // "of" may become "of course"
				return len(s.words)
			}
		}
	}
	return at
}

func (s spoken) claims(at int) (verdict, string) {
	first := s.word(at)
	if first == "" {
		return undecided, ""
	}
	if alone[first] && s.ended[at] {
		return claimed, first
	}
	if alone[first] && at == len(s.words)-1 {
		return s.last(first)
	}
	switch first {
	case "i":
		return s.doing(at+1, anythingDone, anythingDoing, true)
	case "we":
		return s.doing(at+1, doneFor, doingFor, false)
	case "let":
		if yes, open := s.has(at, "let", "me"); !yes {
			return waits(open), ""
		}
		return s.one(s.skip(at+2, hurried), willDo)
	case "you":
		return s.yours(at + 1)
	case "consider":
		yes, open := s.has(at, "consider", "it", "done")
		return claimIf(yes, open), "done"
	case "all":
		if next := s.word(at + 1); next == "" || next == "done" || next == "set" {
			return s.one(at+1, set("done set"))
		}
		return harmless, ""
	case "it", "that", "this", "your":
		return s.became(at, anythingDone, first == "your")
	case "the", "a", "an", "everything":
		if v, verb := s.became(at, doneFor, false); v != harmless {
			return v, verb
		}
		return s.promised(at)
	case "doctor", "dr", "mr", "mrs", "ms", "someone", "somebody", "he", "she", "they", "our":
		return s.promised(at)
	}
	return harmless, ""
}

// promised judges what others will do: "Doctor Meyer will call you back." Nobody
// has told them.
func (s spoken) promised(at int) (verdict, string) {
	for i := at + 1; i < min(at+aboutWhat, len(s.words)); i++ {
		if s.words[i] != "will" {
			continue
		}
		verb := s.word(i + 1)
		if v, _ := s.one(i+1, set("call ring phone contact email text notify")); v != claimed {
			return v, verb
		}
		v, _ := s.one(i+2, set("you back him her them"))
		return v, verb
	}
	return s.mayCome(at + aboutWhat), ""
}

// last is what a claim of one word is that nothing has followed yet.
func (s spoken) last(word string) (verdict, string) {
	if s.over {
		return claimed, word
	}
	return undecided, word
}

func waits(open bool) verdict {
	if open {
		return undecided
	}
	return harmless
}

func claimIf(yes, open bool) verdict {
	if yes {
		return claimed
	}
	return waits(open)
}

// one judges by the word at a place, which must be one of those.
func (s spoken) one(at int, of map[string]bool) (verdict, string) {
	word := s.word(at)
	return claimIf(of[word], word == ""), word
}

// doing judges "I …": what somebody did, does or is about to.
func (s spoken) doing(at int, done, doing map[string]bool, alsoWill bool) (verdict, string) {
	at = s.skip(at, hurried)
	switch s.word(at) {
	case "have":
		at = s.skip(at+1, hurried)
		if yes, _ := s.has(at, "gone", "ahead", "and"); yes {
			at += 3
		} else if s.word(at) == "gone" {
			return waits(at+2 >= len(s.words)), ""
		}
		return s.one(at, done)
	case "went":
		if yes, open := s.has(at, "went", "ahead", "and"); !yes {
			return waits(open), ""
		}
		return s.one(at+3, done)
	case "will":
		return s.about(at+1, alsoWill || s.unable)
	case "can", "could", "would", "shall":
		if !s.unable {
			return harmless, ""
		}
		return s.one(s.skip(at+1, hurried), canDo)
	case "am", "are":
		at = s.skip(at+1, hurried)
		if s.word(at) == "going" {
			if yes, open := s.has(at, "going", "to"); !yes {
				return waits(open), ""
			}
			return s.about(at+2, alsoWill)
		}
		return s.one(at, doing)
	}
	return s.one(at, done)
}

// about judges what somebody will do. What the house will do is mostly a fact.
func (s spoken) about(at int, claims bool) (verdict, string) {
	if !claims {
		return harmless, ""
	}
	at = s.skip(at, hurried)
	if yes, _ := s.has(at, "go", "ahead", "and"); yes {
		at += 3
	} else if s.word(at) == "go" {
		return waits(at+2 >= len(s.words)), ""
	}
	return s.one(at, willDo)
}

// yours judges "you are …".
func (s spoken) yours(at int) (verdict, string) {
	switch s.word(at) {
	case "are":
		return s.one(s.skip(at+1, hurried), youAre)
	case "":
		return undecided, ""
	}
	return harmless, ""
}

// became judges what is said of something: that it has been done, or is now so.
func (s spoken) became(at int, done map[string]bool, yours bool) (verdict, string) {
	for i := at + 1; i < min(at+aboutWhat, len(s.words)); i++ {
		is := s.words[i]
		next := s.skip(i+1, hurried)
		if is == "has" || is == "have" || is == "'s" {
			if yes, open := s.has(next, "been"); yes {
				return s.one(s.skip(next+1, hurried), done)
			} else if open {
				return undecided, ""
			}
		}
		switch {
		case is != "is" && is != "are" && is != "'s":
		case s.word(next) == "":
			return undecided, ""
		case s.word(next) == "on":
			return s.onItsWay(next)
		case yours:
			if s.unable {
				return s.one(next, isYoursAtOnce)
			}
			return s.one(next, isYours)
		case s.words[i+1] == "now":
			return s.one(next, isNow)
		default:
			return harmless, ""
		}
		if s.ended[i] {
			return harmless, ""
		}
	}
	return s.mayCome(at + aboutWhat), ""
}

// mayCome is what a sentence is in whose first words, up to a place, nothing of a
// claim has come.
func (s spoken) mayCome(until int) verdict {
	if len(s.words) < until {
		return silent
	}
	return harmless
}

func (s spoken) onItsWay(at int) (verdict, string) {
	switch s.word(at + 1) {
	case "its", "the", "their", "his", "her":
		v, _ := s.one(at+2, set("way"))
		return v, "way"
	case "":
		return undecided, ""
	}
	return harmless, ""
}
