package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// checkTimeout bounds one check. A server that lists its models does so in milliseconds.
	checkTimeout = 5 * time.Second
	// maxModelsBytes is how much of a list of models is read.
	maxModelsBytes = 1 << 20
)

// Check asks a server for its models, which costs it nothing, and returns their names. Some servers
// have no such list: then there are no names. what is what the server runs, for the error, which is an
// *Error or that of ctx.
func Check(ctx context.Context, what string, o Options) (models []string, err error) {
	s, err := openServer(what, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.check(ctx)
}

// check is Check for an open server.
func (s *server) check(ctx context.Context) (models []string, err error) {
	watched, cancel := context.WithTimeoutCause(ctx, checkTimeout, errCheck)
	defer cancel()
	r, err := http.NewRequestWithContext(watched, http.MethodGet, s.base.JoinPath("models").String(), nil)
	if err != nil {
		return nil, err
	}
	response, err := s.send(r, s.key)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(response.Body, maxModelsBytes))
		response.Body.Close()
	}
	if err == nil {
		return modelNames(text), nil
	}
	fault := s.fault(watched, ctx, err, false)
	if e, is := fault.(*Error); is && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
		return nil, nil
	}
	return nil, fault
}

// modelNames returns the names in a list of models.
func modelNames(text []byte) (names []string) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names
}

// Has reports whether a list of models has one, in any case; an empty list may have any.
func Has(models []string, name string) bool {
	return len(models) == 0 || slices.ContainsFunc(models, func(m string) bool { return strings.EqualFold(m, name) })
}
