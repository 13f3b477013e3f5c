package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// wavHeaderLen is the length of RIFF, a 16-byte fmt chunk and the header of the data chunk.
const wavHeaderLen = 44

// wavUnknown is the size in a WAV header while the length is unknown, as for pipes.
const wavUnknown = math.MaxUint32

// wavOpen is the size in the header of a WAV that is streamed to a player: the largest for
// readers that use 31 bits, a whole number of samples, and not the value that some take for a
// broken file.
const wavOpen = math.MaxInt32 &^ 0xfff

// AppendOpenWAVHeader appends to b the header of a WAV file of 16-bit mono samples of unknown
// length.
func AppendOpenWAVHeader(b []byte, rateHz int) []byte {
	return appendWAVHeader(b, rateHz, 1, wavOpen)
}

// wavBlock returns how many bytes of a WAV of one or two channels FFmpeg reads at once. It
// reports a file of unknown length as broken if it does not end at the end of a block. FFmpeg 5
// reads 4096 bytes, FFmpeg 7 as many samples as the largest power of two within a tenth of a
// second.
func wavBlock(rateHz, channels int) int {
	return max(4096, 2*channels<<(bits.Len(uint(max(1, rateHz/10)))-1))
}

// AppendOpenWAVEnd appends to b the silence, at most 85 ms at 48 kHz, that ends such a file
// after so many bytes of samples.
func AppendOpenWAVEnd(b []byte, rateHz, written int) []byte {
	return appendWAVEnd(b, rateHz, 1, uint64(written))
}

func appendWAVEnd(b []byte, rateHz, channels int, written uint64) []byte {
	block := uint64(wavBlock(rateHz, channels))
	return append(b, make([]byte, (block-written%block)%block)...)
}

// EncodeWAV returns pcm as a WAV file: 16-bit mono at rateHz. Samples are rounded, and clipped
// to [-1, 1].
func EncodeWAV(pcm []float32, rateHz int) []byte {
	b := make([]byte, 0, wavHeaderLen+2*len(pcm))
	b = appendWAVHeader(b, rateHz, 1, uint64(2*len(pcm)))
	return AppendLinear16(b, pcm)
}

// AppendLinear16 appends pcm to b as 16-bit little-endian samples, rounded and
// clipped.
func AppendLinear16(b []byte, pcm []float32) []byte {
	for _, v := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(toInt16(v)))
	}
	return b
}

// Linear16 decodes the output of AppendLinear16; half a sample at the end is ignored.
func Linear16(b []byte) []float32 {
	pcm := make([]float32, len(b)/2)
	for i := range pcm {
		pcm[i] = sampleS16.at(b[2*i:])
	}
	return pcm
}

// toInt16 uses the scale of decoding, 1/32768, so that 16-bit audio passes through the box
// unchanged. NaN is silence.
func toInt16(v float32) int16 {
	s := math.Round(float64(v) * 32768)
	switch {
	case s >= math.MaxInt16:
		return math.MaxInt16
	case s <= math.MinInt16:
		return math.MinInt16
	case math.IsNaN(s):
		return 0
	}
	return int16(s)
}

func appendWAVHeader(b []byte, rateHz, channels int, dataLen uint64) []byte {
	le := binary.LittleEndian
	data, riff := uint32(wavUnknown), uint32(wavUnknown)
	if dataLen <= wavUnknown-wavHeaderLen {
		data, riff = uint32(dataLen), uint32(dataLen)+wavHeaderLen-8
	}
	b = append(b, "RIFF"...)
	b = le.AppendUint32(b, riff)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, wavPCM)
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rateHz))
	b = le.AppendUint32(b, uint32(rateHz*channels*2))
	b = le.AppendUint16(b, uint16(channels*2))
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	return le.AppendUint32(b, data)
}

// WAVWriter writes a 16-bit WAV file as the audio comes. Until Close the header gives an
// unknown length, so that a file is playable after a crash. A pipe gets the header of a
// streamed file.
type WAVWriter struct {
	w        io.Writer
	rateHz   int
	channels int
	piped    bool   // the header cannot be rewritten
	written  uint64 // bytes of samples
	buf      []byte
	err      error
}

// NewWAVWriter writes the header to w. If w is an io.WriteSeeker that can seek, Close rewrites
// it. Rates are 1 to MaxResampleHz Hz, channels 1 to MaxChannels.
func NewWAVWriter(w io.Writer, rateHz, channels int) (*WAVWriter, error) {
	if rateHz < 1 || rateHz > MaxResampleHz {
		return nil, fmt.Errorf("wav: sample rate is %d Hz; allowed are 1 to %d Hz", rateHz, MaxResampleHz)
	}
	if channels < 1 || channels > MaxChannels {
		return nil, fmt.Errorf("wav: %d channels; allowed are 1 to %d", channels, MaxChannels)
	}
	ww := &WAVWriter{
		w:        w,
		rateHz:   rateHz,
		channels: channels,
		piped:    !seeks(w),
	}
	size := uint64(math.MaxUint64)
	if ww.piped {
		size = wavOpen
	}
	if _, err := w.Write(appendWAVHeader(nil, rateHz, channels, size)); err != nil {
		return nil, fmt.Errorf("wav: write header: %w", err)
	}
	return ww, nil
}

// seeks reports whether w can seek.
func seeks(w io.Writer) bool {
	ws, ok := w.(io.WriteSeeker)
	if !ok {
		return false
	}
	_, err := ws.Seek(0, io.SeekCurrent)
	return err == nil
}

// Write adds samples in [-1, 1], the channels interleaved.
func (w *WAVWriter) Write(pcm []float32) error {
	if w.err != nil {
		return w.err
	}
	w.buf = AppendLinear16(w.buf[:0], pcm)
	n, err := w.w.Write(w.buf)
	w.written += uint64(n)
	if err != nil {
		w.err = fmt.Errorf("wav: write samples: %w", err)
	}
	return w.err
}

// Close writes the length to the header if w can seek, or else the silence that marks the end
// for readers. It does not close w. A second Close does nothing.
func (w *WAVWriter) Close() error {
	if w.err != nil {
		if errors.Is(w.err, errWAVClosed) {
			return nil
		}
		return w.err
	}
	w.err = errWAVClosed
	if w.piped {
		if _, err := w.w.Write(appendWAVEnd(nil, w.rateHz, w.channels, w.written)); err != nil {
			return fmt.Errorf("wav: write the end: %w", err)
		}
		return nil
	}
	ws := w.w.(io.WriteSeeker) //nolint:forcetypeassert // it was asked
	if _, err := ws.Seek(-int64(wavHeaderLen+w.written), io.SeekCurrent); err != nil {
		return fmt.Errorf("wav: return to the header: %w", err)
	}
	if _, err := ws.Write(appendWAVHeader(nil, w.rateHz, w.channels, w.written)); err != nil {
		return fmt.Errorf("wav: complete header: %w", err)
	}
	if _, err := ws.Seek(int64(w.written), io.SeekCurrent); err != nil {
		return fmt.Errorf("wav: return to the end: %w", err)
	}
	return nil
}

var errWAVClosed = errors.New("wav: writer is closed")
