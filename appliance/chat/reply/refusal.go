package reply

import (
	"strings"

	"parley/appliance/chat/turn"
	"parley/appliance/language"
)

// cannot is what somebody is told who wants something done that nobody here can do.
// The rules show it to small models, which say all the same that they do not know.
const cannot = "I'm sorry, I can't do that from here."

// refusal is what the user wants to have done; nil: nothing, as far as that is known.
type refusal struct {
	unknown string // how one says that one does not know
	begun   string // what was said of the sentence that goes on
}

func newRefusal(c turn.Conversation) *refusal {
	spoken := language.Of(c.Language)
	if !c.CheckAnswers || c.CustomPrompt == "" && len(c.Tools) == 0 || !spoken.English() || !isRequest(lastAsked(c)) {
		return nil
	}
	return &refusal{unknown: spoken.Unknown()}
}

// pass is a piece of the reply as it may be said: not knowing is no answer to a wish.
func (w *refusal) pass(piece string, goesOn bool) string {
	if w == nil {
		return piece
	}
	whole := strings.TrimSpace(w.begun + " " + piece)
	if w.begun = whole; !goesOn {
		w.begun = ""
	}
	rest, of := strings.TrimSpace(piece), strings.HasSuffix(w.unknown, strings.TrimSpace(piece))
	if goesOn || !of || whole != w.unknown {
		return piece
	}
	said := strings.TrimSuffix(w.unknown, rest)
	if end, found := strings.CutPrefix(cannot, said); found {
		return end
	}
	return piece
}
