package line

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// Receive hands a client's message, as JSON, on to its session, or what is wrong
// with it. The sound of an audio_input goes to hear. Nothing of data is kept.
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

// closeTryLater is the close code for "not now" (IANA registry: Try Again Later).
const closeTryLater = 1013

// Refuse tells the client why there is no conversation, and closes its line. A
// fault of ours is told without its details, which are in the log.
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

// ErrorLimiter looks at what passes to a client: errors are given the id of its
// request, and identical ones in a row are counted, which are those of a client
// that repeats itself for ever. One goroutine uses it.
type ErrorLimiter struct {
	RequestID string

	code    contract.Code
	message string
	times   int
}

// Note returns a message as it is to be sent. tooOften, where it is not nil, says
// why the line is to be closed (contract.ClosePolicy) behind it.
func (e *ErrorLimiter) Note(m contract.ServerMessage) (noted contract.ServerMessage, tooOften error) {
	switch v := m.(type) {
	case contract.ChatMetadata:
		if v.RequestID != "" {
			e.RequestID = v.RequestID
		}
	case contract.UserMessage: // something was understood, which ends the row
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

// count is how many errors in a row said the same.
func (e *ErrorLimiter) count(m contract.WebSocketError) int {
	if m.Code != e.code || m.Message != e.message {
		e.code, e.message, e.times = m.Code, m.Message, 0
	}
	e.times++
	return e.times
}
