package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// An answer is a reply in progress.
type answer struct {
	start    time.Time // when the caller began to wait
	timeouts *timeouts
	emit     func(engine.Part) error
	usage    *engine.Usage

	custom    bool   // the server may deviate from the API
	textBytes int    // bytes of text received
	last      rune   // last rune of the text that is not a space
	session   string // as last reported by the server
	events    int
	begun     bool  // a part was emitted
	finished  bool  // the server has ended the reply
	closes    bool  // the end of the connection ends the answer
	emitError error // error of emit
	refusal   refusal

	call     *engine.ToolCall // in progress
	callSize int
	first    []topLogprob // of the first token, if requested
}

// streamError is an error that a server reports within the stream.
type streamError struct{ failure }

func (e *streamError) Error() string { return e.message }

// errNoEnd reports an answer without an end mark that stops in the middle of a sentence.
var errNoEnd = fmt.Errorf("the connection was closed in the middle of a sentence, without %q before it: %w",
	"data: "+endOfStream, io.ErrUnexpectedEOF)

// cutOff reports whether the server went away in the middle: only the connection ended, which also
// happens when a program crashes, and the last sentence is incomplete.
func (a *answer) cutOff() bool {
	return a.custom && a.closes && !a.finished && a.call == nil &&
		(unicode.IsLetter(a.last) || unicode.IsDigit(a.last) || strings.ContainsRune(",-–", a.last))
}

// readStream processes the events until the stream ends.
func (a *answer) readStream(stream *eventStream) error {
	for {
		data, err := stream.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if a.custom && len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		a.events++
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return fmt.Errorf("an event does not match the OpenAI API: %w", err)
		}
		if c.Error.present {
			return &streamError{c.Error}
		}
		if c.hasContent() {
			a.timeouts.next()
		}
		if err := a.takeChunk(c); err != nil {
			return err
		}
	}
	a.finished = a.finished || stream.marked
	if a.refusal.present {
		return &a.refusal
	}
	if a.cutOff() {
		return errNoEnd
	}
	if !a.finished && !a.custom {
		return nil // a pending call belongs to an answer that was cut off
	}
	return a.deliverCall()
}

// takeChunk emits the content of an event.
func (a *answer) takeChunk(c chunk) error {
	if n := c.Usage; n.TotalTokens > 0 {
		a.usage.PromptTokens = n.PromptTokens
		a.usage.CachedTokens = n.Details.CachedTokens
		a.usage.ReplyTokens = n.CompletionTokens
	}
	if err := a.setSession(c.SystemFingerprint); err != nil {
		return err
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // only one answer was requested
		}
		if len(a.first) == 0 && len(choice.Logprobs.Content) > 0 {
			a.first = choice.Logprobs.Content[0].TopLogprobs
		}
		received := choice.Delta
		if a.custom && a.textBytes == 0 && a.call == nil && received.Content == "" && received.Refusal == "" &&
			len(received.calls()) == 0 {
			received = choice.Message // a last event may repeat the whole message
			a.finished = a.finished || received.Content != ""
		}
		if err := a.takeCalls(received.calls()); err != nil {
			return err
		}
		a.refusal.add(received.Refusal, choice.FinishReason)
		piece := string(received.Content)
		if words := strings.TrimSpace(piece); words != "" {
			a.last, _ = utf8.DecodeLastRuneInString(words)
		}
		if a.textBytes += len(piece); a.custom && a.textBytes > maxCustomText {
			return errTooMuchText
		}
		if err := a.deliver(piece); err != nil {
			return err
		}
		a.finished = a.finished || choice.FinishReason != ""
	}
	return nil
}

// setSession reports the name that a custom language model gives the session, when it changes.
func (a *answer) setSession(session string) error {
	if !a.custom || session == "" || session == a.session {
		return nil
	}
	a.session = session
	a.timeouts.pause()
	a.emitError = a.emit(engine.Part{Session: session})
	a.timeouts.next()
	return a.emitError
}

// deliver emits a piece of text.
func (a *answer) deliver(piece string) error {
	if piece == "" {
		return nil
	}
	return a.emitPart(engine.Part{Text: strings.ToValidUTF8(piece, "\uFFFD")})
}

// emitPart emits a part and excludes the caller's time from the limits.
func (a *answer) emitPart(p engine.Part) error {
	if !a.begun {
		a.begun, a.usage.FirstToken = true, time.Since(a.start)
	}
	a.timeouts.pause()
	a.emitError = a.emit(p)
	a.timeouts.next()
	return a.emitError
}
