package chat

import (
	"context"
	"errors"
	"fmt"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// codes maps an engine's error to the contract's error code.
var codes = []struct {
	err  error
	code contract.Code
}{
	{engine.ErrUnreachable, contract.ModelUnreachable},
	{engine.ErrConnection, contract.ModelConnectionFailed},
	{engine.ErrTimedOut, contract.ModelTimedOut},
	{engine.ErrOverloaded, contract.ProviderOverloaded},
	{engine.ErrBroken, contract.ProviderFailed},
}

// clientError is an error with a detail for the client. The errors of custom language models implement it, for
// their developers.
type clientError interface {
	error
	PublicDetail() string
}

// timedOutDetail is the detail of a deadline error.
const timedOutDetail = "It took too long; the box may have too much to do."

// withClientDetail returns the event with the client's detail in its fault: what failed, and not where. It
// returns nil if the fault is only the end of the work's context.
func withClientDetail(e turn.Event) turn.Event {
	switch e := e.(type) {
	case turn.TurnFailed:
		ok := false
		if e.Fault, ok = clientFault(e.Fault); !ok {
			return nil
		}
		return e
	case turn.MindFailed:
		ok := false
		if e.Fault, ok = clientFault(e.Fault); !ok {
			return nil
		}
		return e
	case turn.FaultReported:
		ok := false
		if e.Fault, ok = clientFault(e.Fault); !ok {
			return nil
		}
		return e
	}
	return e
}

// clientFault returns the fault with a code and a detail for its cause. It returns false if the fault is only
// a cancellation.
func clientFault(f contract.Fault) (_ contract.Fault, ok bool) {
	if f.Cause == nil {
		return f, true
	}
	if errors.Is(f.Cause, context.Canceled) {
		return f, false
	}
	for _, c := range codes {
		if errors.Is(f.Cause, c.err) {
			f.Code = c.code
			if e, ok := errors.AsType[clientError](f.Cause); ok {
				f.Detail = e.PublicDetail()
			}
			return f, true
		}
	}
	if errors.Is(f.Cause, context.DeadlineExceeded) {
		f.Detail = timedOutDetail
	}
	if e, ok := errors.AsType[engine.ErrTooLong](f.Cause); ok {
		f.Detail = tooLongDetail(e)
	}
	return f, true
}

// tooLongDetail says what the model cannot read, and how much it can.
func tooLongDetail(e engine.ErrTooLong) string {
	return fmt.Sprintf("The system prompt and the newest message, with its context, are %d tokens for it; at most %d "+
		"are allowed. Make one of them shorter.", e.Tokens, e.Limit)
}

// voiceFault returns the fault for a voice that is not available. If the name is unknown, it lists the
// voices; it never mentions files.
func voiceFault(code contract.Code, err error) contract.Fault {
	if unknown, ok := errors.AsType[contract.ErrInvalid](err); ok {
		return contract.Fault{Code: code, Detail: "voice_id: " + unknown.Why}
	}
	return contract.Fault{Code: code, Detail: "voice_id: it cannot be opened just now.", Cause: err}
}

// uncallableTool returns the fault for a tool that the chat's model cannot call, or nil. Such tools in a
// config are left out instead, because the client is not the owner of the config.
func uncallableTool(by engine.ToolChecker, tools []contract.Tool) *contract.Fault {
	if by == nil {
		return nil
	}
	for _, t := range tools {
		if err := by.CheckTool(t.Name, []byte(t.Parameters)); err != nil {
			return &contract.Fault{Code: contract.InvalidSettings, Detail: "tools: " + err.Error()}
		}
	}
	return nil
}
