package audio

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"
)

// flacBlock is how many samples a frame has: 85 ms at 24 kHz, so that a player begins early. A longer frame is hardly
// smaller for speech.
const flacBlock = 2048

// FLACWriter encodes sound as a FLAC stream of 16-bit mono samples while it comes. One goroutine uses it.
type FLACWriter struct {
	w       io.Writer
	made    bytes.Buffer
	enc     *flac.Encoder
	rateHz  int
	pending []float32 // of an incomplete frame
}

// NewFLACWriter writes the stream's header to w.
func NewFLACWriter(w io.Writer, rateHz int) (*FLACWriter, error) {
	f := &FLACWriter{w: w, rateHz: rateHz}
	enc, err := flac.NewEncoder(&f.made, &meta.StreamInfo{
		BlockSizeMin:  flacBlock,
		BlockSizeMax:  flacBlock,
		SampleRate:    uint32(rateHz),
		NChannels:     1,
		BitsPerSample: 16,
	})
	if err != nil {
		return nil, fmt.Errorf("flac: %w", err)
	}
	f.enc = enc
	return f, f.flush()
}

// Write adds samples in [-1, 1].
func (f *FLACWriter) Write(pcm []float32) error {
	f.pending = append(f.pending, pcm...)
	for len(f.pending) >= flacBlock {
		if err := f.frame(f.pending[:flacBlock]); err != nil {
			return err
		}
		f.pending = slices.Delete(f.pending, 0, flacBlock)
	}
	return f.flush()
}

// Close writes the last frame. It does not close w.
func (f *FLACWriter) Close() error {
	if len(f.pending) == 0 {
		return nil
	}
	err := f.frame(f.pending)
	f.pending = nil
	if err != nil {
		return err
	}
	return f.flush()
}

// frame encodes the samples of one frame.
func (f *FLACWriter) frame(pcm []float32) error {
	samples := make([]int32, len(pcm))
	for i, v := range pcm {
		samples[i] = int32(toInt16(v))
	}
	err := f.enc.WriteFrame(&frame.Frame{
		Header: frame.Header{
			HasFixedBlockSize: true,
			BlockSize:         uint16(len(samples)),
			SampleRate:        uint32(f.rateHz),
			Channels:          frame.ChannelsMono,
			BitsPerSample:     16,
		},
		Subframes: []*frame.Subframe{{
			SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, // the encoder replaces it with the best one
			Samples:   samples,
			NSamples:  len(samples),
		}},
	})
	if err != nil {
		return fmt.Errorf("flac: %w", err)
	}
	return nil
}

// flush writes what was made, in one Write.
func (f *FLACWriter) flush() error {
	if f.made.Len() == 0 {
		return nil
	}
	_, err := f.made.WriteTo(f.w)
	return err
}
