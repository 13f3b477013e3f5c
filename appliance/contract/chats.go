package contract

// The history: chats, chat groups, events and recordings. Times are Unix
// milliseconds.

// ChatStatus is whether a chat is live, or why it ended.
type ChatStatus string

// The statuses of a chat.
const (
	ChatActive             ChatStatus = "ACTIVE"
	ChatUserEnded          ChatStatus = "USER_ENDED"
	ChatUserTimeout        ChatStatus = "USER_TIMEOUT"
	ChatMaxDurationTimeout ChatStatus = "MAX_DURATION_TIMEOUT"
	ChatInactivityTimeout  ChatStatus = "INACTIVITY_TIMEOUT"
	ChatError              ChatStatus = "ERROR"
)

// ChatStatuses lists every status.
func ChatStatuses() []ChatStatus {
	return []ChatStatus{ChatActive, ChatUserEnded, ChatUserTimeout, ChatMaxDurationTimeout, ChatInactivityTimeout,
		ChatError}
}

// ChatEventType is what happened in a chat.
type ChatEventType string

// The types of events.
const (
	EventAgentMessage         ChatEventType = "AGENT_MESSAGE"
	EventAssistantProsody     ChatEventType = "ASSISTANT_PROSODY"
	EventChatStart            ChatEventType = "CHAT_START_MESSAGE"
	EventChatEnd              ChatEventType = "CHAT_END_MESSAGE"
	EventFunctionCall         ChatEventType = "FUNCTION_CALL"
	EventFunctionCallResponse ChatEventType = "FUNCTION_CALL_RESPONSE"
	EventPauseOnset           ChatEventType = "PAUSE_ONSET"
	EventResumeOnset          ChatEventType = "RESUME_ONSET"
	EventSessionSettings      ChatEventType = "SESSION_SETTINGS"
	EventSystemPrompt         ChatEventType = "SYSTEM_PROMPT"
	EventUserInterruption     ChatEventType = "USER_INTERRUPTION"
	EventUserMessage          ChatEventType = "USER_MESSAGE"
	EventUserRecordingStart   ChatEventType = "USER_RECORDING_START_MESSAGE"
)

// ChatEventRole is who caused an event.
type ChatEventRole string

// The roles of events.
const (
	EventOfUser   ChatEventRole = "USER"
	EventOfAgent  ChatEventRole = "AGENT"
	EventOfSystem ChatEventRole = "SYSTEM"
	EventOfTool   ChatEventRole = "TOOL"
)

// Direction is the order of a list in time.
type Direction string

// Oldest first, and newest first.
const (
	Ascending  Direction = "ASC"
	Descending Direction = "DESC"
)

// TimedPaging describes a page of a list in time.
type TimedPaging struct {
	Paging
	PaginationDirection Direction `json:"pagination_direction"`
}

// ReturnConfigSpec names the version of a config that a chat used.
type ReturnConfigSpec struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// ReturnChat is the record of one conversation.
type ReturnChat struct {
	ID             string            `json:"id"`
	ChatGroupID    string            `json:"chat_group_id"`
	Status         ChatStatus        `json:"status"`
	StartTimestamp int64             `json:"start_timestamp"`
	EndTimestamp   int64             `json:"end_timestamp,omitempty"` // absent while it is live
	EventCount     int               `json:"event_count"`
	Config         *ReturnConfigSpec `json:"config,omitempty"`
	Metadata       string            `json:"metadata,omitempty"` // JSON as text
}

// ReturnPagedChats is a page of chats.
type ReturnPagedChats struct {
	TimedPaging
	ChatsPage []ReturnChat `json:"chats_page"`
}

// FoundChat is a chat that matches a search.
type FoundChat struct {
	ReturnChat
	CustomSessionID string `json:"custom_session_id,omitempty"`
	// The box of the hub that the chat was on; absent if it was on this box.
	Box string `json:"box,omitempty"`
	// An excerpt of the newest message with the searched words or, if none were
	// searched for, of the user's first message.
	Excerpt *ChatExcerpt `json:"excerpt,omitempty"`
}

// ChatExcerpt is an excerpt of a message, 200 characters at most.
type ChatExcerpt struct {
	EventID   string        `json:"event_id"`
	Timestamp int64         `json:"timestamp"`
	Role      ChatEventRole `json:"role"`
	Text      string        `json:"text"`
}

// ReturnFoundChats lists the chats that match a search, newest first. If Next is
// present, pass it as before to continue the search, even if no chat was found so
// far.
type ReturnFoundChats struct {
	Chats []FoundChat `json:"chats"`
	Next  string      `json:"next,omitempty"`
}

// ReturnChatEvent is an event of a chat.
type ReturnChatEvent struct {
	ID              string        `json:"id"`
	ChatID          string        `json:"chat_id"`
	Timestamp       int64         `json:"timestamp"`
	Type            ChatEventType `json:"type"`
	Role            ChatEventRole `json:"role"`
	MessageText     string        `json:"message_text,omitempty"`
	EmotionFeatures string        `json:"emotion_features,omitempty"` // JSON as text: the 48 scores
	Metadata        string        `json:"metadata,omitempty"`         // JSON as text
	RelatedEventID  string        `json:"related_event_id,omitempty"`
}

