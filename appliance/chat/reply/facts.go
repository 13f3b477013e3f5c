package reply

import (
	"errors"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/chat/turn"
	"parley/appliance/text"
)

// errInvented ends a reply that goes beyond its facts, or in a circle.
var errInvented = errors.New("the reply goes beyond its facts, or in a circle")

// facts are the numbers and names that an answer may hold: those that the prompt
// and the conversation have. A small model fills in what it was not told.
type facts struct {
	turn.Facts
	numbers map[float64]bool
	hours   map[float64]bool // those that are no prices: of times of day, and other ways to say them
	digits  string           // all of the prompt and the conversation, one after the other
	names   map[string]bool
	prices  []float64
	counts  []float64 // that the user has said, the newest last
	begun   string    // what was said of the sentence that goes on
	said    bool      // a piece of the reply was said
	// answered is what tools have said since the user spoke, where it can be read out.
	answered string
	// measured: only amounts are held against what was told, and no names or mere
	// numbers: there are no facts, but a tool has answered.
	measured bool
	// own: what is asked for only the prompt can tell, so every number is held against it.
	own bool
}

// newFacts are those of a conversation; nil where it has none to keep to. After a tool has answered, what is said of times, prices and
// the like is to be in that answer: a model that got the weather, and was asked for a
// train too, made up when that leaves. The same is so where somebody asks for what
// holds now, for him, or for what a tool tells: no model knows that by itself.
func newFacts(c turn.Conversation) *facts {
	if c.Facts == nil {
		return nil
	}
	f := &facts{
		Facts:   *c.Facts,
		numbers: map[float64]bool{0: true, 1: true},
		hours:   map[float64]bool{},
		names:   map[string]bool{},
	}
	numbers := text.Numbers(f.Told)
	f.own = f.Spelt && ofOwn.MatchString(asked(c))
	if f.measured = f.Own || len(numbers) < turn.LeastFacts; f.measured && !toolAnswered(c.History) && !f.own &&
		!(f.Spelt && (asksOfNow(asked(c)) || asksOfTool(c))) {
		return nil
	}
	f.learn(f.Told, numbers)
	for _, e := range c.History {
		numbers := text.Numbers(e.Text)
		f.learn(e.Text, numbers)
		if e.Role == turn.User {
			f.count(e.Text, numbers)
		}
	}
	f.counts = f.counts[max(0, len(f.counts)-mostCounts):]
	f.answered = toolWords(c.History)
	return f
}

// toolAnswered reports whether a tool has answered since the user spoke.
func toolAnswered(history []turn.Entry) bool {
	for i := len(history) - 1; i >= 0 && history[i].Role != turn.User; i-- {
		if history[i].Role == turn.ToolResult {
			return true
		}
	}
	return false
}

// amount reports whether a number says how much, how long or when, and not merely
// how many.
func amount(n text.Number) bool {
	return n.Clock || n.Money || money(n.After) || cents(n.After) || oneOf(n.After, units) ||
		n.Before == "at" && n.Value <= 24
}

const units = "am pm a.m p.m a.m. p.m. a p o'clock oclock second seconds minute minutes hour hours day days week " +
	"weeks month months year years degrees degree celsius fahrenheit percent km kilometers kilometres miles meters " +
	"metres kg kilos grams euro"

// learn takes note of the numbers and names of a text.
func (f *facts) learn(told string, numbers []text.Number) {
	var digits strings.Builder
	for _, r := range told {
		if unicode.IsDigit(r) {
			digits.WriteRune(r)
		}
	}
	f.digits += digits.String()
	for i, n := range numbers {
		if f.hours[n.Value] = true; !n.Clock {
			f.numbers[n.Value] = true
		}
		f.digits += n.Spelt
		switch {
		case n.Money || money(n.After):
			f.prices = append(f.prices, n.Value)
		case cents(n.After):
			f.prices = append(f.prices, n.Value/100)
			f.numbers[n.Value/100] = true
		}
		if whole, part := math.Modf(n.Value); part != 0 { // 12.50 is said "twelve fifty"
			f.numbers[whole], f.numbers[math.Round(part*100)] = true, true
		}
		f.clock(n, numbers[i+1:])
	}
	for _, w := range strings.FieldsFunc(told, func(r rune) bool {
		return !unicode.IsLetter(r) && r != '\'' && r != '’'
	}) {
		f.names[stem(w)] = true
	}
}

