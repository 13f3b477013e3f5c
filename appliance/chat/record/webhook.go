package record

import (
	"slices"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// Notifications is what those learn of a chat who are told of it by webhooks, or are
// plugins, and who they are.
type Notifications struct {
	ChatID, GroupID string
	ConfigID        string // empty: it has none
	CustomSessionID string // that the client gave at connect; empty: none
	Resumed         bool   // it goes on where another chat of its group ended
	Hooks           []contract.Webhook
	EndCalls        []string // plugins that are told of its end
}

// AtStart is what webhooks are told when the chat begins, and will be when it
// ends.
func (t Notifications) AtStart(begun time.Time) store.Webhooks {
	var w store.Webhooks
	for _, h := range t.Hooks {
		hook := store.Webhook{URL: h.URL}
		for _, e := range h.Events {
			hook.Events = append(hook.Events, string(e))
		}
		w.Hooks = append(w.Hooks, hook)
	}
	if len(w.Hooks) == 0 {
		return w
	}
	start := contract.WebhookChatStart{WebhookBase: t.base(contract.WebhookChatStarted, t.CustomSessionID),
		StartTime: begun.UnixMilli(), ChatStartType: contract.NewChatGroup}
	if t.Resumed {
		start.ChatStartType = contract.ResumedChatGroup
	}
	w.Started = wireJSON(start)
	w.Ended = wireJSON(contract.WebhookChatEnd{WebhookBase: t.base(contract.WebhookChatEnded, t.CustomSessionID)})
	return w
}

// AtEnd is what plugins will be told when the chat ends.
func (t Notifications) AtEnd(begun time.Time) store.EndCalls {
	if len(t.EndCalls) == 0 {
		return store.EndCalls{}
	}
	body := contract.ChatEndCall{
		ChatID:          t.ChatID,
		ChatGroupID:     t.GroupID,
		ConfigID:        t.ConfigID,
		CustomSessionID: t.CustomSessionID,
		StartTime:       begun.UnixMilli(),
	}
	return store.EndCalls{Plugins: t.EndCalls, Body: asJSON(body)}
}

func (t Notifications) base(event contract.WebhookEvent, customSessionID string) contract.WebhookBase {
	b := contract.WebhookBase{
		EventName:   event,
		ChatGroupID: t.GroupID,
		ChatID:      t.ChatID,
		ConfigID:    t.ConfigID,
	}
	if customSessionID != "" {
		b.CustomSessionID = &customSessionID
	}
	return b
}

// notice is what webhooks are told of what a fact brings, at the time that its
// message bears; nil where that is nothing.
func (t Notifications) notice(o outgoing, at time.Time, customSessionID string) *store.Notice {
	call, ok := o.message.(contract.ToolCallMessage)
	if !ok || !t.wants(contract.WebhookToolCall) {
		return nil
	}
	return &store.Notice{Event: string(contract.WebhookToolCall), AtMS: at.UnixMilli(),
		Body: wireJSON(contract.WebhookTool{
			WebhookBase: t.base(contract.WebhookToolCall, customSessionID), Timestamp: at.UnixMilli(),
			ToolCallMessage: call,
		})}
}

func (t Notifications) wants(event contract.WebhookEvent) bool {
	return slices.ContainsFunc(t.Hooks, func(h contract.Webhook) bool { return slices.Contains(h.Events, event) })
}

// wireJSON is what is made of texts and numbers, which never fails, as the wire
// writes it.
func wireJSON(v any) string {
	text, err := contract.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