// MessageMetadata is the Metadata of a USER_MESSAGE or an AGENT_MESSAGE.
type MessageMetadata struct {
	FromText bool                 `json:"from_text"`          // typed by the user, or given by the client
	Language string               `json:"language,omitempty"` // BCP 47, of the user's words
	Time     *MillisecondInterval `json:"time,omitempty"`     // of the user's words
	// When the sound of the assistant's words begins, in ms since the chat began.
	Begin       *int64 `json:"begin,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"` // the text ends where the user interrupted
	Quick       bool   `json:"is_quick_response,omitempty"`
	AnswerID    string `json:"answer_id,omitempty"` // the approved answer that the assistant's words are part of
	// Words are what the model read if the user pressed keys; the text of the event is the keys.
	Words string `json:"words,omitempty"`
}

// ToolMetadata is the Metadata of a FUNCTION_CALL, whose text is the arguments,
// and of a FUNCTION_CALL_RESPONSE, whose text is what the model received.
type ToolMetadata struct {
	ToolCallID       string   `json:"tool_call_id"`
	Name             string   `json:"name"`
	ToolType         ToolType `json:"tool_type"`
	ResponseRequired *bool    `json:"response_required,omitempty"` // of a call: whether the client runs the tool
	Error            string   `json:"error,omitempty"`             // why it failed, for people
}

// ReturnChatPagedEvents is a chat with a page of its events.
type ReturnChatPagedEvents struct {
	TimedPaging
	ID             string            `json:"id"`
	ChatGroupID    string            `json:"chat_group_id"`
	Status         ChatStatus        `json:"status"`
	StartTimestamp int64             `json:"start_timestamp"`
	EndTimestamp   int64             `json:"end_timestamp,omitempty"`
	Config         *ReturnConfigSpec `json:"config,omitempty"`
	Metadata       string            `json:"metadata,omitempty"`
	EventsPage     []ReturnChatEvent `json:"events_page"`
}

// ReturnChatGroup is a chat and the chats that resumed it.
type ReturnChatGroup struct {
	ID                       string            `json:"id"`
	FirstStartTimestamp      int64             `json:"first_start_timestamp"`
	MostRecentStartTimestamp int64             `json:"most_recent_start_timestamp"`
	MostRecentChatID         string            `json:"most_recent_chat_id"`
	MostRecentConfig         *ReturnConfigSpec `json:"most_recent_config,omitempty"`
	NumChats                 int               `json:"num_chats"`
	Active                   bool              `json:"active"`
}

// ReturnPagedChatGroups is a page of chat groups.
type ReturnPagedChatGroups struct {
	TimedPaging
	ChatGroupsPage []ReturnChatGroup `json:"chat_groups_page"`
}

// ReturnChatGroupPagedChats is a chat group with a page of its chats.
type ReturnChatGroupPagedChats struct {
	TimedPaging
	ID                       string       `json:"id"`
	FirstStartTimestamp      int64        `json:"first_start_timestamp"`
	MostRecentStartTimestamp int64        `json:"most_recent_start_timestamp"`
	NumChats                 int          `json:"num_chats"`
	Active                   bool         `json:"active"`
	ChatsPage                []ReturnChat `json:"chats_page"`
}

// ReturnChatGroupPagedEvents is a page of the events of all chats of a group.
type ReturnChatGroupPagedEvents struct {
	TimedPaging
	ID         string            `json:"id"`
	EventsPage []ReturnChatEvent `json:"events_page"`
}

// AudioStatus is how far the recording of a chat is.
type AudioStatus string

// The statuses of a recording.
const (
	AudioQueued     AudioStatus = "QUEUED"      // the chat is live and silent so far
	AudioInProgress AudioStatus = "IN_PROGRESS" // the chat is live
	AudioComplete   AudioStatus = "COMPLETE"
	AudioError      AudioStatus = "ERROR"     // part of it could not be written
	AudioCancelled  AudioStatus = "CANCELLED" // the chat was not recorded
)

// ReturnChatAudioReconstruction is the recording of a chat. SignedAudioURL works
// without a key until it expires; it is present once the recording is complete.
type ReturnChatAudioReconstruction struct {
	ID                                 string      `json:"id"` // of the chat
	UserID                             string      `json:"user_id"`
	Status                             AudioStatus `json:"status"`
	Filename                           string      `json:"filename,omitempty"`
	ModifiedAt                         int64       `json:"modified_at,omitempty"`
	SignedAudioURL                     string      `json:"signed_audio_url,omitempty"`
	SignedURLExpirationTimestampMillis int64       `json:"signed_url_expiration_timestamp_millis,omitempty"`
}

// ReturnChatGroupPagedAudioReconstructions is a page of the recordings of a
// group, one for each chat.
type ReturnChatGroupPagedAudioReconstructions struct {
	TimedPaging
	ID                       string                          `json:"id"`
	UserID                   string                          `json:"user_id"`
	NumChats                 int                             `json:"num_chats"`
	AudioReconstructionsPage []ReturnChatAudioReconstruction `json:"audio_reconstructions_page"`
}
