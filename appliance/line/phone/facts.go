package phone

import (
	"encoding/json"
	"maps"

	"parley/appliance/contract"
)

// facts are what becomes known of a call after it has begun. They are part of the metadata of its chat.
type facts struct {
	contract.CallInfo
	// Recording is what the person answered when asked for a recording: yes or no; announced where
	// the box only said so.
	Recording string `json:"recording,omitempty"`
	// HandedOverTo is the number to which the call was handed over.
	HandedOverTo string `json:"handed_over_to,omitempty"`
}

// metadata returns the metadata of the chat: those of its settings, and the facts.
func (c *Call) metadata() map[string]json.RawMessage {
	c.mu.Lock()
	f := c.facts
	c.mu.Unlock()
	f.CallInfo = c.call.CallInfo
	all := maps.Clone(c.assistant.Settings.SessionSettings.Metadata)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	text, err := json.Marshal(f)
	if err == nil { // strings only
		all["call"] = text
	}
	return all
}

// learn changes the facts, and tells the chat, if there is one.
func (c *Call) learn(change func(f *facts)) {
	c.mu.Lock()
	change(&c.facts)
	s := c.session
	c.mu.Unlock()
	if s != nil {
		_ = s.Receive(contract.SessionSettings{Metadata: c.metadata()}) // on an error the session is over
	}
}
