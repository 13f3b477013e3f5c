package api

import (
	"errors"
	"net/http"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// openAIChat writes the next message of a conversation.
func (a *API) openAIChat(w http.ResponseWriter, r *http.Request, by caller, p contract.PostedOpenAIChat) error {
	made := contract.NewOpenAIChat(p.Model, a.now().Unix())
	if p.Stream {
		return a.streamOpenAIChat(w, r, by, p, made)
	}
	var text strings.Builder
	answer := contract.OpenAIChatAnswer{Role: contract.OpenAIAssistant}
	m, err := a.OpenAI.Chat(r.Context(), by.AccountID, p, func(part engine.Part) error {
		text.WriteString(part.Text)
		if part.Call != nil {
			answer.ToolCalls = append(answer.ToolCalls, openAICall(part.Call))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if content := text.String(); content != "" || len(answer.ToolCalls) == 0 {
		answer.Content = &content
	}
	made.Choices = []contract.OpenAIChatChoice{{Message: answer, FinishReason: m.Finish}}
	made.Usage = m.Usage
	a.reply(w, http.StatusOK, made)
	return nil
}

func openAICall(c *engine.ToolCall) contract.OpenAIToolCall {
	return contract.OpenAIToolCall{
		ID:       c.ID,
		Type:     "function",
		Function: contract.OpenAICalledByName{Name: c.Name, Arguments: c.Arguments},
	}
}

// streamOpenAIChat sends the message as events while it is written.
func (a *API) streamOpenAIChat(w http.ResponseWriter, r *http.Request, by caller, p contract.PostedOpenAIChat,
	made contract.OpenAIChat) error {
	events := newEventWriter(w)
	begun, calls := false, 0
	send := func(d contract.OpenAIChatDelta, finish *contract.OpenAIFinish) error {
		if !begun {
			begun, d.Role = true, contract.OpenAIAssistant
		}
		return events.send(made.Chunk(contract.OpenAIChatChunkChoice{Delta: d, FinishReason: finish}))
	}
	m, err := a.OpenAI.Chat(r.Context(), by.AccountID, p, func(part engine.Part) error {
		if part.Call == nil {
			return send(contract.OpenAIChatDelta{Content: &part.Text}, nil)
		}
		call := contract.OpenAIToolCallDelta{Index: calls, OpenAIToolCall: openAICall(part.Call)}
		calls++
		return send(contract.OpenAIChatDelta{ToolCalls: []contract.OpenAIToolCallDelta{call}}, nil)
	})
	if err != nil {
		return a.endEvents(w, r, events, err)
	}
	if err := send(contract.OpenAIChatDelta{}, &m.Finish); err != nil {
		return err
	}
	if p.IncludesUsage() {
		last := made.Chunk()
		last.Usage = &m.Usage
		if err := events.send(last); err != nil {
			return err
		}
	}
	return events.text([]byte("[DONE]"))
}

// endEvents sends an error as the last event, if events were sent before; clients of OpenAI's API throw it.
func (a *API) endEvents(w http.ResponseWriter, r *http.Request, events *eventWriter, err error) error {
	if sent, _ := w.(*response); sent == nil || sent.status == 0 || r.Context().Err() != nil {
		return err
	}
	k, public := kindOf(err)
	if public == nil {
		k, public = internalError(w)
	}
	_, body := openAIError(err, k, public)
	return errors.Join(err, events.send(body))
}
