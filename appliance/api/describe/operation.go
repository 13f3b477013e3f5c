package describe

import (
	"fmt"

	"parley/appliance/contract"
)

// Access is who may use a route.
type Access int

// Who may take a path.
const (
	Anyone   Access = iota + 1
	Link            // a client with a link that the box has signed
	Secret          // a client with an API key and its secret key
	Token           // a client with an API key or an access token; a token may be in a visitor's browser
	Key             // a client with an API key
	Bearer          // a client with an API key, which it may send as Authorization: Bearer
	Operator        // a client with an operator's API key
)

// String describes the access in a sentence.
func (a Access) String() string {
	switch a {
	case Anyone:
		return "Open to anybody."
	case Link:
		return "With a link that the box has signed."
	case Secret:
		return "With the API key and its secret key, as Authorization: Basic."
	case Token:
		return "With an API key or an access token."
	case Key:
		return "With an API key."
	case Bearer:
		return "With an API key, also as Authorization: Bearer."
	case Operator:
		return "With an API key of an operator."
	}
	return "Nobody has said who."
}

// Operation is the description of a route.
type Operation struct {
	ID          string // the name of the operation in generated clients
	Section     string // the heading
	Summary     string // one line
	Description string // may be empty
	Query       []Parameter
	Body        string          // the name of a JSON body in contract.Bodies; empty for none
	OneOf       []contract.Body // instead of Body: messages, of which the body is one
	Form        any             // instead of Body: a form, or the same as JSON
	// Upload is the media type of a body that is a file. With a Body, it is the
	// name of the form part that is a file.
	Upload      string
	OtherUpload string // another media type of the file
	// Files is the name of the form parts that are files, where the body may also be
	// a form: then the JSON is its part json.
	Files   string
	Example string // a body that works
	Answers []Answer
	Errors  []int // error statuses, in addition to those that follow from the other fields
	Socket  *Socket
	// Call is true for calls over WebRTC and by telephone, which clients open like
	// sockets: the key may be in the query.
	Call bool
	// Kiosk is true if the key of a screen opens the route.
	Kiosk bool
}

// Parameter is a parameter of the query.
type Parameter struct {
	Name        string
	Description string
	Schema      *Schema
	Required    bool
}

// Answer is an answer to a successful request.
type Answer struct {
	Status      int
	Description string
	Media       string   // default: application/json
	Also        []string // other media types, by request
	Value       any      // the zero value of the body's type; nil if the body is not JSON
}

// reads reports whether the operation has a JSON body.
func (o Operation) reads() bool { return o.Body != "" || o.OneOf != nil }

// Socket has the messages of a WebSocket.
type Socket struct {
	Receives []contract.Body
	Sends    []Message
}

// Message is a message that the box sends over a socket.
type Message interface{ MessageType() string }

// Messages converts a list of messages.
func Messages[M Message](all []M) []Message {
	sends := make([]Message, len(all))
	for i, m := range all {
		sends[i] = m
	}
	return sends
}

// Untyped is a message without the field type.
type Untyped struct {
	Name  string
	Value any
}

// MessageType names the message.
func (m Untyped) MessageType() string { return m.Name }

// Route is a path with its description.
type Route struct {
	Method, Path string
	Access       Access
	MaxBody      int64 // bytes
	Operation
}

// Info is the title and description of the whole API.
type Info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
	License     struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	} `json:"license"`
}

// Box is the API to describe.
type Box struct {
	Info    Info
	Routes  []Route
	Problem any // the zero value of the body of every error but 422
	Invalid any // the zero value of the body of 422
	OpenAI  any // the zero value of the body of every error of OpenAI's API, whose access is Bearer
}

// QueryFromShape returns the parameters of a query from its shape, nested ones as
// name[inner], with their descriptions by full name.
func QueryFromShape(shape *contract.Shape, descriptions map[string]string) []Parameter {
	return queryFromShape("%s", shape, descriptions)
}

func queryFromShape(form string, shape *contract.Shape, descriptions map[string]string) []Parameter {
	var all []Parameter
	for _, name := range shape.FieldNames() {
		f := shape.Fields[name]
		full := fmt.Sprintf(form, name)
		if len(f.Fields) > 0 {
			all = append(all, queryFromShape(full+"[%s]", f, descriptions)...)
			continue
		}
		p := Parameter{Name: full, Description: descriptions[full]}
		switch f.Kind {
		case "string":
			p.Schema = &Schema{Type: "string", Enum: f.Words, MaxLength: intPointer(f.High)}
		case "object":
			p.Name += "[…]"
			p.Schema = String()
		default:
			p.Schema = &Schema{Type: f.Kind, Minimum: f.Low, Maximum: f.High}
		}
		all = append(all, p)
	}
	return all
}
