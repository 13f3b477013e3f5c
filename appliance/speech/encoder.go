package speech

import (
	"parley/appliance/audio"
	"parley/appliance/contract"
)

// encoder encodes the sound of a generation in the client's format.
type encoder interface {
	// encode returns the bytes of the next sound, possibly none yet; end marks the last sound
	// of the generation.
	encode(pcm []float32, end bool) ([]byte, error)
}

// newEncoder returns an encoder that makes one file of all chunks if joined, or else a file of
// each.
func newEncoder(format contract.AudioFormat, joined bool) (encoder, error) {
	switch {
	case format == contract.FormatPCM:
		return pcmEncoder{}, nil
	case format == contract.FormatWAV && joined:
		return &wavStreamEncoder{}, nil
	case format == contract.FormatWAV:
		return wavFileEncoder{}, nil
	case joined:
		return newMP3StreamEncoder()
	}
	return newMP3FileEncoder()
}

type pcmEncoder struct{}

func (pcmEncoder) encode(pcm []float32, _ bool) ([]byte, error) {
	return audio.AppendLinear16(nil, pcm), nil
}

type wavFileEncoder struct{}

func (wavFileEncoder) encode(pcm []float32, _ bool) ([]byte, error) {
	if len(pcm) == 0 {
		return nil, nil
	}
	return audio.EncodeWAV(pcm, contract.OutputRateHz), nil
}

// wavStreamEncoder writes a header of unknown length before the first chunk.
type wavStreamEncoder struct {
	begun bool
	bytes int // of samples
}

func (w *wavStreamEncoder) encode(pcm []float32, end bool) ([]byte, error) {
	var b []byte
	if !w.begun {
		b, w.begun = audio.AppendOpenWAVHeader(nil, contract.OutputRateHz), true
	}
	b = audio.AppendLinear16(b, pcm)
	w.bytes += 2 * len(pcm)
	if end {
		b = audio.AppendOpenWAVEnd(b, contract.OutputRateHz, w.bytes)
	}
	return b, nil
}
