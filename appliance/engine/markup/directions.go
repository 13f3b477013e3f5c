package markup

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Directions removes stage directions from a reply that arrives sentence by sentence: what language
// models write about their actions ("*waves happily*", "(chuckles)"). They are recognised by their
// form, so that emphasis ("*very* important") and asides ("(the red one)") stay.
type Directions struct {
	open rune // opener of a direction that has not ended with the sentence
}

// directionsFile lists the words that a stage direction consists of or begins with: verb forms for
// what people do with face, voice and hands.
//
//go:embed directions.txt
var directionsFile string

var directionWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(directionsFile) {
		out[w] = true
	}
	return out
}()

var (
	// directed are parts of the body in directions: "clears his throat".
	directed = setOf(
		"arm", "arms", "breath", "brow", "cheek", "chin", "eye", "eyebrow", "eyebrows", "eyes", "finger",
		"fingers", "fist", "glasses", "hair", "hand", "hands", "head", "lips", "nose", "palms", "shoulder",
		"shoulders", "throat", "thumbs",
	)
	// manners describe how something is said: "*in a soft voice*", "*with a smile*".
	manners = setOf(
		"grin", "laugh", "sigh", "smile", "smirk", "tone", "voice", "whisper", "wink", "nod", "shrug", "bow",
		"giggle", "chuckle", "pause", "gasp", "laughter",
	)
	// actors precede the verb.
	actors = setOf(
		"he", "she", "they", "it", "i", "se", "assistant", "the", "bot", "robot", "ai", "everyone", "audience",
	)
	// behindVerb are words that follow a verb and not a noun.
	behindVerb = setOf(
		"the", "a", "an", "his", "her", "their", "its", "my", "your", "up", "down", "around", "forward",
		"back", "out", "off", "over", "toward", "towards", "closer", "away",
	)
	// interjections may precede a one-word direction within a sentence.
	interjections = setOf(
		"ah", "aha", "and", "but", "haha", "hm", "hmm", "no", "oh", "ok", "okay", "so", "uh", "um", "well",
		"yeah", "yes",
	)
	// noVerbs end like a verb but are none.
	noVerbs = setOf(
		"nothing", "everything", "something", "anything", "morning", "evening", "including", "starting",
		"according", "during", "parking", "always", "as", "besides", "does", "has", "hours", "is", "its",
		"news", "perhaps", "plus", "sometimes", "this", "thus", "towards", "us", "was", "whereas", "yes",
		"yours", "ours", "hers", "theirs", "across", "unless", "various", "previous", "previously",
	)
)

func setOf(words ...string) map[string]bool {
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}

// maxBracketWords is the most words of a direction in brackets, and maxStarWords the most between
// asterisks, which may tell a whole story.
const (
	maxBracketWords = 7
	maxStarWords    = 25
)

// closers maps the opener of a direction to its closer.
var closers = map[rune]rune{
	'*': '*',
	'(': ')',
	'[': ']',
	'（': '）',
}

// Without returns the next sentence, or part of one, without stage directions.
func (d *Directions) Without(sentence string) string {
	if d.open != 0 {
		_, after, found := strings.Cut(sentence, string(closers[d.open]))
		if !found {
			return ""
		}
		d.open, sentence = 0, after
	}
	var out strings.Builder
	for rest := sentence; rest != ""; {
		at := strings.IndexAny(rest, "*([（")
		if at < 0 {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:at])
		rest = rest[at:]
		n, whole := direction(out.String(), rest)
		if n == 0 {
			n = len(rest) - len(strings.TrimLeft(rest, "*"))
			if n == 0 {
				_, n = utf8.DecodeRuneInString(rest)
			}
			out.WriteString(rest[:n])
			rest = rest[n:]
			continue
		}
		if !whole {
			d.open, _ = utf8.DecodeRuneInString(rest)
		}
		if rest = rest[n:]; startsWith(rest, unicode.IsPunct) && !strings.HasPrefix(rest, "*") {
			trimmed := strings.TrimRight(out.String(), " ")
			out.Reset()
			out.WriteString(trimmed)
		}
	}
	return out.String()
}

// Stars returns the positions of the asterisks around stage directions in the next sentence, or
// part of one. Use a Directions for either Stars or Without.
func (d *Directions) Stars(sentence string) (at []int) {
	begin := 0
	if d.open != 0 {
		end := strings.IndexByte(sentence, '*')
		if end < 0 {
			return nil
		}
		d.open, begin, at = 0, end+1, []int{end}
	}
	for {
		i := strings.IndexByte(sentence[begin:], '*')
		if i < 0 {
			return at
		}
		i += begin
		n, whole := direction(sentence[:i], sentence[i:])
		switch {
		case n == 0:
			begin = len(sentence) - len(strings.TrimLeft(sentence[i:], "*"))
		case !whole:
			d.open = '*'
			return append(at, i)
		default:
			at = append(at, i, i+n-1)
			begin = i + n
		}
	}
}

