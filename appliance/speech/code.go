package speech

import (
	"parley/appliance/audio"
	"parley/appliance/contract"
)

// coder writes the sound of a generation as a client wants it.
type coder interface {
	// next returns what the next sound becomes; end says that it is the last of the
	// generation. It may be nothing yet.
	next(pcm []float32, end bool) ([]byte, error)
}

// newCoder returns one that makes a file of all chunks, joined, or of each.
func newCoder(format contract.AudioFormat, joined bool) (coder, error) {
	switch {
	case format == contract.FormatPCM:
		return pcmCoder{}, nil
	case format == contract.FormatWAV && joined:
		return &wavCoder{}, nil
	case format == contract.FormatWAV:
		return wavFiles{}, nil
	case joined:
		return newMP3Coder()
	}
	return newMP3Files()
}

type pcmCoder struct{}

func (pcmCoder) next(pcm []float32, _ bool) ([]byte, error) {
	return audio.AppendLinear16(nil, pcm), nil
}

type wavFiles struct{}

func (wavFiles) next(pcm []float32, _ bool) ([]byte, error) {
	if len(pcm) == 0 {
		return nil, nil
	}
	return audio.EncodeWAV(pcm, contract.OutputRateHz), nil
}

// wavCoder has a header of unknown length before the first chunk.
type wavCoder struct {
	begun bool
	bytes int // of samples
}

func (c *wavCoder) next(pcm []float32, end bool) ([]byte, error) {
	var b []byte
	if !c.begun {
		b, c.begun = audio.AppendOpenWAVHeader(nil, contract.OutputRateHz), true
	}
	b = audio.AppendLinear16(b, pcm)
	c.bytes += 2 * len(pcm)
	if end {
		b = audio.AppendOpenWAVEnd(b, contract.OutputRateHz, c.bytes)
	}
	return b, nil
}