// count takes note of how many of something the user has spoken of.
func (f *facts) count(said string, numbers []text.Number) {
	for _, n := range numbers {
		f.counts = append(f.counts, n.Value)
	}
	for w := range strings.FieldsSeq(strings.ToLower(said)) {
		switch strings.TrimRight(w, ",.?!") {
		case "both", "couple", "twice":
			f.counts = append(f.counts, 2)
		case "half":
			f.counts = append(f.counts, 0.5)
		}
	}
}

// money and cents report whether a word behind a number makes a price of it.
func money(word string) bool {
	return oneOf(word, "dollar dollars euro euros pound pounds franc francs buck bucks usd eur gbp")
}
func cents(word string) bool { return oneOf(word, "cent cents pence penny") }

// oneOf reports whether a word is in a list, with spaces between.
func oneOf(word, list string) bool {
	return word != "" && strings.Contains(" "+list+" ", " "+word+" ")
}

// pass returns a piece of the reply as it may be said, whether its sentence goes
// on, and whether the reply is over with it: what goes beyond the facts is left
// out, and so is all that would follow. In place of the first piece, or of one
// that ends a sentence that was begun, something else is said: see instead.
func (f *facts) pass(piece string, goesOn bool) (say string, on, over bool) {
	if f == nil {
		return piece, goesOn, false
	}
	if mute(piece) {
		return piece, goesOn, false // it is not heard, and nothing was said by it
	}
	whole := strings.TrimSpace(f.begun + " " + piece)
	if f.invents(whole, goesOn) {
		if f.said && f.begun == "" {
			return "", false, true
		}
		return f.instead(), false, true
	}
	f.said = true
	if f.begun = ""; goesOn {
		f.begun = whole
	}
	return piece, goesOn, false
}

// instead is what is said in place of a sentence that goes beyond what was told: the
// words of the tool that has just answered, as they are, else that one does not know.
func (f *facts) instead() string {
	say := f.answered
	if say == "" {
		say = f.Unknown
	}
	if f.begun != "" {
		return "… " + say
	}
	return say
}

// invents reports whether a sentence, or its beginning, has a number or a name
// that was not told.
func (f *facts) invents(sentence string, goesOn bool) bool {
	all := text.Numbers(sentence)
	for i, n := range all {
		if goesOn && i == len(all)-1 && n.Word && n.After == "" {
			break // it may go on: "twenty" | "five"
		}
		if (!f.measured || f.own || amount(n)) && !f.knows(n) {
			return true
		}
	}
	return !f.measured && f.Spelt && english(sentence) && f.strange(sentence)
}

// english reports whether a sentence has a word that only English ones have. What
// is typed comes without its language, and in German every noun has a capital.
func english(sentence string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(sentence)) {
		if oneOf(strings.TrimFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r)
		}), "the is are you your of and to for with that this by at our we it's i'm it") {
			return true
		}
	}
	return false
}

// strange reports whether an English sentence has a name that was not told: a word
// with a capital that is not its first.
func (f *facts) strange(sentence string) bool {
	begins := true
	for w := range strings.FieldsSeq(sentence) {
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
		first, size := utf8.DecodeRuneInString(bare)
		proper := !begins && !strings.ContainsAny(w[:1], "\"(") && unicode.IsUpper(first) &&
			strings.IndexFunc(bare[size:], unicode.IsLower) >= 0
		known := stem(bare)
		begins = strings.ContainsAny(w[len(w)-1:], `.!?:"`) && !oneOf(known, titles)
		if proper && !f.names[known] && !oneOf(known, everyday) {
			return true
		}
	}
	return false
}

const (
	titles = "mr mrs m dr doctor prof professor st"
	// everyday are the words that have a capital and name nobody: as stem leaves
	// them.
	everyday = "i'm i'll i've i'd monday tuesday wednesday thursday friday saturday sunday " +
		"january february march april may june july august september october november december " +
		"christma easter new year eve english german french spanish italian portuguese dutch russian polish turkish " +
		"japanese chinese korean " +
		"internet wi-fi wifi web okay am pm god sir madam ma'am " + titles
)

// stem is a word by which it is known again: in small letters and without the
// ending of a plural or of a possessive.
func stem(w string) string {
	w = strings.ToLower(strings.ReplaceAll(w, "’", "'"))
	w = strings.TrimSuffix(w, "'s")
	return strings.TrimSuffix(strings.Trim(w, "'"), "s")
}
