package reply

import (
	"strings"

	"parley/appliance/chat/turn"
	"parley/appliance/language"
)

// cannot is the answer to a request that the assistant cannot fulfil. The rules show it to small models,
// which say that they do not know all the same.
const cannot = "I'm sorry, I can't do that from here."

// refusal replaces "I don't know" as the answer to a request; nil: the user has made no request.
type refusal struct {
	unknown string // how one says in the language that one does not know
	begun   string // the beginning of a sentence that goes on
}

func newRefusal(c turn.Conversation) *refusal {
	spoken := language.Of(c.Language)
	if !c.CheckAnswers || c.CustomPrompt == "" && len(c.Tools) == 0 || !spoken.English() || !isRequest(lastAsked(c)) {
		return nil
	}
	return &refusal{unknown: spoken.Unknown()}
}

// filter returns a piece of the reply as it may be said. If the whole sentence only says "I don't know", its
// end becomes that of cannot.
func (r *refusal) filter(piece string, goesOn bool) string {
	if r == nil {
		return piece
	}
	whole := strings.TrimSpace(r.begun + " " + piece)
	if r.begun = whole; !goesOn {
		r.begun = ""
	}
	rest, isEnd := strings.TrimSpace(piece), strings.HasSuffix(r.unknown, strings.TrimSpace(piece))
	if goesOn || !isEnd || whole != r.unknown {
		return piece
	}
	said := strings.TrimSuffix(r.unknown, rest)
	if end, found := strings.CutPrefix(cannot, said); found {
		return end
	}
	return piece
}
