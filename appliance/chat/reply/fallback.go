package reply

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// Fallback is a language model that answers where the one before it has failed.
type Fallback struct {
	Model      engine.LanguageModel
	Throughput *Throughput // of Model
	// NoSpeculation has it asked only for answers to what the user has said for certain.
	NoSpeculation bool
	// Prompt is the system prompt for it where the conversation has none, as with
	// a custom language model, which brings its own.
	Prompt string
}

// outageTime is how long a model that has failed is not asked again while there
// is another one: who calls waits for it once, and one that was started anew is
// back within minutes.
const outageTime = 30 * time.Second

// outage notes when models of a chat have failed.
type outage struct {
	mu    sync.Mutex
	until time.Time // the first model is passed over so long
}

func (a *outage) note(err error) {
	for _, lasting := range []error{engine.ErrUnreachable, engine.ErrConnection, engine.ErrTimedOut,
		engine.ErrOverloaded} {
		if errors.Is(err, lasting) {
			a.mu.Lock()
			a.until = time.Now().Add(outageTime)
			a.mu.Unlock()
			return
		}
	}
}

func (a *outage) lasts() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Before(a.until)
}

// generateWithFallback has a model go on with a prompt: the chat's, or where that fails the
// next one of those that it may fall back on. What a model says is posted
// sentence by sentence; the tool that it calls is returned, nil where it calls
// none.
func (t thinking) generateWithFallback(ctx context.Context, prompt engine.Prompt) (call *engine.ToolCall, err error) {
	said := ""
	if len(t.fallback) == 0 || !t.outage.lasts() {
		if call, said, err = t.generateWords(ctx, unmarked{t.model, t.throughput}, t.throughput, prompt); err == nil ||
			len(t.fallback) == 0 {
			return call, err
		}
		t.outage.note(err)
	}
	for _, next := range t.fallback {
		if ctx.Err() != nil || next.NoSpeculation && !t.schedule.waitUntilReal(ctx) {
			return nil, context.Cause(ctx)
		}
		t.log.Warn("a language model has failed; the next one answers", "turn", t.turn, "said", len(said), "err", err)
		more, goesOn, before := "", t, err
		goesOn.wordsExpected = t.wordsExpected && said == ""
		call, more, err = goesOn.generateWords(ctx, repeating{unmarked{next.Model, next.Throughput}, said},
			next.Throughput,
			next.continuePrompt(prompt, said))
		if err == nil && more == "" && call == nil && midSentence(said) {
			err = before // nothing has ended what was begun
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

// continueInstruction asks a model to end an answer that another one has begun. It is no
// part of the history.
const continueInstruction = "(Your answer was broken off there, and the user has heard that much of it. Go on from " +
	"exactly there, briefly, and repeat nothing of it.)"

// resume is a prompt for a model that goes on with what another one has said.
func (f Fallback) continuePrompt(p engine.Prompt, said string) engine.Prompt {
	p.Key = "" // it is for the server of the first
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

// withoutCutWord is what of a text can be said that broke off at its end: without the
// word that may be half of one, or the number that may have more digits. Where
// words are not written apart, the last character goes.
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
