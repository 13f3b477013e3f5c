package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
)

// decodeFLAC decodes a FLAC file, and calls emit with the samples. FLAC is not sent live, and
// its decoder reads from an io.Reader.
func decodeFLAC(in io.Reader, outHz int, emit func(pcm []float32) error) (err error) {
	defer func() {
		if r := recover(); r != nil { // the decoder may not check everything in a damaged file
			err = fmt.Errorf("flac: damaged: %v", r)
		}
	}()
	if err := checkOut(outHz); err != nil {
		return err
	}
	stream, err := flac.New(in)
	if err != nil {
		return fmt.Errorf("flac: damaged: %w", err)
	}
	to := newSink(outHz)
	if err := to.rate(int(stream.Info.SampleRate)); err != nil {
		return fmt.Errorf("flac: %w", err)
	}
	if n := int(stream.Info.NChannels); n > MaxChannels {
		return fmt.Errorf("flac: %d channels; allowed are 1 to %d", n, MaxChannels)
	}
	samples := 0
	for {
		f, err := stream.ParseNext()
		cut := errors.Is(err, io.ErrUnexpectedEOF) && samples > 0
		if errors.Is(err, io.EOF) || cut {
			break // a truncated recording gives what there is, as in other formats
		}
		if err != nil {
			return fmt.Errorf("flac: damaged after %.1f s: %w", float64(samples)/float64(outHz), err)
		}
		if err := to.writeFrames(interleaveFLAC(f, int(stream.Info.BitsPerSample)), len(f.Subframes)); err != nil {
			return err
		}
		pcm := to.take()
		samples += len(pcm)
		if err := emit(pcm); err != nil {
			return err
		}
	}
	to.flush()
	return emit(to.take())
}

// errFirstStream stops parsing after the first stream.
var errFirstStream = errors.New("the first stream is over")

// flacInOgg returns the FLAC file within an Ogg file: the first stream after the 9 bytes that
// identify the mapping (https://xiph.org/flac/ogg_mapping.html). It returns nil if the first
// stream is something else.
func flacInOgg(data []byte) ([]byte, error) {
	const magic, mapping = "\x7fFLAC", 9
	first, _, err := parseOggPage(data)
	if err != nil || len(first.body) < mapping || !bytes.HasPrefix(first.body, []byte(magic)) {
		return nil, nil // the Ogg parser reports what is wrong
	}
	file := make([]byte, 0, len(data))
	var pages oggPages
	err = pages.feed(data, func(p oggPage) error {
		if p.serial != first.serial {
			return nil
		}
		if file = append(file, p.body...); p.flags&oggLast != 0 {
			return errFirstStream
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFirstStream) {
		return nil, err
	}
	return file[mapping:], nil
}

// interleaveFLAC returns the samples of a frame with interleaved channels.
func interleaveFLAC(f *frame.Frame, bits int) []float32 {
	if f.BitsPerSample != 0 {
		bits = int(f.BitsPerSample)
	}
	scale := 1 / float32(int64(1)<<(bits-1))
	channels := len(f.Subframes)
	pcm := make([]float32, int(f.BlockSize)*channels)
	for c, channel := range f.Subframes {
		for i, v := range channel.Samples[:f.BlockSize] {
			pcm[i*channels+c] = scale * float32(v)
		}
	}
	return pcm
}
