package contract

import "strings"

// controlKinds are the messages that somebody else than the client of a chat
// may send into it: all but audio.
func controlKinds() []string { return kinds()[1:] }

// ControlMessages are they, by their type.
func ControlMessages() []Body { return ClientMessages()[1:] }

// ParseControlMessage reads one text frame of somebody who has connected to the
// chat of another client: a message as that client's, audio excepted. The error
// is a Fault, as that of ParseClientMessage.
func ParseControlMessage(data []byte) (ClientMessage, error) {
	return parseMessage(data, controlKinds())
}

// ParsePublishEvent reads the body of a request that sends such a message. The
// error is always an ErrMalformed.
func ParsePublishEvent(data []byte) (ClientMessage, error) {
	if msg := notJSON(data); msg != "" {
		return nil, malformed([]ValidationError{{Type: "malformed", Msg: msg}})
	}
	fields, kind, fault := openMessage(data, controlKinds())
	if fault != nil {
		misfit := ValidationError{Type: "wrong_type", Msg: fault.Detail}
		if fault.Code == UnknownMessage {
			misfit = ValidationError{Loc: []any{"type"}, Type: "wrong_value",
				Msg: strings.TrimPrefix(fault.Detail, "type: ")}
		}
		return nil, malformed([]ValidationError{misfit})
	}
	var problems []ValidationError
	m := read(kind, object{fields: fields, problems: &problems})
	if len(problems) > 0 {
		return nil, malformed(problems)
	}
	return m, nil
}

// Refused is the same error for a message that was read well and that the chat
// would not take.
func (f Fault) Refused() error {
	return malformed([]ValidationError{{Type: f.Code.Slug(), Msg: f.Code.Error(f.Detail).Message}})
}
