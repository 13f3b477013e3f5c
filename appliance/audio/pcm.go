package audio

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// NewLinear16 returns a Decoder of headerless 16-bit little-endian PCM with interleaved
// channels, which it mixes down. A call may end within a sample or frame; a stream that ends so
// is an error.
func NewLinear16(rateHz, channels, outHz int) (Decoder, error) {
	if rateHz < MinInputHz || rateHz > MaxInputHz {
		return nil, fmt.Errorf("sample_rate is %d Hz; allowed are %d to %d Hz", rateHz, MinInputHz, MaxInputHz)
	}
	if channels < 1 || channels > MaxChannels {
		return nil, fmt.Errorf("channels is %d; allowed are 1 to %d", channels, MaxChannels)
	}
	if err := checkOut(outHz); err != nil {
		return nil, err
	}
	return newDecoder(&linear16{rateHz: rateHz, frames: framer{layout: layout{sampleS16, channels}}}, outHz), nil
}

func checkOut(outHz int) error {
	if outHz < MinInputHz || outHz > MaxResampleHz {
		return fmt.Errorf("audio: output rate is %d Hz; allowed are %d to %d Hz", outHz, MinInputHz, MaxResampleHz)
	}
	return nil
}

type linear16 struct {
	rateHz int
	frames framer
}

func (l *linear16) feed(p []byte, to *sink) error {
	if err := to.rate(l.rateHz); err != nil {
		return err
	}
	return l.frames.feed(p, to)
}

func (l *linear16) free() {}

func (l *linear16) end(*sink) error {
	if n := len(l.frames.part); n > 0 {
		return fmt.Errorf("linear16: the stream ends in the middle of a sample: %d of the %d bytes of its last frame",
			n, l.frames.layout.frameLen())
	}
	return nil
}

// sampleFormat is the encoding of a sample in PCM.
type sampleFormat int

const (
	sampleU8 sampleFormat = iota
	sampleS16
	sampleS24
	sampleS32
	sampleF32
	sampleF64
	sampleALaw
	sampleMuLaw
)

func (f sampleFormat) bytes() int {
	return [...]int{1, 2, 3, 4, 4, 8, 1, 1}[f]
}

// at decodes the sample at the beginning of b.
func (f sampleFormat) at(b []byte) float32 {
	le := binary.LittleEndian
	switch f {
	case sampleU8:
		return (float32(b[0]) - 128) / 128
	case sampleS16:
		return float32(int16(le.Uint16(b))) / (1 << 15)
	case sampleS24:
		return float32(int32(b[0])<<8|int32(b[1])<<16|int32(b[2])<<24) / (1 << 31)
	case sampleS32:
		return float32(int32(le.Uint32(b))) / (1 << 31)
	case sampleF32:
		return bounded(math.Float32frombits(le.Uint32(b)))
	case sampleF64:
		return bounded(float32(math.Float64frombits(le.Uint64(b))))
	case sampleALaw:
		return alaw(b[0])
	default:
		return mulaw(b[0])
	}
}

// bounded limits floating-point input to [-1, 1] and replaces NaN by silence, since NaN would
// stay in every filter.
func bounded(v float32) float32 {
	if v != v {
		return 0
	}
	return min(max(v, -1), 1)
}

// layout is interleaved samples of one format.
type layout struct {
	format   sampleFormat
	channels int
}

func (l layout) frameLen() int { return l.format.bytes() * l.channels }

// framer decodes PCM bytes, in pieces of any size, to frames.
type framer struct {
	layout layout
	part   []byte // of an incomplete frame
	frames []float32
}

// pcmPiece is how many frames are mixed at a time: a buffer that fits the cache.
const pcmPiece = 4096

func (f *framer) feed(p []byte, to *sink) error {
	size := f.layout.frameLen()
	if len(f.part) > 0 {
		n := min(size-len(f.part), len(p))
		f.part, p = append(f.part, p[:n]...), p[n:]
		if len(f.part) < size {
			return nil
		}
		if err := f.mix(f.part, to); err != nil {
			return err
		}
		f.part = f.part[:0]
	}
	whole := len(p) / size * size
	f.part = append(f.part, p[whole:]...)
	for p = p[:whole]; len(p) > 0; {
		n := min(len(p), pcmPiece*size)
		if err := f.mix(p[:n], to); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// mix decodes complete frames.
func (f *framer) mix(p []byte, to *sink) error {
	width := f.layout.format.bytes()
	f.frames = f.frames[:0]
	for ; len(p) >= width; p = p[width:] {
		f.frames = append(f.frames, f.layout.format.at(p))
	}
	return to.writeFrames(f.frames, f.layout.channels)
}

// Samples returns the number of samples in a duration, rounded.
func Samples(d time.Duration, rateHz int) int {
	return int((d*time.Duration(rateHz) + time.Second/2) / time.Second)
}
