package contract

import (
	"encoding/json"
	"fmt"
)

// PluginState is whether the box calls a plugin.
type PluginState string

// The states of plugins.
const (
	PluginReady      PluginState = "ready"
	PluginIncomplete PluginState = "incomplete" // a required setting has no value
	PluginBroken     PluginState = "broken"     // it failed three times in a row and is not called for a while
	PluginStopped    PluginState = "stopped"    // its files, its signature or its secrets are not valid
)

// PluginStates lists every state.
func PluginStates() []PluginState {
	return []PluginState{PluginReady, PluginIncomplete, PluginBroken, PluginStopped}
}

// ReturnPlugin is an installed plugin.
type ReturnPlugin struct {
	Name        string      `json:"name"`
	Version     string      `json:"version"` // as its manifest says
	Description string      `json:"description"`
	License     string      `json:"license,omitempty"`
	State       PluginState `json:"state"`
	// Why it is not ready, in words.
	Why string `json:"why,omitempty"`
	// Digest is the SHA-256 of its files.
	Digest string `json:"digest"`
	// The key that signed it; absent if it is not signed.
	SignedBy string `json:"signed_by,omitempty"`
	// Whether the box trusts that key.
	Trusted bool         `json:"trusted"`
	Tools   []PluginTool `json:"tools"`
	Hooks   []string     `json:"hooks,omitempty"`
	// The permissions that it has.
	Granted []PluginPermission `json:"granted"`
	// The permissions that it asks for and does not have.
	Denied   []PluginPermission `json:"denied"`
	Settings []PluginSetting    `json:"settings"`
	// How much data it stores, for all accounts.
	KeepsBytes  int64 `json:"keeps_bytes"`
	Upgrades    int   `json:"upgrades"`
	InstalledOn int64 `json:"installed_on"`
	ChangedOn   int64 `json:"changed_on"`
	// Since when it is not called, because it failed repeatedly.
	BrokenSince int64 `json:"broken_since,omitempty"`
	// When one call is tried again.
	RetryOn int64 `json:"retry_on,omitempty"`
}

// PluginTool is a tool of a plugin.
type PluginTool struct {
	ID              string          `json:"id"` // the id that configs use
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	Parameters      json.RawMessage `json:"parameters"` // a JSON Schema
	FallbackContent string          `json:"fallback_content,omitempty"`
	TimeoutMS       int64           `json:"timeout_ms"`
}

// PluginPermission is a permission of a plugin.
type PluginPermission struct {
	Name  string `json:"name"`  // the name that grants and revokes it
	Words string `json:"words"` // what it means, for people
}

// PluginSetting is a setting of a plugin.
type PluginSetting struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // string, secret, integer, number or boolean
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
	IsSet       bool   `json:"is_set"`
	// The value, or the default; absent for a secret.
	Value string `json:"value,omitempty"`
}

// PluginOffer is what a plugin asks for, before it is installed.
type PluginOffer struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	License     string `json:"license,omitempty"`
	Digest      string `json:"digest"`
	// The version that it would replace; absent if none is installed.
	InstalledVersion string `json:"installed_version,omitempty"`
	// Who signed it, in words.
	Signed string `json:"signed"`
	// A warning, in words, if another key signed it than the installed version.
	OtherSigner string `json:"other_signer,omitempty"`
	// The permissions that it asks for; for an upgrade, the new ones.
	Asks []PluginPermission `json:"asks"`
	// The required settings without a value.
	UnsetSettings []string `json:"unset_settings"`
}

// PostedPluginChange changes a plugin's permissions and settings.
type PostedPluginChange struct {
	Grant    []string             `json:"grant"`
	Revoke   []string             `json:"revoke"`
	Settings []PostedPluginAnswer `json:"settings"`
	Unset    []string             `json:"unset"` // names of settings to delete
}

// PostedPluginAnswer is the value of a setting.
type PostedPluginAnswer struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Limits of one change of a plugin.
const (
	maxPluginWords     = 128
	maxPluginWordChars = 2048
	maxSettingChars    = 16 << 10
)

func (PostedPluginChange) read(o object) PostedPluginChange {
	c := PostedPluginChange{
		Grant:  pluginWords(o, "grant"),
		Revoke: pluginWords(o, "revoke"),
		Unset:  pluginWords(o, "unset"),
	}
	c.Settings = each(o, "settings", maxPluginWords, func(s object) PostedPluginAnswer {
		s.require("name", "value")
		return PostedPluginAnswer{s.text("name", maxPluginWordChars), s.text("value", maxSettingChars)}
	})
	return c
}

// pluginWords parses a list of strings.
func pluginWords(o object, name string) []string { return stringList(o, name, maxPluginWords) }

func stringList(o object, name string, most int) []string {
	o.expect(name, Shape{Kind: "array", Items: &Shape{Kind: "string", High: bound(maxPluginWordChars)},
		High: bound(most)})
	items := o.items(name, most)
	if items == nil {
		return nil
	}
	all := make([]string, 0, len(items))
	for i, item := range items {
		var word string
		switch err := json.Unmarshal(item, &word); {
		case err != nil || kindOf(item) != "string":
			o.in(name).note(i, "wrong_type", "expected a string, got "+excerpt(item))
		case len(word) > maxPluginWordChars:
			o.in(name).note(i, "wrong_value",
				fmt.Sprintf("%d bytes; at most %d are allowed", len(word), maxPluginWordChars))
		}
		all = append(all, word)
	}
	return all
}

// PostedPluginCall calls a tool of a plugin.
type PostedPluginCall struct {
	Tool       string `json:"tool"`       // may be absent if the plugin has one tool
	Parameters string `json:"parameters"` // a JSON object as text
}

func (PostedPluginCall) read(o object) PostedPluginCall {
	c := PostedPluginCall{Tool: o.text("tool", MaxToolNameChars), Parameters: o.text("parameters", 1<<20)}
	if c.Parameters == "" {
		c.Parameters = "{}"
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Parameters), &object) != nil || object == nil {
		o.note("parameters", "wrong_value", `expected a JSON object as text, such as "{\"place\":\"museum\"}"`)
	}
	return c
}

// PluginCalled is the result of a call.
type PluginCalled struct {
	Content string `json:"content,omitempty"`
	// Why it failed; absent if it did not.
	Error        string  `json:"error,omitempty"`
	Milliseconds float64 `json:"milliseconds"`
	MemoryBytes  int64   `json:"memory_bytes"`
}

// PluginLogLine is a line of a plugin's log.
type PluginLogLine struct {
	OnMS  int64  `json:"on_ms"` // Unix milliseconds
	Level string `json:"level"` // trace, debug, info, warn or error
	Tool  string `json:"tool,omitempty"`
	Chat  string `json:"chat_id,omitempty"`
	Text  string `json:"text"`
}

// PluginFigures are the calls of a tool or a hook since the box started, and
// their durations.
type PluginFigures struct {
	Tool string `json:"tool"`
	// How many calls succeeded, and how many failed, by reason.
	Results []PluginResult `json:"results"`
	// MedianMS and P95MS are the durations of calls, rounded up to the next of
	// some steps; 0 if there were none.
	MedianMS float64 `json:"median_ms"`
	P95MS    float64 `json:"p95_ms"`
}

// PluginResult is how many calls ended in one way.
type PluginResult struct {
	Result string `json:"result"`
	Calls  int64  `json:"calls"`
}

// PluginChoice is how the operator wants a plugin installed.
type PluginChoice struct {
	Tag         string   // of the image in an OCI layout that holds several
	Grant       []string // names of permissions, or "all"
	OtherSigner bool     // replace a plugin that another key has signed
}
