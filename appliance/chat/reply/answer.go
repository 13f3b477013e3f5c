package reply

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// Answer has a model answer a conversation as in a chat of that ID, after prefilling its prompt, and returns
// the text. It is for measuring answers without a voice.
func Answer(ctx context.Context, chat string, model engine.LanguageModel, c turn.Conversation) (string, engine.Usage,
	error) {
	var said []string
	var failed error
	var usage engine.Usage
	begun := time.Now()
	m := mind{
		chatID:     chat,
		model:      metered{model, &usage},
		throughput: NewThroughput(),
		outage:     &outage{},
		toolChecks: &toolChecks{},
		log:        slog.New(slog.DiscardHandler),
		clock:      func() time.Duration { return time.Since(begun) },
		post: func(e turn.Event) {
			switch e := e.(type) {
			case turn.SentenceThought:
				said = append(said, e.Sentence.Text)
			case turn.MindFailed:
				if failed = e.Fault.Cause; failed == nil {
					failed = e.Fault
				}
			}
		},
	}
	instructions := c
	instructions.History = nil
	if err := model.Prefill(ctx, m.prompt(instructions, engine.Live.Urgency())); err != nil {
		return "", usage, err
	}
	begun = time.Now()
	m.reply(ctx, turn.Think{Conversation: c}, ModelOptions{}, newSchedule(true, begun.Add(replyTimeout)))
	return strings.Join(said, " "), usage, failed
}

// metered is a language model that records the usage of its last reply.
type metered struct {
	engine.LanguageModel
	usage *engine.Usage
}

func (m metered) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	u, err := m.LanguageModel.Generate(ctx, p, emit)
	*m.usage = u
	return u, err
}
