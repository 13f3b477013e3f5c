package contract

import (
	"encoding/json"
	"fmt"
)

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

// PluginOffer is what a plugin that was sent asks for, before it is installed.
type PluginOffer struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	License     string `json:"license,omitempty"`
	Digest      string `json:"digest"`
	// InstalledVersion is what is installed under the name, which it would take
	// the place of; absent where nothing is.
	InstalledVersion string `json:"installed_version,omitempty"`
	// Signed says in words who signed it.
	Signed string `json:"signed"`
	// OtherSigner says in words that it is signed by somebody else than what is
	// installed.
	OtherSigner string `json:"other_signer,omitempty"`
	// Asks is what it asks for; of an upgrade what is new.
	Asks []PluginPermission `json:"asks"`
	// UnsetSettings are required and have no value yet.
	UnsetSettings []string `json:"unset_settings"`
}

// PostedPluginChange says what is to be changed of a plugin.
type PostedPluginChange struct {
	Grant    []string             `json:"grant"`
	Revoke   []string             `json:"revoke"`
	Settings []PostedPluginAnswer `json:"settings"`
	Unset    []string             `json:"unset"` // settings that are to be forgotten
}

// PostedPluginAnswer is the value of a setting.
type PostedPluginAnswer struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// The most of what one change of a plugin names, and the longest word in it.
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

// words reads a list of strings.
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

// PostedPluginCall is a call of a tool of a plugin.
type PostedPluginCall struct {
	Tool       string `json:"tool"`       // may be left out where it has one
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

// PluginCalled is what came of a call.
type PluginCalled struct {
	Content string `json:"content,omitempty"`
	// Error says why it failed; absent where it did not.
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

// PluginFigures is how often a tool or a hook of a plugin was called since the box
// was started, and how long that took.
type PluginFigures struct {
	Tool string `json:"tool"`
	// Results are how the calls ended: answered, or why not.
	Results []PluginResult `json:"results"`
	// MedianMS and P95MS are those of calls that were made, to the next of some
	// steps; 0 where none was.
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
