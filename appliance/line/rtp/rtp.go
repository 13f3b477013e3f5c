// Package rtp holds what calls over WebRTC and calls by telephone share: it sends a voice as
// RTP packets in real time, at ticks that all calls have in common, and makes continuous sound
// of the packets that come in. A codec is an Encoder, a Decoder and a Format.
package rtp

import (
	"math/rand/v2"
	"time"

	"parley/appliance/engine"
)

// An Encoder encodes the frames of a voice. One goroutine uses it.
type Encoder interface {
	// Encode returns the payload of one frame of mono sound at contract.OutputRateHz, valid
	// until the next call. It is empty for silence that need not be sent.
	Encode(frame []float32) ([]byte, error)
}

// A Decoder decodes the packets of a voice to mono sound at engine.SpeechRateHz, valid until
// the next call. One goroutine uses it.
type Decoder interface {
	// Length returns the duration of a packet.
	Length(payload []byte) (time.Duration, error)
	// Decode returns the sound of a packet.
	Decode(payload []byte) ([]float32, error)
	// Recover returns sound of a length in place of a lost packet. The next packet may be
	// nil; it must be decoded afterwards.
	Recover(length time.Duration, next []byte) ([]float32, error)
}

// Format is what a stream of packets needs to know of its codec.
type Format struct {
	ClockHz int           // rate of the timestamps; G.722 counts half its samples (RFC 3551, section 4.5.2)
	Frame   time.Duration // duration of a packet: of every one that is sent, and usually of those that come
}

// Ticks converts a duration to timestamp units.
func (f Format) Ticks(d time.Duration) uint32 {
	return uint32(d * time.Duration(f.ClockHz) / time.Second)
}

// samples converts timestamp units to samples at engine.SpeechRateHz.
func (f Format) samples(ticks uint32) int {
	return int(uint64(ticks) * engine.SpeechRateHz / uint64(f.ClockHz))
}

// duration converts timestamp units to a duration.
func (f Format) duration(ticks uint32) time.Duration {
	return time.Duration(ticks) * time.Second / time.Duration(f.ClockHz)
}

// Seed returns the random start of a stream's sequence numbers and timestamps (RFC 3550,
// section 5.1).
func Seed() (sequence uint16, clock uint32) {
	return uint16(rand.Uint32()), rand.Uint32()
}
