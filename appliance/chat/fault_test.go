package chat

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// What an engine says of its failure may name servers and files.
func TestClientsAreToldWhatFailedAndNotWhere(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want contract.Fault
	}{
		"a server that is away": {fmt.Errorf("POST http://10.0.0.5:8000/v1: %w", engine.ErrUnreachable), contract.Fault{Code: contract.ModelUnreachable}},
		"a server in trouble":   {fmt.Errorf("10.0.0.5: %w", engine.ErrBroken), contract.Fault{Code: contract.ProviderFailed}},
		"a box under load":      {fmt.Errorf("encoder: %w", context.DeadlineExceeded), contract.Fault{Code: contract.NotTranscribed, Detail: tooLong}},
		"anything else":         {errors.New("/var/lib/parley/model: broken"), contract.Fault{Code: contract.NotTranscribed}},
	} {
		got, ok := explainedFault(contract.Fault{Code: contract.NotTranscribed, Cause: c.err})
		if !ok || got.Code != c.want.Code || got.Detail != c.want.Detail {
			t.Errorf("%s: %+v", name, got)
		}
		if !errors.Is(got.Cause, c.err) {
			t.Errorf("%s: the log would not say %v", name, c.err)
		}
	}
	cut := contract.Fault{Code: contract.NotTranscribed, Cause: fmt.Errorf("cut: %w", context.Canceled)}
	for _, e := range []turn.Event{turn.Faulty{Fault: cut}, turn.Failed{Fault: cut}} {
		if got := explained(e); got != nil {
			t.Errorf("the end of a context is told as %+v", got)
		}
	}
}
