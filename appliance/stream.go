package appliance

import (
	"context"
	"net/http"
	"sync/atomic"

	"parley/appliance/connection"
	"parley/appliance/line/ws"
	"parley/appliance/stream"
)

// streamAPI is the socket that analyses media for the API: its route is open before the models
// are loaded, and answers 503 until then.
type streamAPI struct {
	service atomic.Pointer[stream.Service]
	lines   *ws.Server
	stop    context.Context // ends with the box
}

// ServeModels serves a socket whose client sends media and gets predictions.
func (s *streamAPI) ServeModels(w http.ResponseWriter, r *http.Request, account string,
	auth connection.Authorization) error {
	service := s.service.Load()
	if service == nil {
		return errLoading
	}
	return s.lines.ServeModels(w, r, service.Admission(account),
		func(l *ws.ModelsLine) ws.Analyst { return service.Open(s.stop, account, l) }, auth)
}
