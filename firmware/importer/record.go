package importer

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// A shape is the kind of a record, told by its fields: files have any name.
type shape int

const (
	unknown     shape = iota
	isEvent           // of a chat
	isChat            // with or without a page of its events
	isGroup           // with or without a page of its chats
	isGroupPage       // a page of the events of a group
	isAudio           // the link to the recording of a chat
	isTool
	isPrompt
	isConfig
	isVoice
	isPage    // a page of a list, or what a client's pager holds
	isForeign // a record of a kind that is not imported
)

// shapeOf tells what an object is. The order matters: a config has fields of the others.
func shapeOf(n *node) shape {
	switch {
	case n.has("id", "chat_id", "type", "timestamp"):
		return isEvent
	case n.has("id", "chat_group_id", "start_timestamp"):
		return isChat
	case n.has("id", "first_start_timestamp"):
		return isGroup
	case n.has("id", "events_page"):
		return isGroupPage
	case n.has("id", "status") && (n.has("signed_audio_url") || n.has("user_id")):
		return isAudio
	case n.has("id", "version", "parameters"):
		return isTool
	case n.has("id", "version", "text"):
		return isPrompt
	case n.has("id", "version") && slices.ContainsFunc(configFields(), func(f string) bool { return n.has(f) }):
		return isConfig
	case n.has("id", "name", "provider"):
		return isVoice
	case foreignKind(n) != "":
		return isForeign
	case n.has("total_pages"), slices.ContainsFunc(n.names, isPageName):
		return isPage
	}
	return unknown
}

// configFields returns fields of which a config has one at least.
func configFields() []string {
	return []string{"evi_version", "event_messages", "timeouts", "language_model", "ellm_model", "builtin_tools"}
}

// isPageName reports whether a field holds the page of a list.
func isPageName(name string) bool { return strings.HasSuffix(snakeCase(name), "_page") }

// foreignKind names a kind of record of the old service that is not imported, or returns "".
func foreignKind(n *node) string {
	switch {
	case n.has("job_id"):
		return "analysis job"
	case n.has("models", "file"):
		return "analysis result"
	case n.has("generation_id"):
		return "speech generation"
	case n.has("access_token"), n.has("api_key"):
		return "credential"
	}
	return ""
}

// fieldNames lists the first fields of an object, for a report.
func fieldNames(n *node) string {
	const most = 6
	names := n.names[:min(len(n.names), most)]
	text := contract.Clip(strings.Join(names, ", "))
	if len(n.names) > most {
		text += " …"
	}
	return text
}

// firstMS is the earliest time that a record may have, in the year 2000: before it, a number
// is not one of milliseconds.
const firstMS = 946_684_800_000

// millis returns a time as Unix milliseconds, and 0 if there is none. REST and the
// TypeScript client write milliseconds; a program may have made text or seconds of them.
func (n *node) millis(name string) int64 {
	text := n.scalar(name)
	if text == "" {
		return 0
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case f >= firstMS && f <= store.MaxImportedMS:
			return int64(f)
		case f >= firstMS/1000 && f <= store.MaxImportedMS/1000:
			return int64(f * 1000)
		}
		return 0
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999",
		"2006-01-02 15:04:05.999999999",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			if ms := t.UnixMilli(); ms >= firstMS && ms <= store.MaxImportedMS {
				return ms
			}
		}
	}
	return 0
}

// versionNumber returns the version of a record, or false if it is none.
func (n *node) versionNumber(name string) (int, bool) {
	f, err := strconv.ParseFloat(n.scalar(name), 64)
	if err != nil || f != float64(int32(f)) || f < 0 {
		return 0, false
	}
	return int(f), true
}

// jsonText returns a field that holds JSON as text, as the records of events do. A program
// may have parsed it. It returns false for a text that is not JSON.
func (n *node) jsonText(name string) (text string, ok bool) {
	v := n.get(name)
	switch {
	case v == nil:
		return "", true
	case v.kind == '"' && strings.TrimSpace(v.text) == "":
		return "", true
	case v.kind == '"':
		return v.text, json.Valid([]byte(v.text)) && nesting(v.text) < maxNesting
	}
	return string(v.appendJSON(nil, false)), true
}

// maxNesting is less than SQLite's limit of 1000 levels.
const maxNesting = 500

// nesting returns a bound of how deep a JSON text is nested.
func nesting(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}
