package contract

// Code is the code of a chat's error.
type Code string

// The errors of a chat. E03xx and those of E07xx that the specification names
// keep its meaning; the others are extensions. docs/errors.md lists them all.
const (
	BrokenJSON     Code = "E0100" // a text frame that is not JSON
	WrongShape     Code = "E0101" // a field is missing, has the wrong type or is too long
	UnknownMessage Code = "E0103" // "type" is missing, or not that of a client's message

	BrokenAudio  Code = "E0200" // in an unknown format, or damaged
	BrokenBase64 Code = "E0201" // audio_input.data

	CreditsExhausted  Code = "E0300"
	SubscriptionBlock Code = "E0301"

	NotTranscribed Code = "E0702" // speech-to-text failed on this turn
	NotSpoken      Code = "E0704" // text-to-speech failed on this answer
	VoiceNotFound  Code = "E0705"

	ModelUnreachable      Code = "E0706" // a custom language model
	GroupNotFound         Code = "E0708"
	ConfigNotFound        Code = "E0709"
	ResumedWithNewConfig  Code = "E0710" // reserved: another config is allowed
	ModelUnavailable      Code = "E0711"
	ModelTimedOut         Code = "E0712" // a custom language model
	ModelConnectionFailed Code = "E0713" // a custom language model
	InactivityTimeout     Code = "E0714" // nobody spoke for too long
	MaxDurationTimeout    Code = "E0715" // the chat has reached its maximum duration
	InvalidSettings       Code = "E0716"
	GroupActive           Code = "E0717"
	ProviderOverloaded    Code = "E0718"
	ProviderFailed        Code = "E0719"
	NoDataRetention       Code = "E0720"
	WholeRecording        Code = "E0723"

	InvalidConnect Code = "E0730" // a query parameter
	UnexpectedTool Code = "E0731" // a tool result without a pending call
	KeyRevoked     Code = "E0732" // of a live chat
	NotPermitted   Code = "E0733" // with the key of a screen
	SpeechRefused  Code = "E0740" // on the socket that speaks text: the request cannot be spoken
	SpeechBusy     Code = "E0741" // on the same socket: too much is being spoken
	Internal       Code = "E0799" // an error of the box
)

// meaning is one row of the table. A fatal error has a close code: it is sent,
// and then the socket is closed with that code.
type meaning struct {
	slug, message string
	close         int
}

// WebSocket close codes (RFC 6455, section 7.4.1) that a chat ends with.
const (
	CloseNormal    = 1000
	CloseGoingAway = 1001 // the box stops
	ClosePolicy    = 1008 // rejected
	CloseTooBig    = 1009
	CloseInternal  = 1011
)

var meanings = map[Code]meaning{
	BrokenJSON:     {"invalid_json", "The message is not valid JSON.", 0},
	WrongShape:     {"invalid_message", "The message does not have the shape of its type.", 0},
	UnknownMessage: {"unknown_message_type", "The message has no known type.", 0},

	BrokenBase64: {"invalid_base64", "The audio is not valid base64.", 0},
	BrokenAudio:  {"undecodable_audio", "The audio cannot be decoded.", 0},

	CreditsExhausted:  {"credits_exhausted", "The account has no credits left.", ClosePolicy},
	SubscriptionBlock: {"subscription_blocked", "The account's subscription does not allow this.", ClosePolicy},

	NotTranscribed: {"transcription_failed", "What was said could not be transcribed.", 0},
	NotSpoken:      {"speech_synthesis_failed", "The answer could not be spoken.", 0},
	VoiceNotFound:  {"voice_not_found", "There is no such voice.", 0},

	ModelUnreachable:     {"custom_language_model_unreachable", "The custom language model cannot be reached.", 0},
	GroupNotFound:        {"chat_group_not_found", "There is no such chat group.", ClosePolicy},
	ConfigNotFound:       {"config_not_found", "There is no such config or version of it.", ClosePolicy},
	ResumedWithNewConfig: {"chat_group_resumed_with_new_config", "The chat group was resumed with another config.", 0},
	ModelUnavailable: {"language_model_unavailable", "The language model is not available on this box.",
		ClosePolicy},
	ModelTimedOut: {"custom_language_model_timed_out", "The custom language model did not answer in time.", 0},
	ModelConnectionFailed: {"custom_language_model_connection_failed",
		"The connection to the custom language model failed.", 0},
	InactivityTimeout:  {"inactivity_timeout", "Nobody said anything for too long, so the chat ends.", CloseNormal},
	MaxDurationTimeout: {"max_duration_timeout", "The chat has lasted as long as it may, so it ends.", CloseNormal},
	InvalidSettings:    {"invalid_session_settings", "The session settings are invalid and were not applied.", 0},
	GroupActive:        {"chat_group_active", "A chat of this group is still active.", ClosePolicy},
	ProviderOverloaded: {"language_model_overloaded", "The language model is overloaded.", 0},
	ProviderFailed:     {"language_model_error", "The language model failed.", 0},
	NoDataRetention: {"data_retention_off", "Data retention is off, so there is no history to resume.",
		ClosePolicy},
	WholeRecording: {"whole_recording", "Audio is taken as a stream: send it in small pieces as it is " +
		"recorded, not a whole recording in one message.", 0},

	InvalidConnect: {"invalid_connect_parameter", "A query parameter of the connection is invalid.", ClosePolicy},
	UnexpectedTool: {"unexpected_tool_answer", "No such tool call is waiting for an answer.", 0},
	KeyRevoked: {"key_revoked", "The key that opened this chat has expired, or was revoked or regenerated.",
		ClosePolicy},
	NotPermitted:  {"not_permitted", "The key that opened this chat does not permit this.", 0},
	SpeechRefused: {"speech_refused", "This cannot be spoken as it is asked for.", 0},
	SpeechBusy:    {"speech_busy", "Too much is being spoken just now.", 0},
	Internal:      {"internal_error", "Something failed inside the box.", CloseInternal},
}

func (c Code) meaning() meaning {
	if m, ok := meanings[c]; ok {
		return m
	}
	return meanings[Internal]
}

// Slug returns the code in words, such as "config_not_found".
func (c Code) Slug() string { return c.meaning().slug }

// Message returns the meaning of the code in a sentence.
func (c Code) Message() string { return c.meaning().message }

// Fatal reports whether the error ends the chat.
func (c Code) Fatal() bool { return c.meaning().close != 0 }

// CloseCode returns the close code of the socket after a fatal error, otherwise
// 0.
func (c Code) CloseCode() int { return c.meaning().close }

// Error returns the message to send, except the request id, which the line adds.
// detail may add what was wrong, with which value, and what is allowed.
func (c Code) Error(detail string) WebSocketError {
	m := c.meaning()
	said := m.message
	if detail != "" {
		said += " " + detail
	}
	return WebSocketError{Code: c, Slug: m.slug, Message: ClipError(said)}
}

// Fault is an error of a chat for its client.
type Fault struct {
	Code   Code
	Detail string
	// Cause is for the log only: it may name servers and files.
	Cause error
}

func (f Fault) Error() string {
	said := string(f.Code) + " " + f.Code.Slug()
	if f.Detail != "" {
		said += ": " + f.Detail
	}
	return said
}
