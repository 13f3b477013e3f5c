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
	Call            *contract.Call
}

// AtStart returns the webhook notifications for the beginning of the chat, and those for its end.
func (n Notifications) AtStart(begun time.Time) store.Webhooks {
	var w store.Webhooks
	for _, h := range n.Hooks {
		hook := store.Webhook{URL: h.URL}
		for _, e := range h.Events {
			hook.Events = append(hook.Events, string(e))
		}
		w.Hooks = append(w.Hooks, hook)
	}
	if len(w.Hooks) == 0 {
		return w
	}
	start := contract.WebhookChatStart{WebhookBase: n.base(contract.WebhookChatStarted, n.CustomSessionID),
		StartTime: begun.UnixMilli(), ChatStartType: contract.NewChatGroup}
	if n.Resumed {
		start.ChatStartType = contract.ResumedChatGroup
	}
	w.Started = wireJSON(start)
	w.Ended = wireJSON(contract.WebhookChatEnd{WebhookBase: n.base(contract.WebhookChatEnded, n.CustomSessionID)})
	return w
}

// AtEnd returns the plugin notifications for the end of the chat.
func (n Notifications) AtEnd(begun time.Time) store.EndCalls {
	if len(n.EndCalls) == 0 {
		return store.EndCalls{}
	}
	body := contract.ChatEndCall{
		ChatID:          n.ChatID,
		ChatGroupID:     n.GroupID,
		ConfigID:        n.ConfigID,
		CustomSessionID: n.CustomSessionID,
		StartTime:       begun.UnixMilli(),
	}
	return store.EndCalls{Plugins: n.EndCalls, Body: asJSON(body)}
}

func (n Notifications) base(event contract.WebhookEvent, customSessionID string) contract.WebhookBase {
	b := contract.WebhookBase{
		EventName:   event,
		ChatGroupID: n.GroupID,
		ChatID:      n.ChatID,
		ConfigID:    n.ConfigID,
	}
	n.Call.Describe(&b)
	if customSessionID != "" {
		b.CustomSessionID = &customSessionID
	}
	return b
}

// notice returns the webhook notification for a fact, with the time of its message, or nil.
func (n Notifications) notice(o outgoing, at time.Time, customSessionID string) *store.Notice {
	call, ok := o.message.(contract.ToolCallMessage)
	if !ok || !n.wants(contract.WebhookToolCall) {
		return nil
	}
	return &store.Notice{Event: string(contract.WebhookToolCall), AtMS: at.UnixMilli(),
		Body: wireJSON(contract.WebhookTool{
			WebhookBase: n.base(contract.WebhookToolCall, customSessionID), Timestamp: at.UnixMilli(),
			ToolCallMessage: call,
		})}
}

func (n Notifications) wants(event contract.WebhookEvent) bool {
	return slices.ContainsFunc(n.Hooks, func(h contract.Webhook) bool { return slices.Contains(h.Events, event) })
}

// wireJSON encodes a value of texts and numbers as the wire does, which cannot fail.
func wireJSON(v any) string {
	text, err := contract.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
