package describe

import (
	"maps"
	"slices"

	"parley/appliance/contract"
)

// AsyncAPI is a description of the sockets
// (https://www.asyncapi.com/docs/reference/specification/v3.0.0).
type AsyncAPI struct {
	AsyncAPI           string                 `json:"asyncapi"`
	ID                 string                 `json:"id"`
	DefaultContentType string                 `json:"defaultContentType"`
	Info               Info                   `json:"info"`
	Channels           Ordered[Channel]       `json:"channels"`
	Operations         Ordered[ChannelAction] `json:"operations"`
	Components         AsyncComponents        `json:"components"`
}

// Channel is a socket and its messages in both directions.
type Channel struct {
	Address     string                   `json:"address"`
	Title       string                   `json:"title"`
	Description string                   `json:"description,omitempty"`
	Messages    map[string]reference     `json:"messages"`
	Parameters  map[string]ChannelPart   `json:"parameters,omitempty"`
	Bindings    map[string]SocketBinding `json:"bindings"`
}

// ChannelPart is a parameter of a channel's path.
type ChannelPart struct {
	Description string `json:"description,omitempty"`
}

// SocketBinding is how a socket is opened.
type SocketBinding struct {
	Method         string  `json:"method"`
	Query          *Schema `json:"query"`
	BindingVersion string  `json:"bindingVersion"`
}

// ChannelAction is what the box does on a channel: it sends or receives.
type ChannelAction struct {
	Action   string      `json:"action"`
	Channel  reference   `json:"channel"`
	Summary  string      `json:"summary"`
	Messages []reference `json:"messages"`
}

// AsyncComponents has the messages and schemas that the channels refer to.
type AsyncComponents struct {
	Messages Ordered[SocketMessage] `json:"messages"`
	Schemas  Ordered[*Schema]       `json:"schemas"`
}

// SocketMessage is a kind of message.
type SocketMessage struct {
	Name    string  `json:"name"`
	Summary string  `json:"summary,omitempty"`
	Payload *Schema `json:"payload"`
}

type reference struct {
	Ref string `json:"$ref"`
}

// AsyncAPI describes the sockets, with the comments of the source.
func (b Box) AsyncAPI(w Comments) (*AsyncAPI, error) {
	s := newSchemas(w)
	doc := &AsyncAPI{
		AsyncAPI:           "3.0.0",
		ID:                 "urn:parley",
		DefaultContentType: "application/json",
		Info:               b.Info,
	}
	messages := map[string]SocketMessage{}
	for _, r := range b.Routes {
		if r.Socket != nil && len(r.Socket.Receives) > 0 { // the others speak a protocol that is not the box's
			doc.add(s, r, messages)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		doc.Components.Messages = append(doc.Components.Messages, Member[SocketMessage]{name, messages[name]})
	}
	doc.Components.Schemas = s.components()
	return doc, s.err()
}

func (doc *AsyncAPI) add(s *schemas, r Route, messages map[string]SocketMessage) {
	c := Channel{
		Address:     r.Path,
		Title:       r.Summary,
		Description: r.Description,
		Messages:    map[string]reference{},
		Bindings:    map[string]SocketBinding{"ws": {"GET", query(r.Query), "0.1.0"}},
	}
	for _, p := range pathParameters(r.Path) {
		if c.Parameters == nil {
			c.Parameters = map[string]ChannelPart{}
		}
		c.Parameters[p.Name] = ChannelPart{p.Description}
	}
	here := "#/channels/" + r.ID
	carry := func(name string, payload *Schema) reference {
		made := s.named[payload.Ref[len(s.folder):]]
		messages[name] = SocketMessage{name, made.Description, payload}
		c.Messages[name] = reference{"#/components/messages/" + name}
		return reference{here + "/messages/" + name}
	}
	receives := ChannelAction{Action: "receive", Channel: reference{here}, Summary: "Messages from the client"}
	for _, m := range r.Socket.Receives {
		receives.Messages = append(receives.Messages, carry("posted_"+m.Name, s.body(posted(m))))
	}
	sends := ChannelAction{Action: "send", Channel: reference{here}, Summary: "Messages from the box"}
	for _, m := range r.Socket.Sends {
		value := any(m)
		if u, ok := m.(Untyped); ok {
			value = u.Value
		}
		sends.Messages = append(sends.Messages, carry(m.MessageType(), s.of(value)))
	}
	doc.Channels = append(doc.Channels, Member[Channel]{r.ID, c})
	doc.Operations = append(doc.Operations,
		Member[ChannelAction]{r.ID + "Receive", receives}, Member[ChannelAction]{r.ID + "Send", sends})
}

// posted renames a message that clients send, so that its schema differs from
// that of the message that the box sends.
func posted(m contract.Body) contract.Body {
	m.Name = "Posted" + nameOf(m.Value)
	return m
}

func query(parameters []Parameter) *Schema {
	q := &Schema{Type: "object"}
	for _, p := range parameters {
		one := *p.Schema
		one.Description = p.Description
		q.Properties = append(q.Properties, Member[*Schema]{p.Name, &one})
		if p.Required {
			q.Required = append(q.Required, p.Name)
		}
	}
	return q
}
