// Package fleet has what boxes and their hub tell each other: what a box is to run (Want), what it does run (State),
// and what happened on it (Facts). It knows neither NATS nor the database.
package fleet

import "encoding/json"

// Want is all that the hub wants a box to run. A box applies it whole or not at all.
type Want struct {
	// Revision grows with every change of what this box is to run, from 1. 0 means that the hub has said nothing yet.
	Revision int64     `json:"revision"`
	Hub      string    `json:"hub"` // the hub's name, for messages
	Accounts []Account `json:"accounts,omitempty"`
	Plugins  []Plugin  `json:"plugins,omitempty"`
	// Settings are values by key, as parley.yaml has them. Only settings that may be set from afar are allowed.
	Settings map[string]string `json:"settings,omitempty"`
}

// Account is what the hub wants of one account of the box, which is created if it does not exist.
type Account struct {
	Name    string     `json:"name"`
	Keys    []Key      `json:"keys,omitempty"`
	Prompts []Resource `json:"prompts,omitempty"`
	Tools   []Resource `json:"tools,omitempty"`
	Configs []Resource `json:"configs,omitempty"`
	Voices  []Voice    `json:"voices,omitempty"`
	// Lexicon are all pronunciations of the account by word; nil leaves those of the box as they are.
	Lexicon map[string]string `json:"lexicon,omitempty"`
}

// Key is a client's key that works on the box too. Only hashes leave the hub.
type Key struct {
	ID         string `json:"id"`
	Label      string `json:"label"`
	Hint       string `json:"hint"`
	APIHash    []byte `json:"api_hash"`    // SHA-256
	SecretHash []byte `json:"secret_hash"` // SHA-256
	ExpiresMS  int64  `json:"expires_ms,omitempty"`
}

// Resource is one version of a config, prompt or tool, under the id and the number that it has on the hub. The box has
// this version of it and no other.
type Resource struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Version     int             `json:"version"`
	Description string          `json:"description,omitempty"`
	Content     json.RawMessage `json:"content"`
	Answers     json.RawMessage `json:"answers,omitempty"` // approved answers of a config
	CreatedMS   int64           `json:"created_ms"`        // Unix milliseconds
	ModifiedMS  int64           `json:"modified_ms"`
}

// Voice is a voice that an account of the hub has saved.
type Voice struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Recipe json.RawMessage `json:"recipe"`
}

// Plugin is a plugin whose file lies in the fleet's object store.
type Plugin struct {
	Name    string          `json:"name"`
	Version string          `json:"version"`
	SHA256  string          `json:"sha256"` // of the file, hexadecimal; also the object's name
	Bytes   int64           `json:"bytes"`
	Granted json.RawMessage `json:"granted"` // permissions
	// Settings are the values of its settings. Secrets are not sent: they are set on each box.
	Settings map[string]string `json:"settings,omitempty"`
}
