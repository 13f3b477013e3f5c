// Package connection has the types that chats, the lines that carry them, and the API
// share.
package connection

import (
	"context"
	"time"

	"parley/appliance/contract"
)

// A Line carries one conversation to a person and back. It calls the methods of the
// chat's session; the session calls those of the line. The format that the sound has
// on its way is the line's business, in both directions.
type Line interface {
	// Send gives the client a message. Send and Play are called by one goroutine, in
	// the order in which things happened, and block no longer than the line's own
	// limit. An error means that the line is closed or too slow.
	Send(ctx context.Context, m contract.ServerMessage) error
	// Play gives the client a piece of sound, to be played after the previous one.
	// The message of its id was sent before.
	Play(ctx context.Context, s contract.Sound) error
	// HeldBack is the number of samples, the newest that Play was given, that wait for
	// more and have not left. The goroutine that calls Play calls it.
	HeldBack() int
	// Unsent is the length of the sound that Play was given and that has not been
	// handed to the network: none of it has been played. Any goroutine may call it. A
	// line that reports what was played may return 0.
	Unsent() time.Duration
	// Cut drops the sound that Play was given, or is being given, as far as it has not
	// left. It returns at once, and any goroutine may call it.
	Cut()
	// Close ends the line. It is called once, after the last Send, with a WebSocket
	// close code, which other lines map to their own.
	Close(code int, reason string)
}

// Opening is what a line knows of a chat before the chat begins.
type Opening struct {
	Account   string
	RequestID string // of the client's request; if it is empty, the chat makes one
	Client    string // network address without a port; empty if there is none
	Kind      string // of the line: "websocket", "webrtc"
	Settings  contract.ConnectSettings
	Line      Line
	// Unbuffered marks the one line of the box itself: its sound is heard as it comes,
	// while small pieces from remote lines gather in network buffers during silence.
	Unbuffered bool
	// RealTime means that sound arrives as it is spoken, and never faster.
	RealTime bool
	// Call describes the telephone call; nil if the chat is none.
	Call *contract.Call
	// Tools runs the built-in tools that only this line has; nil if it has none.
	Tools Tools
	// Silent means that the assistant does not speak first, whatever the config says.
	Silent bool
	// Unrecorded means that the sound of the chat is not recorded.
	Unrecorded bool
}

// Tools runs the built-in tools of a line.
type Tools interface {
	// RunTool runs a tool until ctx ends. The error says, for people, why the tool failed.
	RunTool(ctx context.Context, r ToolRun) (ToolResult, error)
}

// ToolRun is a call of a tool of a line.
type ToolRun struct {
	Name         contract.BuiltInTool
	Arguments    string // a JSON object
	Destinations []contract.TransferDestination
}

// ToolResult is the result of a tool of a line.
type ToolResult struct {
	Content string // what the model reads
	// Over means that the user is connected elsewhere: the chat ends without another word.
	Over bool
}

// Copy is what a listener to a chat gets: a message to the client, a piece of
// sound, or the notice that the sound before it is no longer to be played.
type Copy struct {
	Message contract.ServerMessage
	Sound   *contract.Sound // shared: its samples must not be changed
	Cut     bool
}
