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
	// MaxContent bounds what a tool answers with. A language model reads all of
	// it before it says a word.
	MaxContent = 64 << 10
	// MaxParameters bounds what goes in: a transcript of an hour has 100 KB.
	MaxParameters = 1 << 20
	// maxLog bounds what of its log is kept of one call.
	maxLog = 64 << 10
)

// Call is one call of a tool, or of a hook.
type Call struct {
	Tool         string          // its name, or that of a hook
	Parameters   json.RawMessage // empty is {}; that it is JSON is seen by whom it comes to from outside
	Account      string          // whose call it is
	Chat         string          // folder which conversation; empty is none
	Caller       string          // tells callers apart, over chats; empty is unknown
	Time         time.Time       // when it is, where the caller is; zero is now
	Settings     map[string]string
	Granted      manifest.Permissions
	Storage      Storage      // nil where it has none
	Conversation Conversation // nil where there is none
	// Transport carries requests that were granted instead of the network: for
	// tests, with answers that were recorded. nil is the network.
	Transport http.RoundTripper
	Log       func(Line) // logged on the goroutine of the call; nil keeps none
}

// Line is something that a plugin wrote into its log.
type Line struct {
	Level string // trace, debug, info, warn or error
	Text  string
}

// Storage is a plugin's private key-value space. Its methods are called by one
// goroutine a call, and by several calls at once.
type Storage interface {
	// Get is the value of key; ok is false where it has none.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Set keeps value under key. quota is how many bytes all keys and values
	// together may have; it returns ErrFull where they would have more.
	Set(ctx context.Context, key string, value []byte, quota int64) error
	// Delete removes key; it is no error where it is not there.
	Delete(ctx context.Context, key string) error
	// Keys are those that begin with prefix, in order, at most most.
	Keys(ctx context.Context, prefix string, most int) ([]string, error)
}

// ErrFull is what a Storage answers when a value has no room any more.
var ErrFull = errors.New("the plugin's storage is full")

// Conversation is the conversation that a call comes from.
type Conversation interface {
	// Transcript is what was said, as the plugin gets it: {"messages": [{"role",
	// "content"}]}, oldest first, with "expression" where it may know of feelings.
	Transcript(ctx context.Context, feelings bool) (json.RawMessage, error)
}

// Result is what came of a call.
type Result struct {
	Content string        // as the plugin wrote it: text or JSON
	Took    time.Duration // folder the plugin, without waiting for an instance
	Memory  int64         // bytes that the instance had in the end
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

// check says whether c can be run at all, fills in what it leaves out, and how
// long it may take.
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

// checkContent says what is wrong with content as the answer of a tool.
func checkContent(content string) error {
	switch {
	case len(content) > MaxContent:
		return fault(TooMuch, "the answer has %d bytes; at most %d are allowed", len(content), MaxContent)
	case !utf8.ValidString(content):
		return fault(Failed, "the answer is not UTF-8")
	}
	return nil
}