func startsWith(s string, is func(rune) bool) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && is(r)
}

// direction returns the length of the stage direction at the beginning of s, 0 if there is none,
// and whether it ends there. before is the text before s.
func direction(before, s string) (n int, whole bool) {
	opener, size := utf8.DecodeRuneInString(s)
	closer := closers[opener]
	if strings.HasPrefix(s, "**") || opener == '*' && !startsWith(s[1:], unicode.IsLetter) {
		return 0, false
	}
	inner, after, whole := strings.Cut(s[size:], string(closer))
	if whole && opener == '*' && (strings.HasPrefix(after, "*") || startsWith(after, unicode.IsLetter)) {
		return 0, false // **, or 3*x*y
	}
	words := strings.FieldsFunc(strings.ToLower(inner), func(r rune) bool {
		return !unicode.IsLetter(r) && !strings.ContainsRune("'’-", r)
	})
	if len(words) == 0 || strings.ContainsFunc(inner, unicode.IsDigit) {
		return 0, false
	}
	acts := known(words)
	switch {
	case opener != '*':
		acts = acts && whole && len(words) <= maxBracketWords
	case !whole:
		acts = acts && known(words[:min(len(words), 2)])
	case len(words) > maxStarWords:
		acts = false
	case !acts:
		acts = (acting(words, inner) || smiling(words)) && begins(before) && alone(after)
	case len(words) == 1:
		acts = interrupts(before) && !verbAlso[firstWord(after)] &&
			(alone(after) || thirdPerson(words[0]) || gerund(words[0]))
	}
	if !acts {
		return 0, false
	}
	if !whole {
		return len(s), false
	}
	return len(s) - len(after), true
}

// known reports whether words form a direction by their vocabulary.
func known(words []string) bool {
	for len(words) > 1 && (actors[words[0]] || strings.HasSuffix(words[0], "ly")) {
		words = words[1:]
	}
	last := words[len(words)-1]
	switch {
	case directionWords[words[0]]:
		return len(words) == 1 || thirdPerson(words[0]) || !verbAlso[words[1]]
	case (words[0] == "with" || words[0] == "in") && len(words) > 2 && (words[1] == "a" || words[1] == "an"):
		return manners[last]
	case thirdPerson(words[0]) && len(words) > 1:
		return slices.ContainsFunc(words[1:], func(w string) bool { return directed[w] })
	}
	return false
}

// verbAlso are words after which an ambiguous form is a noun: "smile is free".
var verbAlso = setOf(
	"is", "are", "was", "were", "of", "and", "or", "if", "for", "when", "at", "your", "every",
)

// thirdPerson reports whether a word looks like a verb in the third person.
func thirdPerson(w string) bool {
	return len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") &&
		!strings.HasSuffix(w, "'s") && !noVerbs[w]
}

// gerund reports whether a word looks like a present participle.
func gerund(w string) bool { return len(w) > 5 && strings.HasSuffix(w, "ing") && !noVerbs[w] }

// acting reports whether words between asterisks describe any action: "*adjusts the microphone*".
// Emphasis begins with a capital letter if it is a sentence; a capitalised direction needs a word
// after its verb that identifies it.
func acting(words []string, inner string) bool {
	if !thirdPerson(words[0]) && !gerund(words[0]) || len(words) > 1 && verbAlso[words[1]] {
		return false
	}
	return startsWith(inner, unicode.IsLower) ||
		len(words) > 1 && (behindVerb[words[1]] || strings.HasSuffix(words[1], "ly") && words[1] != "only")
}

// smiling reports whether words between asterisks are "a warm smile" and the like.
func smiling(words []string) bool {
	return len(words) <= 4 && (words[0] == "a" || words[0] == "an") && manners[words[len(words)-1]]
}

// alone reports whether the text after the asterisks does not continue their words.
func alone(after string) bool {
	after = strings.TrimLeft(after, " \n")
	return after == "" || !startsWith(after, unicode.IsLower) &&
		(!startsWith(after, unicode.IsPunct) || startsWith(after, isOpener))
}

func isOpener(r rune) bool { return strings.ContainsRune("*([\"“¿¡…", r) }

func firstWord(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}
	return strings.ToLower(words[0])
}

// interrupts reports whether a direction may follow before: at the beginning of a sentence or a
// clause, or after an interjection.
func interrupts(before string) bool {
	trimmed := strings.TrimRight(before, " \n")
	word := strings.ToLower(trimmed[strings.LastIndexFunc(trimmed, func(r rune) bool {
		return !unicode.IsLetter(r)
	})+1:])
	return begins(before) || strings.HasSuffix(trimmed, ",") || interjections[word]
}

// begins reports whether a sentence may begin after before.
func begins(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, " \n"))
	return strings.TrimSpace(before) == "" || strings.ContainsRune(".!?…:;—–)\"”", last)
}
