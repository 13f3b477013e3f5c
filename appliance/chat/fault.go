package chat

import (
	"context"
	"errors"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// causes says which error of the contract an engine's error is to the client.
var causes = []struct {
	err  error
	code contract.Code
}{
	{engine.ErrUnreachable, contract.ModelUnreachable},
	{engine.ErrTimedOut, contract.ModelTimedOut},
	{engine.ErrOverloaded, contract.ProviderOverloaded},
	{engine.ErrBroken, contract.ProviderFailed},
}

// tooLong says what a deadline means to a client.
const tooLong = "It took too long; the box may have too much to do."

// faultOf turns an error of an engine into a fault; false when there is none,
// or it is only the end of its context.
func faultOf(err error, otherwise contract.Code) (contract.Fault, bool) {
	if err == nil || errors.Is(err, context.Canceled) {
		return contract.Fault{}, false
	}
	f := contract.Fault{Code: otherwise, Cause: err}
	for _, c := range causes {
		if errors.Is(err, c.err) {
			f.Code = c.code
			return f, true
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		f.Detail = tooLong
	}
	return f, true
}
