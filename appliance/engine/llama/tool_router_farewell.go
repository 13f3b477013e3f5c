package llama

import (
	"regexp"
	"slices"
	"strings"

	"parley/appliance/engine"
)

// A user who says goodbye to an assistant that can hang up wants it to hang up. The router does not
// know that, because the words request nothing.

// hangUp is the name of the tool that ends a chat.
const hangUp = "hang_up"

// farewells are all the words of a farewell; leaves matches the words that must occur, one at
// least.
var (
	farewells = wordSet(
		"bye goodbye good night see you later soon tomorrow then now ok okay well so no yes great lovely " +
			"thanks thank very much a lot for your the help that's that is all was nothing else " +
			"have nice day evening weekend too please hang up end call chat can talk to oh and again i it alright " +
			"right tschüss tschüs auf wiedersehen wiederhören danke vielen dank au revoir merci adiós adios hasta " +
			"luego gracias arrivederci ciao grazie tchau adeus obrigado tot ziens dag bedankt hej då")
	leaves = regexp.MustCompile(`\b(?:bye|goodbye|see you(?: (?:later|soon|tomorrow|then)| again)?$|hang up|end the ` +
		`(?:call|chat)|auf wieder(?:sehen|hören)|au revoir|hasta luego|arrivederci|tchau|tot ` +
		`ziens)\b|(?:^|\s)(?:tschüss?|adi[oó]s|adeus|hej då)(?:\s|$)`)
	// over matches words about the end of a conversation, which may also answer a question such as
	// "Anything else?".
	over = regexp.MustCompile(`\b(?:that's|that is|that was) all\b|\bnothing else\b`)
	// greets matches words used on arrival and on leaving; they only take leave after an earlier
	// turn.
	greets = regexp.MustCompile(`\bciao\b`)
	thank  = regexp.MustCompile(`\b(?:thanks|thank you)\b`)
)

// farewellTool returns the index of the tool that hangs up if the user says goodbye and nothing
// else; otherwise -1.
func (s *toolset) farewellTool(messages []engine.Message) int {
	at := slices.IndexFunc(s.tools, func(t engine.Tool) bool { return t.Name == hangUp })
	if at < 0 || s.parameters[at].Validate("{}") != nil {
		return -1
	}
	before, user, since, ok := lastRequest(messages)
	if !ok || len(since) > 0 || len(user) > maxPleasantryBytes || messages[len(messages)-1].Role != engine.User ||
		strings.Contains(user, "?") {
		return -1
	}
	words := wordsOf(user)
	if len(words) > maxPleasantryWords || slices.ContainsFunc(words, func(w string) bool { return !farewells[w] }) {
		return -1
	}
	phrase := strings.Join(words, " ")
	if greets.MatchString(phrase) {
		spoke := func(m engine.Message) bool { return m.Role == engine.User }
		if slices.ContainsFunc(messages[:len(messages)-1], spoke) {
			return at
		}
		return -1
	}
	if leaves.MatchString(phrase) || over.MatchString(phrase) && thank.MatchString(phrase) &&
		!strings.Contains(before, "?") {
		return at
	}
	return -1
}
