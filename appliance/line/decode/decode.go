// Package decode makes samples for the ear of the bytes that clients send as
// audio. It is for lines whose clients choose the format: a container that says
// itself what it is, or headerless linear16.
package decode

import (
	"fmt"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// atOnce is how many bytes are decoded before it is looked at how much sound
// they hold: at the lowest rate of Opus 22 s. A message may bring 16 MiB, which
// would be six hours.
const atOnce = 16 << 10

// longest is how many samples one message may bring (E0723).
const longest = int(contract.MaxWholeRecording/time.Second) * engine.SpeechRateHz

// A Stream is the audio of one client, message by message. The zero Stream is at
// its beginning. One goroutine uses it.
type Stream struct {
	// New makes the decoder of a format, nil being a container; without it there
	// are the box's own.
	New func(format *contract.AudioConfiguration) (audio.Decoder, error)

	format  *contract.AudioConfiguration // that decoder is for
	decoder audio.Decoder                // nil: the next message begins anew
}

// Take returns the sound of a message in the format that is in force (nil is a
// container), mono at engine.SpeechRateHz, which the caller owns. What came in
// another format before is over. Beside a fault, E0200 or E0723, it returns the
// sound before it; the next message may be the beginning of a new stream.
func (s *Stream) Take(format *contract.AudioConfiguration, message []byte) ([]float32, *contract.Fault) {
	if !same(s.format, format) {
		s.format, s.decoder = format, nil
	}
	begins := s.decoder == nil
	pcm, err := s.decode(message)
	if len(pcm) > longest || begins && format == nil && audio.Whole(message) {
		s.decoder = nil
		return nil, &contract.Fault{Code: contract.WholeRecording}
	}
	if err != nil {
		s.decoder = nil
		return pcm, &contract.Fault{Code: contract.BrokenAudio, Detail: err.Error()}
	}
	return pcm, nil
}

// decode returns the sound in a message, as much of it as shows that it is too
// much.
func (s *Stream) decode(message []byte) (pcm []float32, err error) {
	if s.decoder == nil {
		make := s.New
		if make == nil {
			make = newDecoder
		}
		if s.decoder, err = make(s.format); err != nil {
			return nil, err
		}
	}
	if s.format != nil && len(message)%2 != 0 {
		return nil, fmt.Errorf("%d bytes are an odd number; linear16 has two for each sample, and none of these were taken", len(message))
	}
	for len(message) > 0 && len(pcm) <= longest {
		n := min(len(message), atOnce)
		piece, err := s.decoder.Decode(message[:n])
		if pcm == nil {
			pcm = piece
		} else {
			pcm = append(pcm, piece...)
		}
		if err != nil {
			return pcm, err
		}
		message = message[n:]
	}
	return pcm, nil
}

func newDecoder(format *contract.AudioConfiguration) (audio.Decoder, error) {
	if format == nil {
		return audio.NewContainer(engine.SpeechRateHz), nil
	}
	return audio.NewLinear16(format.SampleRate, format.Channels, engine.SpeechRateHz)
}

func same(a, b *contract.AudioConfiguration) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SampleRate == b.SampleRate && a.Channels == b.Channels
}
