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
	Model engine.LanguageModel
	Pace  *Pace // of Model
	// Certain has it asked only for answers to what the user has said for certain.
	Certain bool
	// Prompt is the system prompt for it where the conversation has none, as with
	// a custom language model, which brings its own.
	Prompt string
}

// passedOver is how long a model that has failed is not asked again while there
// is another one: who calls waits for it once, and one that was started anew is
// back within minutes.
const passedOver = 30 * time.Second

// ailing notes when models of a chat have failed.
type ailing struct {
	mu    sync.Mutex
	until time.Time // the first model is passed over so long
}

func (a *ailing) failed(err error) {
	for _, lasting := range []error{engine.ErrUnreachable, engine.ErrConnection, engine.ErrTimedOut,
		engine.ErrOverloaded} {
		if errors.Is(err, lasting) {
			a.mu.Lock()
			a.until = time.Now().Add(passedOver)
			a.mu.Unlock()
			return
		}
	}
}

func (a *ailing) is() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Before(a.until)
}

// generate has a model go on with a prompt: the chat's, or where that fails the
// next one of those that it may fall back on. What a model says is posted
// sentence by sentence; the tool that it calls is returned, nil where it calls
// none.
func (t thinking) generate(ctx context.Context, prompt engine.Prompt) (call *engine.ToolCall, err error) {
	said := ""
	if len(t.fallback) == 0 || !t.ailing.is() {
		if call, said, err = t.generateWords(ctx, unmarked{t.model, t.pace}, t.pace, prompt); err == nil ||
			len(t.fallback) == 0 {
			return call, err
		}
		t.ailing.failed(err)
	}
	for _, next := range t.fallback {
		if ctx.Err() != nil || next.Certain && !t.schedule.awaited(ctx) {
			return nil, context.Cause(ctx)
		}
		t.log.Warn("a language model has failed; the next one answers", "turn", t.turn, "said", len(said), "err", err)
		more, goesOn, before := "", t, err
		goesOn.expected = t.expected && said == ""
		call, more, err = goesOn.generateWords(ctx, repeating{unmarked{next.Model, next.Pace}, said}, next.Pace,
			next.goOn(prompt, said))
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

// goOnRequest asks a model to end an answer that another one has begun. It is no
// part of the history.
const goOnRequest = "(Your answer was broken off there, and the user has heard that much of it. Go on from exactly " +
	"there, briefly, and repeat nothing of it.)"

// goOn is a prompt for a model that goes on with what another one has said.
func (f Fallback) goOn(p engine.Prompt, said string) engine.Prompt {
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
			engine.Message{Role: engine.User, Content: goOnRequest})
	}
	p.Messages = messages
	return p
}

// uncut is what of a text can be said that broke off at its end: without the
// word that may be half of one, or the number that may have more digits. Where
// words are not written apart, the last character goes.
func uncut(text string) string {
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
