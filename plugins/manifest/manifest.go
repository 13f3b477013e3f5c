// Package manifest is what a plugin says of itself: its name, the tools that it
// brings, the settings that it takes, and what it asks to be allowed.
package manifest

import (
	"cmp"
	"encoding/json"
	"time"
)

const (
	// MaxBytes bounds a manifest. One with a hundred tools has 60 KB.
	MaxBytes = 128 << 10
	// MaxTools is what a plugin may bring: more than a language model is told of.
	MaxTools = 128
	// MaxSettings bounds the settings of a plugin.
	MaxSettings = 64

	// DefaultTimeout and MaxTimeout are for one call of a tool. A caller waits in
	// silence meanwhile, and after half a minute nobody does.
	DefaultTimeout = 5 * time.Second
	MaxTimeout     = 30 * time.Second
	minTimeout     = 10 * time.Millisecond

	// DefaultMemory holds a Go program with all it needs to answer; MaxMemory is
	// what a box of 4 GB can still give one instance.
	DefaultMemory = 64 << 20
	MaxMemory     = 1 << 30
	minMemory     = 64 << 10 // one page of WebAssembly

	// MaxStorage bounds a plugin's key-value space, which lies in the database.
	MaxStorage = 256 << 20
)

// Manifest is a plugin's plugin.yaml, or its section "parley.manifest".
type Manifest struct {
	Name        string      `json:"name"`
	Version     string      `json:"version"`
	Description string      `json:"description"`
	License     string      `json:"license,omitempty"`
	Wasm        string      `json:"wasm,omitempty"` // the file beside plugin.yaml; empty in a section
	Reuse       Reuse       `json:"reuse"`
	Tools       []Tool      `json:"tools,omitempty"`
	Hooks       []string    `json:"hooks,omitempty"`
	Settings    []Setting   `json:"settings,omitempty"`
	Permissions Permissions `json:"permissions"`
}

// Reuse says who may meet an instance that has been used.
type Reuse string

const (
	ReuseNone Reuse = "none" // nobody: each call gets a fresh one
	ReuseChat Reuse = "chat" // later calls of the same chat
	ReuseAny  Reuse = "any"  // other chats of the same account
)

// Tool is a tool that the plugin answers.
type Tool struct {
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	Parameters      json.RawMessage `json:"parameters"` // a JSON schema of an object
	FallbackContent string          `json:"fallback_content,omitempty"`
	Timeout         time.Duration   `json:"-"` // of one call
}

// The hooks that a plugin may have beside its tools. They are exported (or, by a
// WASI command, answered) under these names.
const (
	OnTurn    = "on_turn"     // before the model hears what the user said
	OnChatEnd = "on_chat_end" // after the chat
)

// Setting is what the installer may or has to fill in.
type Setting struct {
	Name        string `json:"name"`
	Type        Type   `json:"type"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
	Default     string `json:"default,omitempty"`
}

// Type is the type of a setting.
type Type string

const (
	String  Type = "string"
	Secret  Type = "secret" // a string that is kept encrypted and shown to nobody
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
)

// Tool finds a tool by its name.
func (m Manifest) Tool(name string) (Tool, bool) {
	for _, t := range m.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Setting finds a setting by its name.
func (m Manifest) Setting(name string) (Setting, bool) {
	for _, s := range m.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// MarshalJSON writes the time in the notation of the manifest.
func (t Tool) MarshalJSON() ([]byte, error) {
	type plain Tool
	return json.Marshal(struct {
		plain
		Timeout string `json:"timeout"`
	}{plain(t), t.Timeout.String()})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Tool) UnmarshalJSON(text []byte) error {
	type plain Tool
	w := struct {
		*plain
		Timeout string `json:"timeout"`
	}{plain: (*plain)(t)}
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	var err error
	t.Timeout, err = time.ParseDuration(cmp.Or(w.Timeout, DefaultTimeout.String()))
	return err
}
