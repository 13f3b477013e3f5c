package appliance

import (
	"context"
	"sync/atomic"

	"parley/appliance/contract"
	"parley/appliance/speech"
)

// speeches is text-to-speech as the API sees it: its paths are open before the
// voices are loaded.
type speeches struct {
	service atomic.Pointer[speech.Service]
}

// Begin begins a request.
func (s *speeches) Begin(ctx context.Context, a speech.Asked) (*speech.Job, error) {
	if service := s.service.Load(); service != nil {
		return service.Begin(ctx, a)
	}
	return nil, contract.ErrUnavailable{Why: "the models are being loaded", RetryAfter: warming}
}
