package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// ConnectSettings are the query parameters that open a chat.
type ConnectSettings struct {
	ConfigID           string
	ConfigVersion      *int // nil: the newest
	ResumedChatGroupID string
	VoiceID            string
	// VerboseTranscription requests interim user messages.
	VerboseTranscription bool
	// AllowConnection lets other clients connect to the live chat.
	AllowConnection bool
	// NoHistory keeps the box from storing words or sound of the chat.
	NoHistory bool
	// SoundAheadSecs is how many seconds ahead of its playback the client
	// receives sound; 0 means the setting of the box.
	SoundAheadSecs int
	// EventLimit is how many of the newest events of a resumed group the model
	// sees; 0 means MaxResumedEvents.
	EventLimit int
	// SessionSettings apply from the start, like those in a message. A voice_id
	// among them is in VoiceID.
	SessionSettings SessionSettings
}

// ParseConnectSettings parses the query that opens a chat. Every value is a
// string there and is converted to the expected type. Nested values are written
// with brackets, session_settings[audio][sample_rate]=16000, or as JSON text,
// session_settings[audio]={"sample_rate":16000}. Unknown parameters are ignored.
// The error is a Fault, InvalidConnect or InvalidSettings, that names the
// parameter.
func ParseConnectSettings(q url.Values) (ConnectSettings, error) {
	nested, problem := nest(q)
	if problem != "" {
		return ConnectSettings{}, Fault{Code: InvalidConnect, Detail: problem}
	}
	raw, err := json.Marshal(nested)
	if err != nil { // strings and maps only
		return ConnectSettings{}, Fault{Code: InvalidConnect, Detail: err.Error()}
	}
	var problems []ValidationError
	o := readObject(nil, raw, &problems, true)
	c := readConnect(o)
	if len(problems) > 0 {
		f := faultOf("connect", problems)
		f.Code = InvalidConnect
		return c, f
	}
	if s, ok := o.object("session_settings"); ok {
		c.readSessionSettings(s)
	}
	if len(problems) > 0 {
		return c, faultOf("session_settings", problems)
	}
	return c, nil
}

func readConnect(o object) ConnectSettings {
	keep := o.booleanOrNil("keep_history")
	c := ConnectSettings{
		ConfigID:             o.text("config_id", MaxModelResourceChars),
		ConfigVersion:        o.integerOrNil("config_version", 0, math.MaxInt32),
		ResumedChatGroupID:   o.text("resumed_chat_group_id", MaxModelResourceChars),
		VoiceID:              o.text("voice_id", MaxModelResourceChars),
		VerboseTranscription: o.boolean("verbose_transcription"),
		AllowConnection:      o.boolean("allow_connection"),
		NoHistory:            keep != nil && !*keep,
		SoundAheadSecs:       o.integer("sound_ahead_secs", MinSoundAheadSecs, MaxSoundAheadSecs),
		EventLimit:           o.integer("event_limit", 1, math.MaxInt32),
	}
	if c.NoHistory && c.ResumedChatGroupID != "" {
		o.note("keep_history", "wrong_value", "false is not allowed with resumed_chat_group_id: a chat that goes on "+
			"with one that is kept is kept with it")
	}
	return c
}

// readSessionSettings parses the nested settings. A parameter of the query itself
// takes precedence over the same one within session_settings.
func (c *ConnectSettings) readSessionSettings(s object) {
	if ctx, ok := s.object("context"); ok {
		if _, ok := ctx.get("text"); !ok {
			delete(s.fields, "context") // a type without a text
		}
	}
	delete(s.fields, "tools") // a query cannot hold lists; they come in a message
	delete(s.fields, "builtin_tools")
	limit := s.integer("event_limit", 1, math.MaxInt32)
	if c.EventLimit == 0 {
		c.EventLimit = limit
	}
	c.SessionSettings = readSettings(s)
	if c.VoiceID == "" {
		c.VoiceID = c.SessionSettings.VoiceID
	}
	c.SessionSettings.VoiceID = ""
}

// nest turns a[b][c]=v into {"a":{"b":{"c":"v"}}}. The last value of a repeated
// key counts.
func nest(q url.Values) (map[string]any, string) {
	const deepest = 4 // session_settings[audio][sample_rate] is 3
	tree := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(q)) {
		values := q[key]
		if len(values) == 0 || unset(key, values[len(values)-1]) {
			continue
		}
		way, ok := steps(key)
		if !ok || len(way) > deepest {
			if ours(key) {
				return nil,
					fmt.Sprintf("%q: expected a name like session_settings[audio][sample_rate], at most %d deep",
						Clip(key), deepest)
			}
			continue // an unknown parameter
		}
		if !put(tree, way, values[len(values)-1]) && ours(key) {
			return nil, fmt.Sprintf("%q: it is given both as a value and as a group of values", Clip(key))
		}
	}
	return tree, ""
}

// unset reports whether clients write a value like this for a parameter that they
// have not set: an empty one; None in a field of session_settings, from hume for
// Python; and the text of an object with None for every field, from its versions
// 0.13.0 and 0.13.1. A variable may be "None". hume 0.14 for JavaScript sends
// "[object Object]" for variables in an object; its chats start without them
// rather than not at all.
func unset(key, value string) bool {
	switch {
	case value == "":
		return true
	case key == "session_settings":
		return unsetObject.MatchString(value)
	case key == "session_settings[variables]" && value == "[object Object]":
		return true
	}
	return value == "None" && ours(key) && !strings.HasPrefix(key, "session_settings[variables][")
}

// unsetObject matches "audio=None context=None" with any number of fields.
var unsetObject = regexp.MustCompile(`^\w+=None( \w+=None)*$`)

func ours(key string) bool { return strings.HasPrefix(key, "session_settings") }

// steps splits "a[b][c]" into a, b and c.
func steps(key string) ([]string, bool) {
	name, rest, nested := strings.Cut(key, "[")
	if name == "" || strings.Contains(name, "]") {
		return nil, false
	}
	way := []string{name}
	for nested {
		step, after, closed := strings.Cut(rest, "]")
		if !closed || step == "" || strings.Contains(step, "[") {
			return nil, false
		}
		way = append(way, step)
		if after == "" {
			break
		}
		if after[0] != '[' {
			return nil, false
		}
		rest = after[1:]
	}
	return way, true
}

func put(tree map[string]any, way []string, value string) bool {
	for _, step := range way[:len(way)-1] {
		inner, there := tree[step]
		if !there {
			inner = map[string]any{}
			tree[step] = inner
		}
		branch, ok := inner.(map[string]any)
		if !ok {
			return false
		}
		tree = branch
	}
	last := way[len(way)-1]
	if _, there := tree[last]; there {
		return false
	}
	tree[last] = value
	return true
}
