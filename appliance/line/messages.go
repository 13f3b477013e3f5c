package line

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// Receive parses a message of the client, and passes it or its fault to the session. The
// sound of an audio_input goes to hear. Receive does not retain data.
func Receive(s Session, data []byte, hear func(data []byte) error) error {
	m, err := contract.ParseClientMessage(data)
	if f, ok := errors.AsType[contract.Fault](err); ok {
		return s.Fault(f.Code, f.Detail)
	} else if err != nil {
		return s.Fault(contract.Internal, "")
	}
	if audio, ok := m.(contract.AudioInput); ok {
		return hear(audio.Data)
	}
	return s.Receive(m)
}

// closeTryLater is the close code Try Again Later of the IANA registry.
const closeTryLater = 1013

// Refuse tells the client why there is no chat, and closes its line. The details of an
// internal error are only logged.
func Refuse(ctx context.Context, l connection.Line, log *slog.Logger, err error) {
	f, told := errors.AsType[contract.Fault](err)
	full, isFull := errors.AsType[contract.ErrFull](err)
	code := contract.ClosePolicy
	switch {
	case told && f.Code.Fatal():
		code = f.Code.CloseCode()
	case isFull:
		l.Close(closeTryLater, full.Error())
		return
	case !told:
		log.ErrorContext(ctx, "cannot open a chat", "err", err)
		f, code = contract.Fault{Code: contract.Internal}, contract.CloseInternal
	}
	if err := l.Send(ctx, f.Code.Error(f.Detail)); err == nil {
		l.Close(code, f.Code.Slug())
	}
}

// ErrorLimiter inspects the messages to a client. It adds the request id to errors, and
// counts identical errors in a row, as a client causes that repeats a request for ever. One
// goroutine uses it.
type ErrorLimiter struct {
	RequestID string

	code    contract.Code
	message string
	times   int
}

// Note returns the message to send. If tooOften is not nil, the line is to be closed
// (contract.ClosePolicy) after it.
func (e *ErrorLimiter) Note(m contract.ServerMessage) (noted contract.ServerMessage, tooOften error) {
	switch v := m.(type) {
	case contract.ChatMetadata:
		if v.RequestID != "" {
			e.RequestID = v.RequestID
		}
	case contract.UserMessage: // the client's input was understood: the count starts again
		e.times = 0
	case contract.WebSocketError:
		if v.RequestID == "" {
			v.RequestID = e.RequestID
		}
		if e.count(v) >= contract.MaxIdenticalErrors {
			tooOften = fmt.Errorf("%d identical errors in a row", contract.MaxIdenticalErrors)
		}
		return v, tooOften
	}
	return m, nil
}

// count returns the number of identical errors in a row.
func (e *ErrorLimiter) count(m contract.WebSocketError) int {
	if m.Code != e.code || m.Message != e.message {
		e.code, e.message, e.times = m.Code, m.Message, 0
	}
	e.times++
	return e.times
}
