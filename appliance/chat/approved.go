package chat

import (
	"context"

	"parley/appliance/answers"
	"parley/appliance/chat/reply"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// Answers compiles the approved answers of configs. An answers.Finder does.
type Answers interface {
	// Open returns the set of some answers. It does not wait for what is still to be embedded. The error says
	// what the box lacks.
	Open(ctx context.Context, a contract.Answers) (*answers.Set, error)
}

// approvedAnswers returns the approved answers of a chat. If the box cannot find them, no answer fits, and the
// log says why.
func (h *Host) approvedAnswers(ctx context.Context, c setup, o connection.Opening) reply.ApprovedAnswers {
	if c.settings.Answers == nil {
		return reply.ApprovedAnswers{}
	}
	approved := reply.ApprovedAnswers{Answers: c.settings.Answers, Judge: h.judge(c.model, c.custom)}
	if h.Answers == nil {
		return approved
	}
	set, err := h.Answers.Open(ctx, *c.settings.Answers)
	if err != nil {
		h.Log.Warn("no approved answer can be found in this chat", "request", o.RequestID, "config", c.config.ID, "err",
			err)
		return approved
	}
	approved.Finder = set
	return approved
}

// Judge returns the model that weighs approved answers in the chats of a config; nil: there is none.
func (h *Host) Judge(c contract.ReturnConfig) answers.Judge {
	model, err := h.modelOf(c, "")
	if err != nil { // no chat of the config can begin
		model = h.Model
	}
	return h.judge(model, isCustom(c))
}

// judge returns the model that weighs approved answers: one on this box, which takes dozens of milliseconds, if
// there is one; otherwise the chat's, unless it is a custom one, which answers what it is asked. nil: none.
func (h *Host) judge(model engine.LanguageModel, custom bool) answers.Judge {
	for _, m := range [...]engine.LanguageModel{model, h.Model} {
		if _, local := m.(reply.Router); local {
			return m
		}
	}
	if custom {
		return nil
	}
	return model
}
