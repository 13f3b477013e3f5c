package reply

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// Fallback is a language model that answers when the one before it has failed.
type Fallback struct {
	Model      engine.LanguageModel
	Throughput *Throughput // of Model
	// NoSpeculation asks the model only for answers to what the user has certainly said.
	NoSpeculation bool
	// OnlyContinues means that the model is the failing one, of which another server continues what one has
	// begun. It has tried all of them before it began.
	OnlyContinues bool
	// Prompt is the system prompt if the conversation has none, because its custom language model brings its
	// own.
	Prompt string
}

// outageTime is how long a failed model is not asked again while there is a fallback. A caller waits for the
// failure only once, and a restarted server is back within minutes. A model on several servers is always asked,
// because it knows which of them fail.
const outageTime = 30 * time.Second

// outage notes failures of a chat's model.
type outage struct {
	mu    sync.Mutex
	until time.Time // the model is not asked before that
}

func (o *outage) note(err error) {
	for _, lasting := range []error{engine.ErrUnreachable, engine.ErrConnection, engine.ErrTimedOut,
		engine.ErrOverloaded} {
		if errors.Is(err, lasting) {
			o.mu.Lock()
			o.until = time.Now().Add(outageTime)
			o.mu.Unlock()
			return
		}
	}
}

func (o *outage) lasts() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Now().Before(o.until)
}

// generateWithFallback has the chat's model, or after a failure the next fallback, continue a prompt.
// Sentences are posted as they come. It returns the model's tool call, or nil.
func (t thinking) generateWithFallback(ctx context.Context, prompt engine.Prompt) (call *engine.ToolCall, err error) {
	said := ""
	pooled := slices.ContainsFunc(t.fallback, func(f Fallback) bool { return f.OnlyContinues })
	if len(t.fallback) == 0 || pooled || !t.outage.lasts() {
		if call, said, err = t.generateWords(ctx, unmarked{t.model, t.throughput}, t.throughput, prompt); err == nil ||
			len(t.fallback) == 0 {
			return call, err
		}
		t.outage.note(err)
	}
	for _, next := range t.fallback {
		if next.OnlyContinues && said == "" {
			continue
		}
		if ctx.Err() != nil || next.NoSpeculation && !t.schedule.waitUntilReal(ctx) {
			return nil, context.Cause(ctx)
		}
		t.log.Warn("language model failed; the next one answers", "turn", t.turn, "said", len(said), "err", err)
		more, goesOn, before := "", t, err
		goesOn.wordsExpected = t.wordsExpected && said == ""
		call, more, err = goesOn.generateWords(ctx, repeating{unmarked{next.Model, next.Throughput}, said},
			next.Throughput,
			next.continuePrompt(prompt, said))
		if err == nil && more == "" && call == nil && midSentence(said) {
			err = before // the sentence that was begun has no end
		}
		if said = strings.TrimSpace(said + " " + more); err == nil {
			return call, nil
		}
	}
	return nil, err
}

// midSentence reports whether a text stops in the middle of a sentence.
func midSentence(said string) bool {
	last, _ := utf8.DecodeLastRuneInString(said)
	return said != "" && (unicode.In(last, unicode.L, unicode.N, unicode.M) || strings.ContainsRune(",;:-–—", last))
}

// continueInstruction asks a model to finish an answer that another one has begun. It is not part of the
// history.
const continueInstruction = "(Your answer was broken off there, and the user has heard that much of it. Go on from " +
	"exactly there, briefly, and repeat nothing of it.)"

// continuePrompt returns the prompt for a model that continues what another one has said.
func (f Fallback) continuePrompt(p engine.Prompt, said string) engine.Prompt {
	p.Key = "" // it is for the first model's server
	messages := make([]engine.Message, 0, len(p.Messages)+2)
	for _, m := range p.Messages {
		if m.Role == engine.System && m.Content == "" {
			m.Content = f.Prompt
		}
		messages = append(messages, m)
	}
	if said != "" {
		messages = append(messages, engine.Message{Role: engine.Assistant, Content: said},
			engine.Message{Role: engine.User, Content: continueInstruction})
	}
	p.Messages = messages
	return p
}

// withoutCutWord returns what can be said of a text that was cut off: without the last word, which may be
// half a word, or the last number, which may lack digits. In scripts without spaces, only the last character
// is removed.
func withoutCutWord(text string) string {
	if text == "" {
		return ""
	}
	runes := []rune(text)
	last := runes[len(runes)-1]
	digit := len(runes) > 1 && unicode.IsDigit(runes[len(runes)-2])
	switch {
	case unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar):
		return string(runes[:len(runes)-1])
	case unicode.IsLetter(last), unicode.IsDigit(last), unicode.Is(unicode.M, last),
		digit && strings.ContainsRune(".,:", last), !unicode.IsSpace(last) && !unicode.IsPunct(last):
		return strings.TrimRightFunc(text[:strings.LastIndexFunc(text, unicode.IsSpace)+1], unicode.IsSpace)
	}
	return text
}
