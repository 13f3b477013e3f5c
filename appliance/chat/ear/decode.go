package ear

import (
	"context"
	"fmt"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// decodeAtOnce is how many bytes are decoded before it is looked at how much
// sound they hold: at the lowest rate of Opus 22 s. A message may bring 16 MiB,
// which would be six hours.
const decodeAtOnce = 16 << 10

// longestPiece is how many samples one message may bring (E0723).
const longestPiece = int(contract.MaxWholeRecording/time.Second) * engine.SpeechRateHz

// NewDecoder makes a decoder for what is sent in a format; nil is a container
// that says itself what it is.
type NewDecoder func(format *contract.AudioConfiguration) (audio.Decoder, error)

// hear takes what the line brought. Bytes that cannot be decoded are told to
// the client; the next chunk may be the beginning of a new stream.
func (e *Ear) hear(ctx context.Context, chunk []byte) {
	begins := e.decoder == nil
	pcm, err := e.decode(chunk)
	if len(pcm) > longestPiece || begins && e.format == nil && audio.Whole(chunk) {
		e.decoder = nil
		e.fault(contract.Fault{Code: contract.WholeRecording})
		return
	}
	if len(pcm) > 0 && !e.opened {
		e.opened = true
		e.Post(turn.MicrophoneOpened{At: turn.At(e.Clock())})
	}
	e.keepTime(pcm)
	e.frames(ctx, pcm)
	if err != nil {
		e.decoder = nil
		e.fault(contract.Fault{Code: contract.BrokenAudio, Detail: err.Error()})
	}
}

func (e *Ear) fault(f contract.Fault) { e.Post(turn.Faulty{At: turn.At(e.Clock()), Fault: f}) }

// decode returns the sound in a chunk, as much of it as shows that it is too
// much.
func (e *Ear) decode(chunk []byte) (pcm []float32, err error) {
	if e.decoder == nil {
		d, err := e.Decoder(e.format)
		if err != nil {
			return nil, err
		}
		e.decoder = d
	}
	if e.format != nil && len(chunk)%2 != 0 {
		return nil, fmt.Errorf("%d bytes are an odd number; linear16 has two for each sample, and none of these were taken", len(chunk))
	}
	for len(chunk) > 0 && len(pcm) <= longestPiece {
		n := min(len(chunk), decodeAtOnce)
		piece, err := e.decoder.Decode(chunk[:n])
		if pcm == nil {
			pcm = piece
		} else {
			pcm = append(pcm, piece...)
		}
		if err != nil {
			return pcm, err
		}
		chunk = chunk[n:]
	}
	return pcm, nil
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
