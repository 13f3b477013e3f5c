package reply

import (
	"context"
	"errors"
	"strings"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// MinUserWords is how much a user has to be able to say beside what a conversation
// begins with, in words: a minute and a half of speech. Of a prompt that leaves
// less nearly every answer would fail.
const MinUserWords = 200

// CheckPromptFits says, as an engine.ErrTooLong, that none of the models that may answer,
// of which there is one at least, can read the prompt of c and its tools with
// MinUserWords of the user's, beside which stands a context. A model that does not
// tell how much it reads reads everything.
func CheckPromptFits(ctx context.Context, c turn.Conversation, beside string, models ...engine.LanguageModel) error {
	c.History = []turn.Entry{{Role: turn.User, Text: strings.Repeat("word ", MinUserWords)}}
	if beside != "" {
		c.History = append(c.History, turn.Entry{Role: turn.Context, Text: beside})
	}
	var first error
	for _, m := range models {
		checker, limited := m.(engine.PromptChecker)
		if !limited {
			return nil
		}
		err := checker.CheckPrompt(ctx, mind{}.prompt(c, nil))
		if _, long := errors.AsType[engine.ErrTooLong](err); !long {
			return nil // what else is wrong shows where an answer is wanted
		}
		if first == nil {
			first = err
		}
	}
	return first
}
