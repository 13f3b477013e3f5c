package reply

import (
	"maps"
	"regexp"
	"strings"

	"parley/appliance/chat/turn"
)

// askedWhoSpeaks matches a yes-or-no question, in English, whether the assistant is something that it mostly
// is not. Small models say yes to most of them: to "Are you a human?" as well as to "Are you ChatGPT?".
var askedWhoSpeaks = regexp.MustCompile(`(?i)\b(?:are you|is this|am i (?:talking|speaking|chatting) (?:to|with))\s+` +
	`(?:(?:really|actually|just|still|maybe|then|the|made by|from)\s+)*` +
	`((?:an?|some)\s+(?:real |live |actual )?(?:human|person)|(?:real |live )?humans?|real people|chat ?gpt|gpt[ ` +
	`-]?[0-9.]*|openai|alexa|siri|gemini|claude|bard|copilot|qwen|cortana|google)\b`)

// asksForAMachine matches a question to which yes may be right.
var asksForAMachine = regexp.MustCompile(
	`(?i)\b(not|robot|bot|computer|machine|program|software|ai|assistant|automated|artificial)\b|n't\b`)

// asksWhatItIs matches a question, in English, what the assistant is, what it is called or who made it.
var asksWhatItIs = regexp.MustCompile(`(?i)^\W*(?:(?:and|so|but|hello|hi|hey|please|tell me)\W+)*(?:` +
	`(?:who|which|what\s+(?:company|firm|people|team|lab))\b[^.?!]*\b(?:made|create[sd]|built|developed|trained|` +
	`programmed|designed|invented|owns|runs)\s+you\b` +
	`|(?:what|which)\s+(?:(?:kind|sort|type|version)\s+of\s+)?(?:an?\s+)?(?:large\s+)?(?:language\s+|ai\s+)?(?:model|` +
	`ai|llm|gpt|version)\s+(?:are|is)\s+(?:you|this)\b` +
	`|(?:who|what)\s+(?:exactly\s+)?are\s+you\s*[.?!]*$` +
	`|(?:who|what)\s+(?:is|are|was|were)\s+your\s+(?:maker|creator|developer|manufacturer|company|owner|model)s?\b)`)

// makers are the companies and products that small models take themselves for.
const makers = `(?:openai|chat ?gpt|gpt-?[0-9][0-9.]*o?|alibaba|tongyi|qwen|anthropic|claude|google|deepmind|gemini|` +
	`microsoft|copilot|meta|llama|amazon|alexa|apple|siri|mistral|deepseek)\b`

// ofAMaker matches a sentence in which the assistant calls itself one of the makers, or made by one. In
// English only typical words may stand between ("I was created by …", but not "I'm fond of apple pie"), in
// other languages a few words.
var ofAMaker = regexp.MustCompile(`(?i)\b(?:i(?:'m| am| was| have been|'ve been)|my name is|call me|my ` +
	`(?:maker|creator|developer)s? (?:is|are|was|were)|as an?)\s+` +
	`(?:(?:an?|the|originally|actually|just|called|named|large|language|ai|artificial|intelligence|model|assistant|` +
	`virtual|chatbot|bot|voice|program|computer|system|` +
	`based|on|and|was|that|who|which|is|made|created|developed|trained|built|designed|programmed|powered|owned|by|` +
	`from|of|at|company|team|researchers)\W+)*` + makers +
	`|\b` + makers + `.*\b(?:made|created|developed|trained|built|designed|programmed) me\b` +
	`|\b(?:ich (?:wurde|bin)|je suis|j'ai été|(?:yo )?soy|fui|he sido|sono(?: stat[oa])?|ik ben|eu ` +
	`(?:sou|fui))\s+(?:\S+\s+){0,5}` + makers)

// identity corrects what an answer says about the assistant itself.
type identity struct {
	customPrompt string // in lower case
	description  string // replaces a wrong statement; empty: nothing is corrected
	begun        string // the beginning of a sentence that goes on
}

func newIdentity(c turn.Conversation) *identity {
	return &identity{customPrompt: strings.ToLower(c.CustomPrompt), description: c.Identity}
}

// answer returns the fixed answer to a question what the assistant is, or "" if the model answers.
func (i *identity) answer(asked string) string {
	if i.description == "" || !asksWhatItIs.MatchString(asked) {
		return ""
	}
	return i.description
}

// filter returns a piece of the reply as it may be said, and whether the reply ends with it. If the assistant
// names a maker that is not its own, the piece becomes the description.
func (i *identity) filter(piece string, goesOn bool) (say string, over bool) {
	if i == nil || i.description == "" {
		return piece, false
	}
	whole := strings.TrimSpace(i.begun + " " + piece)
	if ofAMaker.MatchString(strings.ReplaceAll(whole, "’", "'")) && !denies.MatchString(whole) {
		if i.begun != "" {
			return "… " + i.description, true
		}
		return i.description, true
	}
	if i.begun = ""; goesOn {
		i.begun = whole
	}
	return piece, false
}

// denies matches a sentence that says what is not so.
var denies = regexp.MustCompile(`(?i)\b(not|no|never|nicht|kein|keine|pas|non)\b|n't\b`)

// firstWordBias makes an answer begin with no if the user asks whether the assistant is a human or a product
// that its prompt does not name. Otherwise it returns others, the other biases.
func (i *identity) firstWordBias(asked string, others map[string]float64) map[string]float64 {
	who := askedWhoSpeaks.FindStringSubmatch(asked)
	if who == nil || asksForAMachine.MatchString(asked) || strings.Contains(i.customPrompt, strings.ToLower(who[1])) {
		return others
	}
	out := copyBias(others)
	out["Yes"], out["No"] = -strongBias, strongBias
	return out
}

// copyBias returns a copy of biases that may be changed.
func copyBias(others map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(others))
	maps.Copy(out, others)
	return out
}

// lastAsked returns what the user said if nothing has followed, otherwise "".
func lastAsked(c turn.Conversation) string {
	if n := len(c.History); n > 0 && (c.History[n-1].Role == turn.User || c.History[n-1].Role == turn.Context) {
		return asked(c)
	}
	return ""
}
