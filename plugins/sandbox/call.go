package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"parley/plugins/manifest"
)

const (
	// MaxContent bounds the answer of a tool: a language model reads all of it before it
	// answers.
	MaxContent = 64 << 10
	// MaxParameters bounds the parameters: a transcript of an hour has 100 KB.
	MaxParameters = 1 << 20
	// maxLog bounds the log of one call.
	maxLog = 64 << 10
)

// Call is one call of a tool or of a hook.
type Call struct {
	Tool         string          // name of the tool or hook
	Parameters   json.RawMessage // JSON, checked by the caller; empty means {}
	Account      string          // account id
	Chat         string          // chat id; empty if there is none
	Caller       string          // identifies the caller across chats; empty if unknown
	Time         time.Time       // the caller's time; zero means now
	Settings     map[string]string
	Granted      manifest.Permissions
	Storage      Storage      // nil if it has none
	Conversation Conversation // nil if there is none
	// Transport carries the granted requests in place of the network, for tests with
	// recorded answers. nil is the network.
	Transport http.RoundTripper
	Log       func(Line) // called on the goroutine of the call; nil drops the log
}

// Line is a line of a plugin's log.
type Line struct {
	Level string // trace, debug, info, warn or error
	Text  string
}

// Storage is a plugin's private key-value space. One goroutine per call uses it, and
// several calls may at once.
type Storage interface {
	// Get returns the value of key; ok is false if there is none.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Set stores value under key. quota bounds the bytes of all keys and values; Set
	// returns ErrFull when it is exceeded.
	Set(ctx context.Context, key string, value []byte, quota int64) error
	// Delete removes key. Deleting a missing key is no error.
	Delete(ctx context.Context, key string) error
	// Keys returns the keys that begin with prefix, in order, at most most.
	Keys(ctx context.Context, prefix string, most int) ([]string, error)
}

// ErrFull is the error of a Storage whose quota is exceeded.
var ErrFull = errors.New("the plugin's storage is full")

// Conversation is the conversation of the chat that a call comes from.
type Conversation interface {
	// Transcript returns the conversation as JSON: {"messages": [{"role", "content"}]},
	// oldest first, with "expression" if feelings is set.
	Transcript(ctx context.Context, feelings bool) (json.RawMessage, error)
}

// Result is the result of a call.
type Result struct {
	Content string        // text or JSON, as the plugin wrote it
	Took    time.Duration // in the plugin, without the wait for an instance
	Memory  int64         // bytes of the instance at the end
	Fresh   bool          // the instance was made for this call
}

// Call runs a tool or a hook. Its errors are Faults.
func (m *Module) Call(ctx context.Context, c Call) (Result, error) {
	limit, err := m.check(&c)
	if err != nil {
		return Result{}, err
	}
	i, fresh, err := m.acquire(ctx, c)
	if err != nil {
		return Result{}, err
	}
	good := false
	defer func() { m.release(i, good) }()
	begun := time.Now()
	content, err := i.call(ctx, c, limit)
	r := Result{Took: time.Since(begun), Memory: i.used.Load(), Fresh: fresh}
	if good = err == nil; !good {
		return r, err
	}
	if err := checkContent(content); err != nil {
		return r, err
	}
	r.Content = content
	return r, nil
}

// check returns an error if c cannot be run. It sets the defaults of c, and returns the
// time limit.
func (m *Module) check(c *Call) (time.Duration, error) {
	limit := manifest.DefaultTimeout
	if t, ok := m.manifest.Tool(c.Tool); ok {
		limit = t.Timeout
	} else if !m.Hook(c.Tool) {
		names := strings.Join(append(m.toolNames(), m.Hooks()...), ", ")
		return 0, fault(Unready, "%s has no tool %.80q; it has %s", m.manifest.Name, c.Tool, names)
	}
	if c.Time.IsZero() {
		c.Time = time.Now()
	}
	if len(c.Parameters) == 0 {
		c.Parameters = json.RawMessage("{}")
	}
	if len(c.Parameters) > MaxParameters {
		return 0, fault(Unready, "the parameters of %s have %d bytes; at most %d are allowed", c.Tool,
			len(c.Parameters), MaxParameters)
	}
	for _, s := range m.manifest.Settings {
		if _, ok := c.Settings[s.Name]; !ok && s.Required {
			return 0, fault(Unready, "the setting %s of %s has no value; set it with: parley plugin set %s %s=…",
				s.Name, m.manifest.Name, m.manifest.Name, s.Name)
		}
	}
	return limit, nil
}

// checkContent returns an error if content cannot be the answer of a tool.
func checkContent(content string) error {
	switch {
	case len(content) > MaxContent:
		return fault(TooMuch, "the answer has %d bytes; at most %d are allowed", len(content), MaxContent)
	case !utf8.ValidString(content):
		return fault(Failed, "the answer is not UTF-8")
	}
	return nil
}
