package contract

import "encoding/json"

// PluginState says whether a plugin of the box is called.
type PluginState string

// The states of plugins.
const (
	PluginReady      PluginState = "ready"
	PluginIncomplete PluginState = "incomplete" // a required setting has no value
	PluginBroken     PluginState = "broken"     // it failed three times in a row and is left alone for a while
	PluginStopped    PluginState = "stopped"    // its files, its signature or its secrets are not what they have to be
)

// PluginStates are all of them.
func PluginStates() []PluginState {
	return []PluginState{PluginReady, PluginIncomplete, PluginBroken, PluginStopped}
}

// ReturnPlugin is a plugin that is installed on the box.
type ReturnPlugin struct {
	Name        string      `json:"name"`
	Version     string      `json:"version"` // as its manifest says
	Description string      `json:"description"`
	License     string      `json:"license,omitempty"`
	State       PluginState `json:"state"`
	// Why says in words why it is not ready.
	Why string `json:"why,omitempty"`
	// Digest is the SHA-256 of its files.
	Digest string `json:"digest"`
	// SignedBy is the key by which it is signed; absent: it is not.
	SignedBy string `json:"signed_by,omitempty"`
	// Trusted says that the box trusts that key.
	Trusted bool         `json:"trusted"`
	Tools   []PluginTool `json:"tools"`
	Hooks   []string     `json:"hooks,omitempty"`
	// Granted is what it may do.
	Granted []PluginPermission `json:"granted"`
	// Denied is what it asks for and was not granted.
	Denied   []PluginPermission `json:"denied"`
	Settings []PluginSetting    `json:"settings"`
	// KeepsBytes is how much it keeps, for all accounts.
	KeepsBytes  int64 `json:"keeps_bytes"`
	Upgrades    int   `json:"upgrades"`
	InstalledOn int64 `json:"installed_on"`
	ChangedOn   int64 `json:"changed_on"`
	// BrokenSince is since when it is left alone, because it failed in a row.
	BrokenSince int64 `json:"broken_since,omitempty"`
	// RetryOn is from when on one call is tried.
	RetryOn int64 `json:"retry_on,omitempty"`
}

// PluginTool is a tool of a plugin.
type PluginTool struct {
	ID              string          `json:"id"` // by which configs name it
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	Parameters      json.RawMessage `json:"parameters"` // a JSON Schema
	FallbackContent string          `json:"fallback_content,omitempty"`
	TimeoutMS       int64           `json:"timeout_ms"`
}

// PluginPermission is one thing that a plugin may do, or asks for.
type PluginPermission struct {
	Name  string `json:"name"`  // by which it is granted and revoked
	Words string `json:"words"` // what it means, for people
}

// PluginSetting is a setting of a plugin.
type PluginSetting struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // string, secret, integer, number or boolean
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
	IsSet       bool   `json:"is_set"`
	// Value is what it was told, or its default; absent of a secret.
	Value string `json:"value,omitempty"`
}
