package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"parley/appliance/engine"
)

// An answer is a reply in the making.
type answer struct {
	start time.Time // when the caller began to wait
	watch *watch
	emit  func(engine.Part) error
	usage *engine.Usage

	thoughts thinking
	events   int
	begun    bool  // a piece was emitted
	finished bool  // the server said that the reply ends here
	refused  error // emit's

	call     *engine.ToolCall // in the making
	callSize int
	first    []topLogprob // of the first token, where they were asked for
}

// streamError is what a server says in the stream when it fails.
type streamError struct{ message string }

func (e *streamError) Error() string { return e.message }

// read takes the events to the end of the stream.
func (a *answer) read(stream *eventStream) error {
	for {
		data, err := stream.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		a.watch.next()
		a.events++
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return fmt.Errorf("an event is not what the OpenAI API says: %w", err)
		}
		if c.Error.there {
			return &streamError{c.Error.message}
		}
		if err := a.take(c); err != nil {
			return err
		}
	}
	if !a.finished {
		return nil // what was held back belongs to an answer that was cut off
	}
	if err := a.deliver(a.thoughts.rest()); err != nil {
		return err
	}
	return a.deliverCall()
}

// take emits what an event says.
func (a *answer) take(c chunk) error {
	if n := c.Usage; n.TotalTokens > 0 {
		a.usage.PromptTokens = n.PromptTokens
		a.usage.CachedTokens = n.Details.CachedTokens
		a.usage.ReplyTokens = n.CompletionTokens
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // only one answer was asked for
		}
		if len(a.first) == 0 && len(choice.Logprobs.Content) > 0 {
			a.first = choice.Logprobs.Content[0].TopLogprobs
		}
		if err := a.takeCalls(choice.Delta.ToolCalls); err != nil {
			return err
		}
		if err := a.deliver(a.thoughts.spoken(choice.Delta.Content + choice.Delta.Refusal)); err != nil {
			return err
		}
		a.finished = a.finished || choice.FinishReason != ""
	}
	return nil
}

// deliver emits a piece. How long the caller takes is not the server's fault.
func (a *answer) deliver(piece string) error {
	if piece == "" {
		return nil
	}
	return a.hand(engine.Part{Text: strings.ToValidUTF8(piece, "\uFFFD")})
}

func (a *answer) hand(p engine.Part) error {
	if !a.begun {
		a.begun, a.usage.FirstToken = true, time.Since(a.start)
	}
	a.watch.pause()
	a.refused = a.emit(p)
	a.watch.next()
	return a.refused
}
