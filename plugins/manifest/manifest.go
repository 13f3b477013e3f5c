// Package manifest reads the manifest of a plugin: its name, tools, settings, and the
// permissions that it requests.
package manifest

import (
	"cmp"
	"encoding/json"
	"time"
)

const (
	// MaxBytes bounds a manifest. One with a hundred tools has 60 KB.
	MaxBytes = 128 << 10
	// MaxTools bounds the tools of a plugin; a language model is offered fewer.
	MaxTools = 128
	// MaxSettings bounds the settings of a plugin.
	MaxSettings = 64

	// DefaultTimeout and MaxTimeout are for one call of a tool. The caller waits in silence
	// meanwhile, and nobody waits longer than half a minute.
	DefaultTimeout = 5 * time.Second
	MaxTimeout     = 30 * time.Second
	minTimeout     = 10 * time.Millisecond

	// DefaultMemory is enough for a Go program; MaxMemory is what a box of 4 GB can give
	// one instance.
	DefaultMemory = 64 << 20
	MaxMemory     = 1 << 30
	minMemory     = 64 << 10 // one page of WebAssembly

	// MaxStorage bounds a plugin's key-value space, which is in the database.
	MaxStorage = 256 << 20
)

// Manifest is the content of plugin.yaml, or of the section "parley.manifest".
type Manifest struct {
	Name        string      `json:"name"`
	Version     string      `json:"version"`
	Description string      `json:"description"`
	License     string      `json:"license,omitempty"`
	Wasm        string      `json:"wasm,omitempty"` // file next to plugin.yaml; empty in a section
	Reuse       Reuse       `json:"reuse"`
	Tools       []Tool      `json:"tools,omitempty"`
	Hooks       []string    `json:"hooks,omitempty"`
	Settings    []Setting   `json:"settings,omitempty"`
	Permissions Permissions `json:"permissions"`
}

// Reuse says which calls may use an instance again.
type Reuse string

const (
	ReuseNone Reuse = "none" // none: each call gets a new one
	ReuseChat Reuse = "chat" // later calls of the same chat
	ReuseAny  Reuse = "any"  // other chats of the same account
)

// Tool is a tool of a plugin.
type Tool struct {
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	Parameters      json.RawMessage `json:"parameters"` // JSON schema of an object
	FallbackContent string          `json:"fallback_content,omitempty"`
	Timeout         time.Duration   `json:"-"` // of one call
}

// The hooks that a plugin may have besides its tools. A module exports them under these
// names; a WASI command gets the name as its argument.
const (
	OnTurn    = "on_turn"     // before the model gets the user's words
	OnChatEnd = "on_chat_end" // after the chat
)

// Setting is a setting that the installer may or must set.
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
	Secret  Type = "secret" // a string that is stored encrypted and never shown
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
)

// Tool returns the tool with a name.
func (m Manifest) Tool(name string) (Tool, bool) {
	for _, t := range m.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Setting returns the setting with a name.
func (m Manifest) Setting(name string) (Setting, bool) {
	for _, s := range m.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// MarshalJSON writes the timeout in the notation of the manifest.
func (t Tool) MarshalJSON() ([]byte, error) {
	type plain Tool
	return json.Marshal(struct {
		plain
		Timeout string `json:"timeout"`
	}{plain(t), t.Timeout.String()})
}

// UnmarshalJSON reads the output of MarshalJSON.
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
