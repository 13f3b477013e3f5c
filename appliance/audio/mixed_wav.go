package audio

import (
	"errors"
	"fmt"
	"io"
)

// mixPiece is how many seconds are decoded at a time. Pieces begin at fixed positions, so that
// a byte of the file is the same however it is reached.
const mixPiece = 10

// MixedWAV is a 16-bit mono WAV file of several recordings mixed. It is decoded while it is
// read, a piece at a time, at any position. One goroutine uses it.
type MixedWAV struct {
	files   []*OpusFile
	rateHz  int
	samples int64
	header  []byte
	at      int64

	piece  int64 // number of the piece in data
	data   []byte
	sum    []float32
	decode []float32
}

// NewMixedWAV returns the file at a rate of 8, 12, 16, 24 or 48 kHz. It is as long as the
// longest recording.
func NewMixedWAV(rateHz int, files ...*OpusFile) (*MixedWAV, error) {
	if opusOutHz(rateHz) != rateHz {
		return nil, fmt.Errorf("opus: %d Hz; allowed are 8000, 12000, 16000, 24000 and 48000 Hz", rateHz)
	}
	m := &MixedWAV{files: files, rateHz: rateHz, piece: -1}
	for _, f := range files {
		m.samples = max(m.samples, f.Samples(rateHz))
	}
	m.header = appendWAVHeader(nil, rateHz, 1, uint64(2*m.samples))
	return m, nil
}

// Size returns the length of the file in bytes.
func (m *MixedWAV) Size() int64 { return wavHeaderLen + 2*m.samples }

// Seek sets the position of the next Read.
func (m *MixedWAV) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += m.at
	case io.SeekEnd:
		offset += m.Size()
	}
	if offset < 0 {
		return m.at, errors.New("audio: seek before the beginning of the file")
	}
	m.at = offset
	return offset, nil
}

// Read fills p up to the end of the current piece.
func (m *MixedWAV) Read(p []byte) (int, error) {
	if m.at >= m.Size() {
		return 0, io.EOF
	}
	if m.at < wavHeaderLen {
		n := copy(p, m.header[m.at:])
		m.at += int64(n)
		return n, nil
	}
	length := int64(2 * mixPiece * m.rateHz)
	offset := m.at - wavHeaderLen
	if err := m.mix(offset / length); err != nil {
		return 0, err
	}
	n := copy(p, m.data[offset%length:])
	m.at += int64(n)
	return n, nil
}

// mix decodes a piece, unless it is the current one.
func (m *MixedWAV) mix(piece int64) error {
	if piece == m.piece {
		return nil
	}
	length := int64(mixPiece * m.rateHz)
	from := piece * length
	n := min(length, m.samples-from)
	if m.sum == nil {
		m.sum, m.decode = make([]float32, length), make([]float32, length)
	}
	sum, decode := m.sum[:n], m.decode[:n]
	clear(sum)
	for _, f := range m.files {
		if err := f.Decode(decode, m.rateHz, from); err != nil {
			return err
		}
		for i, v := range decode {
			sum[i] += v
		}
	}
	m.piece, m.data = piece, AppendLinear16(m.data[:0], sum)
	return nil
}
