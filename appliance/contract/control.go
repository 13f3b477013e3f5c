package contract

import "strings"

// controlKinds lists the messages that other clients than the chat's may send
// into it: all but audio.
func controlKinds() []string { return kinds()[1:] }

// ControlMessages describes them, by their type.
func ControlMessages() []Body { return ClientMessages()[1:] }

// ParseControlMessage parses a text frame of a client that is connected to
// another client's chat. The error is that of ParseClientMessage.
func ParseControlMessage(data []byte) (ClientMessage, error) {
	return parseMessage(data, controlKinds())
}

// ParsePublishEvent parses the body of a request that sends such a message. The
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

// Refused returns the fault as an ErrMalformed, for a valid message that the chat
// rejected.
func (f Fault) Refused() error {
	return malformed([]ValidationError{{Type: f.Code.Slug(), Msg: f.Code.Error(f.Detail).Message}})
}
