package contract

import (
	"fmt"
	"net/url"
	"strconv"
)

// WebhookBase has the fields of every webhook.
type WebhookBase struct {
	EventName       WebhookEvent       `json:"event_name"`
	ChatGroupID     string             `json:"chat_group_id"`
	ChatID          string             `json:"chat_id"`
	ConfigID        string             `json:"config_id,omitempty"`       // absent if the chat has no config
	CallerNumber    *string            `json:"caller_number"`             // E.164; null: not a phone call
	CustomSessionID *string            `json:"custom_session_id"`         // null: the client gave none
	TwilioMetadata  map[string]*string `json:"twilio_metadata,omitempty"` // of a phone call over a media stream
	Call            *CallInfo          `json:"call,omitempty"`            // of a phone call
}

// ChatStartType is whether a chat starts a group.
type ChatStartType string

// How chats start.
const (
	NewChatGroup     ChatStartType = "new_chat_group"
	ResumedChatGroup ChatStartType = "resumed_chat_group"
)

// WebhookChatStart is the body of chat_started.
type WebhookChatStart struct {
	WebhookBase
	StartTime     int64         `json:"start_time"` // Unix milliseconds
	ChatStartType ChatStartType `json:"chat_start_type"`
}

// WebhookChatEnd is the body of chat_ended.
type WebhookChatEnd struct {
	WebhookBase
	EndTime         int64      `json:"end_time"`         // Unix milliseconds
	DurationSeconds int64      `json:"duration_seconds"` // whole seconds since the start
	EndReason       ChatStatus `json:"end_reason"`
}

// WebhookTool is the body of tool_call.
type WebhookTool struct {
	WebhookBase
	Timestamp       int64           `json:"timestamp"` // of the message, Unix milliseconds
	ToolCallMessage ToolCallMessage `json:"tool_call_message"`
}

// CheckWebhookURL returns an ErrInvalid about the field url unless it is a valid
// URL of a webhook. A host name is checked when it is called.
func CheckWebhookURL(text string) error {
	problem := webhookProblem(text)
	if problem == "" && len(text) > MaxURLChars {
		problem = fmt.Sprintf("%d characters; at most %d are allowed", len(text), MaxURLChars)
	}
	if problem == "" {
		return nil
	}
	return ErrInvalid{Field: "url", Why: problem}
}

// webhookProblem returns what is wrong with the URL of a webhook, or "".
func webhookProblem(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return fmt.Sprintf("%q is not a URL; expected one like https://host/path", Clip(text))
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return fmt.Sprintf("%s is not a port; allowed are 1 to 65535", Clip(port))
		}
	}
	if u.Fragment != "" {
		return fmt.Sprintf("the part after # (%s) is not sent to a server; leave it out", Clip(u.Fragment))
	}
	return badAddress(u)
}
