// Package decode decodes the audio that clients send into samples for the ear. It is for
// lines whose clients choose the format: a container, which is detected, or headerless
// linear16.
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

// pieceBytes is how much is decoded before the length of the sound is checked: 22 s at the
// lowest rate of Opus. A message may have 16 MiB, which would be six hours.
const pieceBytes = 16 << 10

// maxSamples bounds the sound of one message (E0723).
const maxSamples = int(contract.MaxWholeRecording/time.Second) * engine.SpeechRateHz

// A Stream decodes the audio of one client, message by message. The zero value is ready for
// use. One goroutine uses it.
type Stream struct {
	// New creates the decoder for a format; nil means a container. If New is nil, the box's
	// decoders are used.
	New func(format *contract.AudioConfiguration) (audio.Decoder, error)

	format      *contract.AudioConfiguration // of decoder
	decoder     audio.Decoder                // nil before a stream
	half        []byte                       // first byte of an incomplete linear16 sample
	reported    bool                         // E0200 was reported, and no sound was decoded since
	unsupported bool                         // the reported stream has an unsupported format
}

// Decode returns the sound of a message in the current format (nil is a container), mono at
// engine.SpeechRateHz. The caller owns it. A change of format ends the stream. With a
// fault, E0200 or E0723, Decode returns the sound before it, and the next message may begin
// a new stream. An unreadable container is reported once, not for each of its messages.
func (s *Stream) Decode(format *contract.AudioConfiguration, message []byte) ([]float32, *contract.Fault) {
	if !sameFormat(s.format, format) {
		s.Close()
		*s = Stream{New: s.New, format: format}
	}
	if s.unsupported && !beginsStream(message) {
		return nil, nil
	}
	begins := s.decoder == nil
	pcm, err := s.decode(message)
	if len(pcm) > maxSamples || begins && format == nil && audio.CompleteRecording(message) {
		s.Close()
		return nil, &contract.Fault{Code: contract.WholeRecording}
	}
	if len(pcm) > 0 {
		s.reported, s.unsupported = false, false
	}
	if err == nil {
		return pcm, nil
	}
	s.Close()
	if format == nil && s.reported {
		return pcm, nil
	}
	other, known := errors.AsType[*audio.ErrFormat](err)
	s.reported, s.unsupported = true, known && other.Name != ""
	return pcm, &contract.Fault{Code: contract.BrokenAudio, Detail: err.Error()}
}

// beginsStream reports whether a message within a stream of an unsupported format begins a
// supported one. The sync words of MP3 and AAC do not count, because FLAC frames begin
// alike.
func beginsStream(message []byte) bool {
	switch audio.Sniff(message) {
	case "webm", "ogg", "mp4", "wav":
		return true
	}
	return bytes.HasPrefix(message, []byte("ID3"))
}

// Close ends the stream. The next message begins a new one.
func (s *Stream) Close() {
	if s.decoder != nil {
		s.decoder.Close()
		s.decoder = nil
	}
}

// decode decodes a message until it is complete or too long.
func (s *Stream) decode(message []byte) (pcm []float32, err error) {
	if s.decoder == nil {
		create := s.New
		if create == nil {
			create = newDecoder
		}
		if s.decoder, err = create(s.format); err != nil {
			return nil, err
		}
	}
	if s.format != nil {
		message = s.wholeSamples(message)
	}
	for len(message) > 0 && len(pcm) <= maxSamples {
		n := min(len(message), pieceBytes)
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

// wholeSamples returns the complete linear16 samples up to the end of message. Clients cut
// their streams anywhere, also within a sample, so a remaining byte belongs to the next
// message. If the next message is plausible only without that byte, its other half was
// lost, and the byte is dropped.
func (s *Stream) wholeSamples(message []byte) []byte {
	if len(s.half) > 0 && !(misaligned(slices.Concat(s.half, message), s.format.Channels) &&
		!misaligned(message, s.format.Channels)) {
		message = slices.Concat(s.half, message)
	}
	whole := len(message) &^ 1
	s.half = slices.Clone(message[whole:])
	return message[:whole]
}

// misaligned reports whether linear16 jumps between samples as it does with high and low
// bytes exchanged, when the nearly random low byte counts 256 times. A median jump of half
// the range is more than speech and music ever have. A few samples are not enough to tell.
func misaligned(pcm []byte, channels int) bool {
	const few, enough = 32, 512 // numbers of samples
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

func sameFormat(a, b *contract.AudioConfiguration) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SampleRate == b.SampleRate && a.Channels == b.Channels
}
