// Package webrtc carries live chats over WebRTC: the voices as Opus in RTP, all other
// messages of the contract as text on a data channel. A call begins with an offer over
// HTTP, by WHIP (RFC 9725).
package webrtc

import "time"

// Kind is the kind of this line.
const Kind = "webrtc"

// Timing holds the timeouts of a call. Zero values mean the defaults.
type Timing struct {
	// Gather is how long the box may take to list its own addresses, 2 s. It asks others
	// only if servers are configured, which answer within that time.
	Gather time.Duration
	// Connect is the time from the answer to the first connection, 30 s: the browser may
	// have to ask for the microphone.
	Connect time.Duration
	// Silent is the time without a packet after which a connection counts as broken, 5 s.
	// Lost is how long it may stay broken, another 15 s: what a phone needs to change
	// networks. So a lost client is detected within 20 s.
	Silent, Lost time.Duration
	// Write is how long messages may wait for a client that receives none, 10 s.
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
