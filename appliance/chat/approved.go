package chat

import (
	"context"
	"time"

	"parley/appliance/answers"
	"parley/appliance/chat/reply"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Answers compiles the approved answers of configs. An answers.Finder does.
type Answers interface {
	// Open returns the set of some answers. It does not wait until their ways of asking are embedded. The error
	// names the part that the box lacks.
	Open(ctx context.Context, a contract.Answers) (*answers.Set, error)
	// Ready waits until all ways of asking of a set are embedded.
	Ready(ctx context.Context, s *answers.Set) error
}

// readyPatience is how long a question waits for the ways of asking of a config that has just been saved: 100 of
// them are embedded in that time. It is less than decisionPatience of a reply. A larger config answers with those
// that it has by then.
const readyPatience = 800 * time.Millisecond

// approvedSet is the set of a chat.
type approvedSet struct {
	finder Answers
	*answers.Set
}

// Decide says which answer q wants, as answers.Set does, once the set is ready.
func (a approvedSet) Decide(ctx context.Context, q answers.Question, judge answers.Judge, u *engine.Urgency,
	conversation string) (answers.Decision, error) {
	ready, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	_ = a.finder.Ready(ready, a.Set) // if it fails, the set answers with the ways that it has
	return a.Set.Decide(ctx, q, judge, u, conversation)
}

// approvedAnswers returns the approved answers of a chat. If the box cannot find them, no answer fits, and the
// log says why.
func (h *Host) approvedAnswers(ctx context.Context, c setup, o connection.Opening) reply.ApprovedAnswers {
	if c.settings.Answers == nil {
		return reply.ApprovedAnswers{}
	}
	approved := reply.ApprovedAnswers{Answers: c.settings.Answers, Judge: h.judge(c.model)}
	if h.Answers == nil {
		return approved
	}
	set, err := h.Answers.Open(ctx, *c.settings.Answers)
	if err != nil {
		h.Log.Warn("no approved answer can be found in this chat", "request", o.RequestID, "config", c.config.ID, "err",
			err)
		return approved
	}
	approved.Finder = approvedSet{h.Answers, set}
	return approved
}

// Judge returns the model that judges approved answers in the chats of a config; nil: there is none.
func (h *Host) Judge(c contract.ReturnConfig) answers.Judge {
	model, err := h.modelOf(c, "")
	if err != nil { // no chat of the config can begin
		model = h.Model
	}
	return h.judge(model)
}

// judge returns the model that judges approved answers: the chat's or the box's own, whichever can; nil if none can.
func (h *Host) judge(model engine.LanguageModel) answers.Judge {
	for _, m := range [...]engine.LanguageModel{model, h.Model} {
		if j := answers.JudgeOf(m); j != nil {
			return j
		}
	}
	return nil
}
