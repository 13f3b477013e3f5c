package chat

import (
	"context"
	"errors"
	"fmt"
	"testing"

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
		got, ok := faultOf(c.err, contract.NotTranscribed)
		if !ok || got.Code != c.want.Code || got.Detail != c.want.Detail {
			t.Errorf("%s: %+v", name, got)
		}
		if !errors.Is(got.Cause, c.err) {
			t.Errorf("%s: the log would not say %v", name, c.err)
		}
	}
	for _, err := range []error{nil, fmt.Errorf("cut: %w", context.Canceled)} {
		if got, ok := faultOf(err, contract.NotTranscribed); ok {
			t.Errorf("%v is told as %+v", err, got)
		}
	}
}
