package describe

import (
	"fmt"

	"parley/appliance/contract"
)

// Access says who may take a path.
type Access int

// Who may take a path.
const (
	Anyone   Access = iota + 1
	Link            // who has a link that the box has signed
	Secret          // who has an API key together with its secret
	Token           // who has an API key or an access token, which every visitor's browser may have
	Key             // who has an API key
	Operator        // who has an API key of an operator
)

// String says it to people.
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
	case Operator:
		return "With an API key of an operator."
	}
	return "Nobody has said who."
}

// Operation is what a row of the routes says of itself.
type Operation struct {
	ID          string // the name that clients made from the description give it
	Section     string // under which it is found
	Summary     string // a line
	Description string // what else is to be known; may be empty
	Query       []Parameter
	Body        string          // of contract.Bodies; empty for none
	OneOf       []contract.Body // messages, one of which is the body instead
	Form        any             // what is sent as a form or as JSON instead
	// the media type of a body that is a file, instead; with a Body, the part of a form that is a file beside its
	// fields
	Upload      string
	OtherUpload string // another media type that such a file may have
	Example     string // a body that works
	Answers     []Answer
	Errors      []int // statuses of errors, besides those that follow from the rest
	Socket      *Socket
	// Call is a path that clients of live chats use as they use a socket's: the
	// key may be in the query.
	Call bool
	// Kiosk is a path that the key of a screen opens.
	Kiosk bool
}

// Parameter is one of the query.
type Parameter struct {
	Name        string
	Description string
	Schema      *Schema
	Required    bool
}

// Answer is one that an operation gives when all is well.
type Answer struct {
	Status      int
	Description string
	Media       string   // application/json where it is empty
	Also        []string // what else it may be, by what was asked for
	Value       any      // what is written, empty; nil for what is not JSON
}

// reads says whether the operation reads a JSON body of a type.
func (o Operation) reads() bool { return o.Body != "" || o.OneOf != nil }

// Socket is a path that becomes a WebSocket.
type Socket struct {
	Receives []contract.Body
	Sends    []Message
}

// Message is what the box sends over a socket, empty.
type Message interface{ MessageType() string }

// Messages are all of them.
func Messages[M Message](all []M) []Message {
	sends := make([]Message, len(all))
	for i, m := range all {
		sends[i] = m
	}
	return sends
}

// Route is a path with what it says of itself.
type Route struct {
	Method, Path string
	Access       Access
	MaxBody      int64 // bytes
	Operation
}

// Info is what the whole says of itself.
type Info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
	License     struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	} `json:"license"`
}

// Box is what is described.
type Box struct {
	Info    Info
	Routes  []Route
	Problem any // the body of every error but 422, empty
	Invalid any // the body of 422, empty
}

// QueryFromShape are the parameters of a query that a reader reads, nested ones as
// name[inner]; said has what is to be known of them.
func QueryFromShape(shape *contract.Shape, said map[string]string) []Parameter {
	return queryFromShape("%s", shape, said)
}

func queryFromShape(form string, shape *contract.Shape, said map[string]string) []Parameter {
	var all []Parameter
	for _, name := range shape.FieldNames() {
		f := shape.Fields[name]
		full := fmt.Sprintf(form, name)
		if len(f.Fields) > 0 {
			all = append(all, queryFromShape(full+"[%s]", f, said)...)
			continue
		}
		p := Parameter{Name: full, Description: said[full]}
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
