package engine

import "time"

// The states of a server that runs engines.
const (
	Up   = "up"
	Busy = "busy" // it said that it is overloaded, and is left alone for a moment
	Down = "down" // it failed, and is checked until it answers
)

// ServerStates returns the states.
func ServerStates() []string { return []string{Up, Busy, Down} }

// ServerState is how a server that runs engines is.
type ServerState struct {
	Serves string // "language model", "transcriber" or "voice"
	Server string // scheme and host
	Model  string // its name there
	State  string // Up, Busy or Down
	Why    string // it is not Up
	Calls  int    // in flight
	// Answers and Failures count calls since the start of the box. A call that fails after its first
	// output is both.
	Answers, Failures uint64
	Latency           time.Duration // recent average until the first output; 0 if unknown
}
