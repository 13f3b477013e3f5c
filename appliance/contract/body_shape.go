package contract

import (
	"maps"
	"reflect"
	"slices"
)

// A Shape is the structure that the reader of a body expects. The reader itself
// records it, so the description matches the checks.
type Shape struct {
	Kind     string            // object, array, string, integer, number or boolean; empty: anything
	Fields   map[string]*Shape // of an object; empty: any fields
	Required []string          // of Fields
	Items    *Shape            // of an array
	Words    []string          // the only allowed strings
	// Low and High bound the characters of a string, the entries of an array, the
	// fields of an object without Fields, or the value of a number. nil: no
	// bound.
	Low, High *float64
}

// A Body is something that the box parses: a request body, or the query that
// opens a chat.
type Body struct {
	Name  string // PostedConfig
	Value any    // the zero value of the Go type that it is parsed into
	Shape *Shape
}

// Bodies lists the request bodies that the box parses.
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
		bodyOf[PostedFleetBox](),
		bodyOf[PostedFleetGroups](),
		bodyOf[PostedRollout](),
		bodyOf[PostedWebhookChoice](),
		bodyOf[PostedWebhookTest](),
		bodyOf[PostedSignIn](),
		bodyOf[PostedPassword](),
		bodyOf[PostedSetUp](),
		bodyOf[PostedSessionAccount](),
		bodyOf[PostedVoice](),
		bodyOf[PostedVoiceAlias](),
		bodyOf[PostedPluginChange](),
		bodyOf[PostedPluginCall](),
		bodyOf[PostedTry](),
		bodyOf[PostedAnswersCheck](),
		bodyOf[PostedLexicon](),
		bodyOf[PostedPronunciation](),
		bodyOf[PostedBatchJob](),
		bodyOf[PostedPhoneCall](),
		bodyOf[PostedPhoneTransfer](),
		bodyOf[PostedOpenAISpeech](),
		bodyOf[PostedOpenAIChat](),
		shapeOf("PostedOpenAITranscription", readPostedOpenAITranscription),
		shapeOf("PostedTTS", func(o object) PostedTTS { return readPostedTTS(o, true) }),
		shapeOf("PostedConversion", readPostedConversion),
	}
}

// ClientMessages lists the messages that a client may send over a live chat, by
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

// ConnectQuery describes the query that opens a chat. It cannot hold lists.
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

// ServerMessages lists the zero values of the messages that the box sends over a
// live chat.
func ServerMessages() []ServerMessage {
	return []ServerMessage{
		ChatMetadata{}, UserMessage{}, AssistantMessage{}, AudioOutput{}, AssistantProsody{}, AssistantEnd{},
		UserInterruption{}, ToolCallMessage{}, ToolResponseMessage{}, ToolErrorMessage{}, SessionSettings{},
		WebSocketError{},
	}
}

// bodyOf describes the body T.
func bodyOf[T Readable[T]]() Body {
	var body T
	return shapeOf(reflect.TypeFor[T]().Name(), body.read)
}

// shapeOf calls read with an object that records what read expects.
func shapeOf[T any](name string, read func(object) T) Body {
	s := &Shape{Kind: "object"}
	return Body{name, read(object{problems: new([]ValidationError), shape: s}), s}
}

// expect records what a field must be; several expectations of one field are
// merged.
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

// FieldNames returns the names of the fields in alphabetical order.
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
