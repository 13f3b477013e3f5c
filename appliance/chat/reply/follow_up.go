package reply

import (
	"regexp"
	"slices"
	"strings"

	"parley/appliance/answers"
	"parley/appliance/chat/turn"
	"parley/appliance/language"
	"parley/appliance/text"
)

// What people say about the answer before, in English, as language.Plain writes it.
var (
	// asksAgain matches a request to say the last answer once more.
	asksAgain = regexp.MustCompile(`^(?:(?:sorry|pardon|pardon me|excuse me|i m sorry|hm+|huh|oh|uh|um|wait|ok|` +
		`okay|please) )*(?:what|what was (?:that|it)|what did you (?:just )?say|come again|i beg your pardon|` +
		`pardon|huh|i (?:didn t|did not|couldn t|could not) (?:quite )?(?:catch|hear|get|understand) ` +
		`(?:that|you|it)|(?:(?:can|could|would|will) you )?(?:please )?(?:repeat|say)(?: that| it)?` +
		`(?: once more| one more time| again)?|once more|one more time|again)(?: please)?$`)
	// goesOn matches a request to finish an answer that was interrupted.
	goesOn = regexp.MustCompile(`^(?:(?:ok|okay|yes|yeah|please|sorry|no) )*(?:go on|go ahead|continue|carry on|` +
		`keep going|(?:and )?what were you saying|you were saying)(?: please)?$`)
	// courtesy matches thanks, a greeting or a farewell, which mean the same whatever was said before.
	courtesy = regexp.MustCompile(`^(?:(?:ok|okay|oh|great|good|lovely|perfect|fine|cool|nice|well|alright|all right|` +
		`no|yes|yeah|and|that s|all|right|wonderful|brilliant) )*(?:thanks|thank you|cheers|bye|goodbye|see you|` +
		`hello|hi|hey|good (?:morning|afternoon|evening|night|day))(?: (?:very|so|much|a lot|for (?:that|this|the ` +
		`help|your help)|you|again|there|that s (?:all|great|good|it)|later|soon|then|everyone|to you|bye|goodbye|` +
		`see you|thanks|thank))*$`)
)

// denial matches one of the words with which a correction begins.
const denial = `(?:(?:no|nope|nah|sorry|i'm sorry|wait|actually|oh|hm+|not that(?: one)?|wrong|` +
	`that(?:'s| is) (?:wrong|not (?:it|right|what i (?:meant|mean|asked|said))))\b[\s,.;:!–—-]+)`

// Corrections, in English, as they were said.
var (
	// meant matches "No, I meant the café", and "I was asking about the café".
	meant = regexp.MustCompile(`(?i)^\W*(?:` + denial + `+(?:but\s+)?i\s+(?:really\s+|actually\s+)?(?:asked|said|` +
		`want(?:ed)?\s+to\s+know)|` + denial + `*(?:but\s+)?i\s+(?:really\s+|actually\s+)?(?:meant(?:\s+to\s+ask)?|` +
		`mean|was\s+asking|was\s+talking))\b\s*(?:about\s+|for\s+)?[,:]?\s*(.+)$`)
	// instead matches "Not the toilet, the café".
	instead = regexp.MustCompile(`(?i)^\W*(?:no\b[\s,.;:!–—-]+)?not\s+(?:the|your|a|an|in|on|at|for)\s+[^,.;:–—-]+` +
		`[,.;:–—-]+\s*(?:but\s+|i\s+meant\s+)?(.+)$`)
	// denied matches "No, the café".
	denied = regexp.MustCompile(`(?i)^\W*(?:no|nope)\b[\s,.;:!–—-]+((?:the|your|a|an|in|on|at|for|about|where|when|` +
		`what|how|who|which|is|are|do|does|can)\s+.+)$`)
)

