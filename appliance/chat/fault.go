package chat

import (
	"context"
	"errors"
	"fmt"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// causes says which error of the contract an engine's error is to the client.
var causes = []struct {
	err  error
	code contract.Code
}{
	{engine.ErrUnreachable, contract.ModelUnreachable},
	{engine.ErrConnection, contract.ModelConnectionFailed},
	{engine.ErrTimedOut, contract.ModelTimedOut},
	{engine.ErrOverloaded, contract.ProviderOverloaded},
	{engine.ErrBroken, contract.ProviderFailed},
}

// frank is an error that says what of it a client may be told: one of a
// custom language model, to whose developer it is of use.
type frank interface {
	error
	PublicDetail() string
}

// tooLong says what a deadline means to a client.
const tooLong = "It took too long; the box may have too much to do."

// explained is an event with what the client is to be told of the fault in it:
// what failed, and not where. It is nil when the fault is none, but the end of
// the work's context.
func explained(e turn.Event) turn.Event {
	switch e := e.(type) {
	case turn.Failed:
		ok := false
		if e.Fault, ok = explainedFault(e.Fault); !ok {
			return nil
		}
		return e
	case turn.Broke:
		ok := false
		if e.Fault, ok = explainedFault(e.Fault); !ok {
			return nil
		}
		return e
	case turn.Faulty:
		ok := false
		if e.Fault, ok = explainedFault(e.Fault); !ok {
			return nil
		}
		return e
	}
	return e
}

// explainedFault finds a better code for what caused a fault; false when there
// is none.
func explainedFault(f contract.Fault) (_ contract.Fault, ok bool) {
	if f.Cause == nil {
		return f, true
	}
	if errors.Is(f.Cause, context.Canceled) {
		return f, false
	}
	for _, c := range causes {
		if errors.Is(f.Cause, c.err) {
			f.Code = c.code
			if e, ok := errors.AsType[frank](f.Cause); ok {
				f.Detail = e.PublicDetail()
			}
			return f, true
		}
	}
	if errors.Is(f.Cause, context.DeadlineExceeded) {
		f.Detail = tooLong
	}
	if e, ok := errors.AsType[engine.ErrTooLong](f.Cause); ok {
		f.Detail = noRoom(e)
	}
	return f, true
}

// noRoom says what of the client's a model cannot read, and how much it can.
func noRoom(e engine.ErrTooLong) string {
	return fmt.Sprintf("The system prompt and the newest message, with its context, are %d tokens for it; at most %d "+
		"are allowed. Make one of them shorter.", e.Tokens, e.Limit)
}

// noVoice is what a client is told when it cannot have the voice that it asked
// for: which there are, where that is the trouble, and else nothing of files.
func noVoice(code contract.Code, err error) contract.Fault {
	if unknown, ok := errors.AsType[contract.ErrInvalid](err); ok {
		return contract.Fault{Code: code, Detail: "voice_id: " + unknown.Why}
	}
	return contract.Fault{Code: code, Detail: "voice_id: it cannot be opened just now.", Cause: err}
}

// uncallable is what a client is told of a tool that the model of the chat cannot
// call; nil where it can call all of them. Those of a config are left out
// instead: its owner is not the one who would be told.
func uncallable(by engine.ToolChecker, tools []contract.Tool) *contract.Fault {
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
