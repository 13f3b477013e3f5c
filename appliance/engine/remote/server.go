package remote

import (
	"fmt"
	"net/http"
	"net/url"
)

// What servers run, for messages.
const (
	languageModel = "language model"
	transcriber   = "transcriber"
	voice         = "voice"
)

// server is a server as its calls need it.
type server struct {
	client *http.Client
	base   *url.URL
	key    string // sent as a bearer token; empty: none
	model  string // its name on the server
	name   string // scheme and host, for messages
	what   string // runs there, for messages
	limits Limits
	// custom says that it is a custom language model. Its server may deviate from the API, and
	// receives more than the API has.
	custom bool
}

// openServer prepares the use of a server without calling it. An error names the wrong option.
func openServer(what string, o Options) (server, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return server{}, fmt.Errorf("remote %s: %q is not a base URL: use http://HOST:PORT/v1 or https://HOST/v1",
			what, o.BaseURL)
	}
	if o.Model == "" {
		return server{}, fmt.Errorf("remote %s: model name is missing for %s", what, o.BaseURL)
	}
	return server{
		client: newClient(u),
		base:   u,
		key:    o.Key,
		model:  o.Model,
		name:   u.Scheme + "://" + u.Host,
		what:   what,
		limits: o.Limits.orDefault(),
	}, nil
}

// openServers opens servers that serve the same, with these limits where their options have none.
func openServers(what string, servers []Options, otherwise Limits) ([]*server, error) {
	var all []*server
	for _, o := range servers {
		o.Limits = o.Limits.or(otherwise)
		s, err := openServer(what, o)
		if err != nil {
			return nil, err
		}
		all = append(all, &s)
	}
	return all, nil
}

// Describe names the model and its server.
func (s *server) Describe() string { return s.model + " at " + s.name }

// Close closes the idle connections. No call may be running.
func (s *server) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// send sends a request and returns the response if its status is 200, and a *statusError otherwise.
func (s *server) send(r *http.Request, key string) (*http.Response, error) {
	r.Header.Set("User-Agent", "parley")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	return nil, readStatus(response)
}
