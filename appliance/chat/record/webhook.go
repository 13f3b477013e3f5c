package record

import (
	"slices"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// Notifications describes a chat to the webhooks and plugins that are notified of it, and lists them.
type Notifications struct {
	ChatID, GroupID string
	ConfigID        string // empty if it has none
	CustomSessionID string // set by the client at connect; may be empty
	Resumed         bool   // it continues a chat group
	Hooks           []contract.Webhook
	EndCalls        []string // plugins that are notified of its end
}

// AtStart returns the webhook notifications for the beginning of the chat, and those for its end.
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

// AtEnd returns the plugin notifications for the end of the chat.
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

// notice returns the webhook notification for a fact, with the time of its message, or nil.
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

// wireJSON encodes a value of texts and numbers as the wire does, which cannot fail.
func wireJSON(v any) string {
	text, err := contract.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
