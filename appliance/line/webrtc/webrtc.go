// Package webrtc carries live chats over WebRTC: the voices as Opus in RTP, every
// other message of the contract as text in a data channel. A call begins with an
// offer over HTTP, as WHIP has it (RFC 9725).
package webrtc

import "time"

// Kind is what a conversation over WebRTC is called.
const Kind = "webrtc"

// Timing holds the patience of a call. The zero value of each means its default.
type Timing struct {
	// Gather is how long the box may take to list its own addresses, 2 s: it
	// asks nobody else for them, unless servers are configured, which answer
	// within that.
	Gather time.Duration
	// Connect is how long a client may take from the answer to the first
	// connection, 30 s: a person may be asked for the microphone meanwhile.
	Connect time.Duration
	// Silent is after how long without a sign of life a connection counts as
	// broken, 5 s, and Lost how long it may stay so, 15 s more: what a phone needs
	// from one network to the next. So a client that is gone is found within 20 s.
	Silent, Lost time.Duration
	// Write is how long messages may wait for a client that takes none, 10 s.
	Write time.Duration
}

func (t Timing) orDefault() Timing {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&t.Gather, 2*time.Second)
	set(&t.Connect, 30*time.Second)
	set(&t.Silent, 5*time.Second)
	set(&t.Lost, 15*time.Second)
	set(&t.Write, 10*time.Second)
	return t
}
