package chat

import (
	"context"
	"errors"
	"fmt"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// codes says which error of the contract an engine's error is to the client.
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

// clientError is an error that says what of it a client may be told: one of a
// custom language model, to whose developer it is of use.
type clientError interface {
	error
	PublicDetail() string
}

// timedOutDetail says what a deadline means to a client.
const timedOutDetail = "It took too long; the box may have too much to do."

// withClientDetail is an event with what the client is to be told of the fault in it:
// what failed, and not where. It is nil when the fault is none, but the end of
// the work's context.
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

// clientFault finds a better code for what caused a fault; false when there
// is none.
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

// tooLongDetail says what of the client's a model cannot read, and how much it can.
func tooLongDetail(e engine.ErrTooLong) string {
	return fmt.Sprintf("The system prompt and the newest message, with its context, are %d tokens for it; at most %d "+
		"are allowed. Make one of them shorter.", e.Tokens, e.Limit)
}

// voiceFault is what a client is told when it cannot have the voice that it asked
// for: which there are, where that is the trouble, and else nothing of files.
func voiceFault(code contract.Code, err error) contract.Fault {
	if unknown, ok := errors.AsType[contract.ErrInvalid](err); ok {
		return contract.Fault{Code: code, Detail: "voice_id: " + unknown.Why}
	}
	return contract.Fault{Code: code, Detail: "voice_id: it cannot be opened just now.", Cause: err}
}

// uncallableTool is what a client is told of a tool that the model of the chat cannot
// call; nil where it can call all of them. Those of a config are left out
// instead: its owner is not the one who would be told.
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
