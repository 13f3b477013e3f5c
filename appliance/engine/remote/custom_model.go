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

// CustomOptions locate a custom language model, which the developer of an app has named in a
// config.
type CustomOptions struct {
	// URL is https:// or http:// for a model that answers POST requests with server-sent events,
	// and wss:// or ws:// for one that uses a WebSocket. It must be encrypted and lead to a public
	// address, or lead to one that Allowed names. Each connection is checked.
	URL     string
	Allowed addresses.Allowed // addresses in the box's own network that the operator allows
	Limits  Limits            // zero limits mean the defaults
}

// customName is the model name in requests; the server has only one model.
const customName = "custom-language-model"

// maxCustomText limits the text of one answer: half an hour of speech at some 18 letters a second,
// the longest that a chat lasts. A longer text was not meant to be spoken.
const maxCustomText = 32 << 10

// errTooMuchText reports an answer over maxCustomText.
var errTooMuchText = fmt.Errorf("the answer has more than %d bytes of text", maxCustomText)

// Custom is a custom language model for one conversation.
type Custom interface {
	engine.LanguageModel
	// Close closes its connections. No call may be running.
	Close() error
}

// OpenCustom prepares the use of a custom language model for one conversation without calling it.
// An error reports a wrong URL.
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
			server: server{
				client: customClient(limitedTransport{customTransport(u.Scheme == "https", o.Allowed)}, u),
				base:   u,
				model:  customName,
				name:   u.Scheme + "://" + u.Host,
				what:   languageModel,
				limits: o.Limits.orDefault(),
				custom: true,
			},
			address: u.String(),
		}, nil
	}
	if u.Scheme == "wss" || u.Scheme == "ws" {
		return openSocket(u, o), nil
	}
	return nil, fmt.Errorf("custom language model: %q begins with none of https://, http://, wss:// and ws://", o.URL)
}

// customClient returns the HTTP client for one custom language model.
func customClient(over http.RoundTripper, server *url.URL) *http.Client {
	return &http.Client{Transport: over, CheckRedirect: sameServerOnly(server)}
}

// customTransport uses no proxy, because the dial filter must see the address that is connected to.
func customTransport(encrypted bool, allowed addresses.Allowed) *http.Transport {
	return &http.Transport{
		DialContext:            dialFilter{allowed, encrypted, addresses.NewTable(machine.Addresses)}.dial,
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: 64 << 10, // the default is 10 MiB, more than a chat should hold
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    1, // a conversation requests one answer at a time
		IdleConnTimeout:        time.Minute,
	}
}

// customAddress returns the URL of a request, with the name of the session in its query.
func customAddress(address, session string) string {
	u, err := url.Parse(address)
	if err != nil || session == "" { // the URL was checked in OpenCustom
		return address
	}
	q := u.Query()
	q.Set("custom_session_id", session)
	u.RawQuery = q.Encode()
	return u.String()
}

// interval is the time of a message, in ms since the start of the conversation.
type interval struct {
	Begin int64 `json:"begin"`
	End   int64 `json:"end"`
}

// inference is the expression measurement of a message; {} if there is none.
type inference struct {
	Prosody *prosody `json:"prosody,omitempty"`
}

type prosody struct {
	Scores any `json:"scores"`
}

// timeAndProsody returns the time and the expression scores of a user's message.
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

// customRequest converts p for a custom language model, which has its own prompt and reply length.
func (m *Model) customRequest(p engine.Prompt) chatRequest {
	q := m.chatRequest(p)
	q.address, q.key = customAddress(m.address, p.Session), p.Key
	q.StreamOptions, q.MaxTokens, q.MaxCompletionTokens = nil, 0, 0
	q.Messages = nil
	for _, msg := range p.Messages {
		if msg.Role == engine.System && msg.Content == "" {
			continue
		}
		w := wireMessage(msg)
		w.Time, w.Models = timeAndProsody(msg)
		q.Messages = append(q.Messages, w)
	}
	return q
}

var _ engine.LanguageModel = Custom(nil)
