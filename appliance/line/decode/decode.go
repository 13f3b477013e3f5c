// Package decode makes samples for the ear of the bytes that clients send as
// audio. It is for lines whose clients choose the format: a container that says
// itself what it is, or headerless linear16.
package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// blockingSize is how many bytes are decoded before it is looked at how much sound
// they hold: at the lowest rate of Opus 22 s. A message may bring 16 MiB, which
// would be six hours.
const blockingSize = 16 << 10

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
	half    []byte                       // of linear16: the byte of a sample whose other one is still to come, or none
	told    bool                         // E0200 was told, and nothing was heard since
	foreign bool                         // because it is of a format that is not taken
}

// Take returns the sound of a message in the format that is in force (nil is a
// container), mono at engine.SpeechRateHz, which the caller owns. What came in
// another format before is over. Beside a fault, E0200 or E0723, it returns the
// sound before it; the next message may be the beginning of a new stream. A
// container that cannot be read is told of once, not with each of its messages.
func (s *Stream) Take(format *contract.AudioConfiguration, message []byte) ([]float32, *contract.Fault) {
	if !unconverted(s.format, format) {
		s.Close()
		*s = Stream{New: s.New, format: format}
	}
	if s.foreign && !beginsStream(message) {
		return nil, nil
	}
	begins := s.decoder == nil
	pcm, err := s.decode(message)
	if len(pcm) > longest || begins && format == nil && audio.Whole(message) {
		s.Close()
		return nil, &contract.Fault{Code: contract.WholeRecording}
	}
	if len(pcm) > 0 {
		s.told, s.foreign = false, false
	}
	if err == nil {
		return pcm, nil
	}
	s.Close()
	if format == nil && s.told {
		return pcm, nil
	}
	other, known := errors.AsType[*audio.ErrFormat](err)
	s.told, s.foreign = true, known && other.Name != ""
	return pcm, &contract.Fault{Code: contract.BrokenAudio, Detail: err.Error()}
}

// beginsStream reports whether a message that comes amid a stream of a format that
// is not taken begins one that is. The sync words of MP3 and AAC are no beginning:
// a frame of FLAC has the same.
func beginsStream(message []byte) bool {
	switch audio.Sniff(message) {
	case "webm", "ogg", "mp4", "wav":
		return true
	}
	return bytes.HasPrefix(message, []byte("ID3"))
}

// Close ends the stream. The next message begins anew.
func (s *Stream) Close() {
	if s.decoder != nil {
		s.decoder.Close()
		s.decoder = nil
	}
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
	if s.format != nil {
		message = s.wholeSamples(message)
	}
	for len(message) > 0 && len(pcm) <= longest {
		n := min(len(message), blockingSize)
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

// wholeSamples returns the linear16 that is whole with message: clients cut their
// stream anywhere, in the middle of a sample too, so a byte that is left over
// belongs to the next message. Where the next one is no sound with it and is
// without, its other half never comes, and it is left out.
func (s *Stream) wholeSamples(message []byte) []byte {
	if len(s.half) > 0 && !(downsampled(slices.Concat(s.half, message), s.format.Channels) &&
		!downsampled(message, s.format.Channels)) {
		message = slices.Concat(s.half, message)
	}
	whole := len(message) &^ 1
	s.half = slices.Clone(message[whole:])
	return message[:whole]
}

// downsampled reports whether linear16 jumps from sample to sample as it does where low
// and high bytes are taken for each other, so that the low one, which is as good
// as random, counts 256 times: half of the range at the median is more than speech
// and music ever have. Less than a few samples say nothing.
func downsampled(pcm []byte, channels int) bool {
	const few, enough = 32, 512 // samples
	var jumps []int
	for at := 0; at+2*channels+2 <= len(pcm) && len(jumps) < enough; at += 2 {
		le := binary.LittleEndian
		jump := int(int16(le.Uint16(pcm[at+2*channels:]))) - int(int16(le.Uint16(pcm[at:])))
		jumps = append(jumps, max(jump, -jump))
	}
	slices.Sort(jumps)
	return len(jumps) >= few && jumps[len(jumps)/2] > 1<<13
}

func newDecoder(format *contract.AudioConfiguration) (audio.Decoder, error) {
	if format == nil {
		return audio.NewContainer(engine.SpeechRateHz), nil
	}
	return audio.NewLinear16(format.SampleRate, format.Channels, engine.SpeechRateHz)
}

func unconverted(a, b *contract.AudioConfiguration) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SampleRate == b.SampleRate && a.Channels == b.Channels
}
