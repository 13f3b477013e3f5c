package remote

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"parley/appliance/engine"
	"parley/internal/addresses"
	"parley/internal/machine"
)

// CustomOptions say where a custom language model is served: by the developer
// of the app, who has named it in a config.
type CustomOptions struct {
	// URL is https:// or http:// for a model that answers POST requests with
	// server-sent events, wss:// or ws:// for one that talks over a WebSocket.
	// It has to lead to a public address, and be encrypted, or to one that Allowed
	// names; that is checked with every connection.
	URL     string
	Allowed addresses.Allowed // what the operator allows of the box's own network
	Limits  Limits            // a zero limit means the default
}

// customName is the model that a request names: the server has one.
const customName = "custom-language-model"

// maxCustomText bounds one answer as text: half an hour of speech, at some 18
// letters a second, which is as long as a chat lasts at most. What is longer was not
// meant to be spoken.
const maxCustomText = 32 << 10

// errTooMuchText is an answer over maxCustomText.
var errTooMuchText = fmt.Errorf("the answer has more than %d bytes of text", maxCustomText)

// Custom is a custom language model, for one conversation.
type Custom interface {
	engine.LanguageModel
	// Close gives up what is open. No call may be under way.
	Close() error
}

// OpenCustom prepares to use a custom language model for one conversation; it
// does not call it. The error says what is wrong with the URL.
func OpenCustom(o CustomOptions) (Custom, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" {
		return nil,
			fmt.Errorf("custom language model: %q is not a URL: use https://HOST/chat/completions or wss://HOST/PATH",
				o.URL)
	}
	u.Fragment = ""
	switch u.Scheme {
	case "https", "http":
		return &Model{
			client:  customClient(limitedTransport{customTransport(u.Scheme == "https", o.Allowed)}, u),
			address: u.String(),
			model:   customName,
			server:  u.Scheme + "://" + u.Host,
			limits:  o.Limits.orDefault(),
			custom:  true,
		}, nil
	}
	if u.Scheme == "wss" || u.Scheme == "ws" {
		return openSocket(u, o), nil
	}
	return nil, fmt.Errorf("custom language model: %q begins with none of https://, http://, wss:// and ws://", o.URL)
}

// customClient is the HTTP client for the server of one custom language model.
func customClient(over http.RoundTripper, server *url.URL) *http.Client {
	return &http.Client{Transport: over, CheckRedirect: sameServerOnly(server)}
}

// customTransport goes to no proxy: which addresses it may go to is for the guard
// to say, and not for somebody beyond it.
func customTransport(encrypted bool, allowed addresses.Allowed) *http.Transport {
	return &http.Transport{
		DialContext:            dialFilter{allowed, encrypted, addresses.NewTable(machine.Addresses)}.dial,
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: 64 << 10, // the default is 10 MiB, which a chat need not hold
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    1, // a conversation has one answer at a time
		IdleConnTimeout:        time.Minute,
	}
}

// customAddress is where a request goes: the URL, with the name of the session
// in its query.
func customAddress(address, session string) string {
	u, err := url.Parse(address)
	if err != nil || session == "" { // the first was checked when it was opened
		return address
	}
	q := u.Query()
	q.Set("custom_session_id", session)
	u.RawQuery = q.Encode()
	return u.String()
}

// interval is when something was said, in ms since the conversation began.
type interval struct {
	Begin int64 `json:"begin"`
	End   int64 `json:"end"`
}

// inference is what was measured of what was said; {} where nothing was.
type inference struct {
	Prosody *prosody `json:"prosody,omitempty"`
}

type prosody struct {
	Scores any `json:"scores"`
}

// timeAndProsody adds to a user's message when it was said and how it sounded.
func timeAndProsody(m engine.Message) (*interval, *inference) {
	if m.Role != engine.User {
		return nil, nil
	}
	i := &inference{}
	if m.Scores != nil {
		i.Prosody = &prosody{m.Scores}
	}
	if m.End == 0 {
		return nil, i
	}
	return &interval{m.Begin.Milliseconds(), m.End.Milliseconds()}, i
}

// customRequest is p in the words of a custom language model, which has a
// length and a prompt of its own.
func (m *Model) customRequest(p engine.Prompt) chatRequest {
	q := m.chatRequest(p)
	q.address, q.key = customAddress(m.address, p.Session), p.Key
	q.StreamOptions, q.MaxTokens, q.MaxCompletionTokens = nil, 0, 0
	q.Messages = nil
	for _, said := range p.Messages {
		if said.Role == engine.System && said.Content == "" {
			continue
		}
		w := wireMessage(said)
		w.Time, w.Models = timeAndProsody(said)
		q.Messages = append(q.Messages, w)
	}
	return q
}

var _ engine.LanguageModel = Custom(nil)
