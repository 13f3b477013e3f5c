package reply

import (
	"context"
	"errors"
	"strings"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// MinUserWords is how many words of the user have to fit into the model next to the prompt: a minute and a
// half of speech. With a prompt that leaves less, nearly every answer would fail.
const MinUserWords = 200

// CheckPromptFits returns an engine.ErrTooLong if none of the models can read the prompt of c, its tools,
// MinUserWords of the user and their context. There must be at least one model. A model without a known
// limit reads everything.
func CheckPromptFits(ctx context.Context, c turn.Conversation, userContext string,
	models ...engine.LanguageModel) error {
	c.History = []turn.Entry{{Role: turn.User, Text: strings.Repeat("word ", MinUserWords)}}
	if userContext != "" {
		c.History = append(c.History, turn.Entry{Role: turn.Context, Text: userContext})
	}
	var first error
	for _, m := range models {
		checker, limited := m.(engine.PromptChecker)
		if !limited {
			return nil
		}
		err := checker.CheckPrompt(ctx, mind{}.prompt(c, nil))
		if _, long := errors.AsType[engine.ErrTooLong](err); !long {
			return nil // other errors show when an answer is wanted
		}
		if first == nil {
			first = err
		}
	}
	return first
}