// userQuestion is what the user wants to know, and what was said before it.
type userQuestion struct {
	answers.Question
	parts []string // the questions of which it consists, if there are several
	again bool     // it asks for the answer before once more
	rest  bool     // it asks for the rest of the answer before
	given string   // ID of the approved answer before; empty if there was none
	heard string   // what was heard of it since the user's words before, if it was interrupted
}

// questionOf returns the question that the user asked last.
func questionOf(history []turn.Entry) userQuestion {
	var q userQuestion
	at := lastUser(history, len(history))
	if at < 0 {
		return q
	}
	q.Text = history[at].Text
	before, heard := lastUser(history, at), "" // heard of one answer
	for _, e := range history[before+1 : at] {
		if e.Role != turn.Assistant {
			continue
		}
		q.BeforeAssistant = strings.TrimSpace(q.BeforeAssistant + " " + strings.TrimSuffix(e.Text, turn.CutMark))
		if e.AnswerID != q.given {
			heard = ""
		}
		heard = strings.TrimSpace(heard + " " + strings.TrimSuffix(e.Text, turn.CutMark))
		if q.given, q.heard = e.AnswerID, ""; e.GoesOn {
			q.heard = heard
		}
	}
	plain := language.Plain(q.Text)
	q.again = asksAgain.MatchString(plain) || plain == "sorry" && language.Question(q.Text)
	q.rest = goesOn.MatchString(plain)
	if courtesy.MatchString(plain) || language.Of("en").Backchannel(q.Text) {
		q.BeforeAssistant = ""
		return q
	}
	if before >= 0 {
		q.BeforeUser = history[before].Text
	}
	q.correct()
	if q.Not == "" {
		q.parts = questionsIn(q.Text)
	}
	return q
}

// correct removes the words of a correction, and excludes the answer that is corrected.
func (q *userQuestion) correct() {
	if q.given == "" {
		return
	}
	for _, correction := range [...]*regexp.Regexp{meant, instead, denied} {
		if m := correction.FindStringSubmatch(q.Text); m != nil {
			q.Text, q.Not = m[1], q.given
			return
		}
	}
}

// lastUser returns the index of the user's last words before end, or -1.
func lastUser(history []turn.Entry, end int) int {
	for i, e := range slices.Backward(history[:end]) {
		if e.Role == turn.User {
			return i
		}
	}
	return -1
}

// maxParts is how many questions of one turn are answered. Nobody asks more at once.
const maxParts = 3

// joinsQuestions matches what joins two questions within a sentence, in English: "When do you open, and where
// is the café?" Its group begins the second question.
var joinsQuestions = regexp.MustCompile(`(?i)[,;]?\s+(?:and|plus|also)\s+(?:also\s+)?` +
	`((?:when|where|what|how|who|which|why|is|are|do|does|can|could|may|must|will|would)\s)`)

// asksSomething matches the beginning of a question, in English.
var asksSomething = regexp.MustCompile(`(?i)^(?:(?:and|so|but|also|well|ok|okay)\W+)*(?:when|where|what|how|who|` +
	`which|why|is|are|do|does|can|could|may|must|will|would)\s`)

// questionsIn returns the questions in a text of which there are several sentences or questions; nil if the
// text is one question.
func questionsIn(said string) []string {
	if len(said) > maxRequest {
		return nil
	}
	var parts []string
	pieces := 0
	for _, sentence := range text.Sentences(said) {
		at := 0
		for _, cut := range joinsQuestions.FindAllStringSubmatchIndex(sentence, -1) {
			parts, at = append(parts, sentence[at:cut[0]]), cut[2]
			pieces++
		}
		parts = append(parts, sentence[at:])
		pieces++
	}
	parts = slices.DeleteFunc(parts, func(p string) bool {
		return len(strings.Fields(p)) < 2 || !language.Question(p) && !asksSomething.MatchString(p)
	})
	if pieces < 2 || len(parts) == 0 {
		return nil
	}
	return parts[max(0, len(parts)-maxParts):]
}
