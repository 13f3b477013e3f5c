package reply

import (
	"maps"
	"regexp"
	"strings"

	"parley/appliance/chat/turn"
)

// askedWhoSpeaks is a question of yes or no, in English, whether the assistant is
// somebody that it mostly is not. Small models say yes to most of them: to "Are you
// a human?" as to "Are you ChatGPT?".
var askedWhoSpeaks = regexp.MustCompile(`(?i)\b(?:are you|is this|am i (?:talking|speaking|chatting) (?:to|with))\s+` +
	`(?:(?:really|actually|just|still|maybe|then|the|made by|from)\s+)*` +
	`((?:an?|some)\s+(?:real |live |actual )?(?:human|person)|(?:real |live )?humans?|real people|chat ?gpt|gpt[ ` +
	`-]?[0-9.]*|openai|alexa|siri|gemini|claude|bard|copilot|qwen|cortana|google)\b`)

// asksForAMachine is in a question to which yes may be right.
var asksForAMachine = regexp.MustCompile(
	`(?i)\b(not|robot|bot|computer|machine|program|software|ai|assistant|automated|artificial)\b|n't\b`)

// asksWhatItIs is a question, in English, what the assistant is, how it is called or
// who made it.
var asksWhatItIs = regexp.MustCompile(`(?i)^\W*(?:(?:and|so|but|hello|hi|hey|please|tell me)\W+)*(?:` +
	`(?:who|which|what\s+(?:company|firm|people|team|lab))\b[^.?!]*\b(?:made|create[sd]|built|developed|trained|` +
	`programmed|designed|invented|owns|runs)\s+you\b` +
	`|(?:what|which)\s+(?:(?:kind|sort|type|version)\s+of\s+)?(?:an?\s+)?(?:large\s+)?(?:language\s+|ai\s+)?(?:model|` +
	`ai|llm|gpt|version)\s+(?:are|is)\s+(?:you|this)\b` +
	`|(?:who|what)\s+(?:exactly\s+)?are\s+you\s*[.?!]*$` +
	`|(?:who|what)\s+(?:is|are|was|were)\s+your\s+(?:maker|creator|developer|manufacturer|company|owner|model)s?\b)`)

// makers are those who make what small models take themselves for, and how that is
// called.
const makers = `(?:openai|chat ?gpt|gpt-?[0-9][0-9.]*o?|alibaba|tongyi|qwen|anthropic|claude|google|deepmind|gemini|` +
	`microsoft|copilot|meta|llama|amazon|alexa|apple|siri|mistral|deepseek)\b`

// ofAMaker is a sentence in which the assistant calls itself one of them, or theirs: in
// English with nothing between but what is said of such things ("I was created by …",
// and not "I'm fond of apple pie"), in other languages with a few words.
var ofAMaker = regexp.MustCompile(`(?i)\b(?:i(?:'m| am| was| have been|'ve been)|my name is|call me|my ` +
	`(?:maker|creator|developer)s? (?:is|are|was|were)|as an?)\s+` +
	`(?:(?:an?|the|originally|actually|just|called|named|large|language|ai|artificial|intelligence|model|assistant|` +
	`virtual|chatbot|bot|voice|program|computer|system|` +
	`based|on|and|was|that|who|which|is|made|created|developed|trained|built|designed|programmed|powered|owned|by|` +
	`from|of|at|company|team|researchers)\W+)*` + makers +
	`|\b` + makers + `.*\b(?:made|created|developed|trained|built|designed|programmed) me\b` +
	`|\b(?:ich (?:wurde|bin)|je suis|j'ai été|(?:yo )?soy|fui|he sido|sono(?: stat[oa])?|ik ben|eu ` +
	`(?:sou|fui))\s+(?:\S+\s+){0,5}` + makers)

// identity holds an answer to who the assistant is.
type identity struct {
	customPrompt string // of the prompt
	description  string // that is said in place of what is not so; empty: nothing is
	begun        string // what was said of the sentence that goes on
}

func newIdentity(c turn.Conversation) *identity {
	return &identity{customPrompt: strings.ToLower(c.CustomPrompt), description: c.Identity}
}

// answer is the answer to a question what the assistant is; empty: it is the model's to
// give.
func (s *identity) answer(asked string) string {
	if s.description == "" || !asksWhatItIs.MatchString(asked) {
		return ""
	}
	return s.description
}

// pass returns a piece of the reply as it may be said, and whether the reply is over
// with it: in place of the name of a maker that is not the assistant's the rest says
// who it is.
func (s *identity) pass(piece string, goesOn bool) (say string, over bool) {
	if s == nil || s.description == "" {
		return piece, false
	}
	whole := strings.TrimSpace(s.begun + " " + piece)
	if ofAMaker.MatchString(strings.ReplaceAll(whole, "’", "'")) && !denies.MatchString(whole) {
		if s.begun != "" {
			return "… " + s.description, true
		}
		return s.description, true
	}
	if s.begun = ""; goesOn {
		s.begun = whole
	}
	return piece, false
}

// denies is in a sentence that says what is not so.
var denies = regexp.MustCompile(`(?i)\b(not|no|never|nicht|kein|keine|pas|non)\b|n't\b`)

// firstDue makes an answer begin with no where somebody asks the assistant whether it is
// a human or a product that its prompt does not name; others are those of the
// answer otherwise.
func (s *identity) firstWordBias(asked string, others map[string]float64) map[string]float64 {
	who := askedWhoSpeaks.FindStringSubmatch(asked)
	if who == nil || asksForAMachine.MatchString(asked) || strings.Contains(s.customPrompt, strings.ToLower(who[1])) {
		return others
	}
	out := copyBias(others)
	out["Yes"], out["No"] = -strongBias, strongBias
	return out
}

// copyBias is a map of how an answer may begin that one may add to: a copy, where there
// was one.
func copyBias(others map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(others))
	maps.Copy(out, others)
	return out
}

// lastAsked is what the user said if nothing has come after it; empty: something has.
func lastAsked(c turn.Conversation) string {
	if n := len(c.History); n > 0 && (c.History[n-1].Role == turn.User || c.History[n-1].Role == turn.Context) {
		return asked(c)
	}
	return ""
}
