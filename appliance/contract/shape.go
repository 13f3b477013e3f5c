package contract

import (
	"maps"
	"reflect"
	"slices"
)

// A Shape is what a reader of a body asks of it. It comes from the reader
// itself: what is described is what is checked.
type Shape struct {
	Kind     string            // object, array, string, integer, number or boolean; empty where anything goes
	Fields   map[string]*Shape // of an object; none where it may have any
	Required []string          // of Fields
	Items    *Shape            // of an array
	Words    []string          // the only strings that are allowed
	// Bounds: characters of a string, entries of an array, fields of an object
	// without Fields, or the value of a number. A Low or High that is nil has
	// none.
	Low, High *float64
}

// A Body is something that the box reads: the body of a request, or the query
// that opens a chat.
type Body struct {
	Name  string // PostedConfig
	Value any    // the Go value that it is read into, empty
	Shape *Shape
}

// Bodies are the bodies of requests that the box reads.
func Bodies() []Body {
	return []Body{
		bodyOf[PostedConfig](),
		bodyOf[PostedConfigVersion](),
		bodyOf[PostedPrompt](),
		bodyOf[PostedPromptVersion](),
		bodyOf[PostedUserDefinedTool](),
		bodyOf[PostedUserDefinedToolVersion](),
		bodyOf[PostedName](),
		shapeOf("PostedUserDefinedToolName", readPostedToolName),
		shapeOf("PostedVersionDescription", readPostedVersionDescription),
		bodyOf[PostedPairing](),
		bodyOf[PostedKiosk](),
		bodyOf[PostedKey](),
		bodyOf[PostedWebhookChoice](),
		bodyOf[PostedWebhookTest](),
		bodyOf[PostedSignIn](),
		bodyOf[PostedSessionAccount](),
		bodyOf[PostedVoice](),
		bodyOf[PostedVoiceAlias](),
		bodyOf[PostedPluginChange](),
		bodyOf[PostedPluginCall](),
		bodyOf[PostedLexicon](),
		bodyOf[PostedPronunciation](),
		shapeOf("PostedTTS", func(o object) PostedTTS { return readPostedTTS(o, true) }),
		shapeOf("PostedConversion", readPostedConversion),
	}
}

// ClientMessages are the messages that a client may send over a live chat, by
// their type.
func ClientMessages() []Body {
	all := make([]Body, len(readers))
	for i, r := range readers {
		read := r.read
		if read == nil {
			read = func(o object) ClientMessage { return readAudioFields(o) }
		}
		all[i] = shapeOf(r.kind, read)
	}
	return all
}

// ConnectQuery is the query that opens a chat. Lists have no form in it.
func ConnectQuery() Body {
	b := shapeOf("ConnectSettings", func(o object) ConnectSettings {
		o.untyped = true
		c := readConnect(o)
		if s, ok := o.object("session_settings"); ok {
			c.readSessionSettings(s)
		}
		return c
	})
	settings := b.Shape.Fields["session_settings"]
	delete(settings.Fields, "tools")
	delete(settings.Fields, "builtin_tools")
	return b
}

// ServerMessages are the messages that the box sends over a live chat, each
// empty.
func ServerMessages() []ServerMessage {
	return []ServerMessage{
		ChatMetadata{}, UserMessage{}, AssistantMessage{}, AudioOutput{}, AssistantProsody{}, AssistantEnd{},
		UserInterruption{}, ToolCallMessage{}, ToolResponseMessage{}, ToolErrorMessage{}, SessionSettings{},
		WebSocketError{},
	}
}

// bodyOf is the body T.
func bodyOf[T Readable[T]]() Body {
	var body T
	return shapeOf(reflect.TypeFor[T]().Name(), body.read)
}

// shapeOf has read, in place of a body, note what it asks of one.
func shapeOf[T any](name string, read func(object) T) Body {
	s := &Shape{Kind: "object"}
	return Body{name, read(object{problems: new([]ValidationError), shape: s}), s}
}

// expect notes what a field has to be; what it is asked for twice is both.
func (o object) expect(name string, want Shape) {
	if o.shape == nil {
		return
	}
	if o.shape.Fields == nil {
		o.shape.Fields = map[string]*Shape{}
	}
	have := o.shape.Fields[name]
	if have == nil {
		o.shape.Fields[name] = &want
		return
	}
	if want.Words != nil {
		have.Words, have.Low, have.High = want.Words, nil, nil
	}
	if want.Low != nil {
		have.Low = want.Low
	}
	if want.High != nil {
		have.High = want.High
	}
}

// FieldNames are the names of the fields, in order.
func (s *Shape) FieldNames() []string { return slices.Sorted(maps.Keys(s.Fields)) }

func bound[N int | float64](n N) *float64 {
	f := float64(n)
	return &f
}

func asStrings[T ~string](words []T) []string {
	said := make([]string, len(words))
	for i, w := range words {
		said[i] = string(w)
	}
	return said
}
