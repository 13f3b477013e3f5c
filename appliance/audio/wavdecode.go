package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The supported format tags of WAV, from Microsoft's mmreg.h.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavALaw       = 6
	wavMuLaw      = 7
	wavExtensible = 0xfffe
)

// ErrBigEndian is the error for a big-endian WAV file.
var ErrBigEndian = errors.New("wav: big-endian WAV (RIFX) is not supported; send RIFF")

// wavFmtLen is the largest part of a fmt chunk that is parsed: WAVEFORMATEXTENSIBLE.
const wavFmtLen = 40

// wavRest is the length of a chunk that extends to the end of the stream.
const wavRest = math.MaxUint64

// wavParser parses a WAV stream chunk by chunk. It stores only the fmt chunk. Consecutive WAV
// files are one stream, since some clients put a header before each piece.
type wavParser struct {
	head   []byte // of an incomplete header
	step   func(w *wavParser, p []byte, to *sink) (rest []byte, err error)
	left   uint64 // remaining bytes of the chunk
	pad    bool   // a padding byte follows the chunk
	rf64   uint64 // length of the data chunk by a ds64 chunk; 0: none
	rateHz int
	frames framer
}

func newWAVParser() *wavParser { return &wavParser{step: (*wavParser).riff} }

func (w *wavParser) feed(p []byte, to *sink) (err error) {
	for len(p) > 0 && err == nil {
		p, err = w.step(w, p, to)
	}
	return err
}

func (w *wavParser) free() {}

// end accepts a truncated file: what was streamed is everything.
func (w *wavParser) end(*sink) error {
	if w.rateHz == 0 {
		return fmt.Errorf("wav: the stream ends before its fmt chunk")
	}
	return nil
}

// gather moves bytes from p to head until there are n.
func (w *wavParser) gather(p []byte, n int) (rest []byte, done bool) {
	k := min(n-len(w.head), len(p))
	w.head = append(w.head, p[:k]...)
	return p[k:], len(w.head) == n
}

func (w *wavParser) riff(p []byte, _ *sink) ([]byte, error) {
	p, done := w.gather(p, 12)
	if !done {
		return p, nil
	}
	switch id := string(w.head[:4]); {
	case id == "RIFX":
		return p, ErrBigEndian
	case string(w.head[8:]) != "WAVE":
		return p, fmt.Errorf("wav: RIFF file of type %q; expected \"WAVE\"", w.head[8:])
	}
	*w = wavParser{step: (*wavParser).chunk, head: w.head[:0], frames: framer{frames: w.frames.frames}}
	return p, nil
}

// chunk parses a chunk's header and selects the handler of its body.
func (w *wavParser) chunk(p []byte, to *sink) ([]byte, error) {
	p, done := w.gather(p, 8)
	if !done {
		return p, nil
	}
	id, size := string(w.head[:4]), binary.LittleEndian.Uint32(w.head[4:])
	if id == "RIFF" || id == "RF64" { // another WAV begins
		w.step = (*wavParser).riff
		return p, nil
	}
	w.head = w.head[:0]
	w.left, w.pad = uint64(size), size%2 == 1
	switch id {
	case "fmt ":
		if size < 16 {
			return p, fmt.Errorf("wav: fmt chunk of %d bytes; it has at least 16", size)
		}
		w.step = (*wavParser).format
	case "ds64":
		if size < 24 {
			return p, fmt.Errorf("wav: ds64 chunk of %d bytes; it has at least 24", size)
		}
		w.step = (*wavParser).sizes
	case "data":
		return p, w.beginData(size, to)
	default:
		w.skip()
	}
	return p, nil
}

func (w *wavParser) skip() {
	w.step = (*wavParser).skipping
	if w.left == 0 {
		w.endChunk()
	}
}

func (w *wavParser) skipping(p []byte, _ *sink) ([]byte, error) {
	n := min(w.left, uint64(len(p)))
	if w.left -= n; w.left == 0 {
		w.endChunk()
	}
	return p[n:], nil
}

func (w *wavParser) endChunk() {
	w.step = (*wavParser).chunk
	if w.pad {
		w.pad, w.left, w.step = false, 1, (*wavParser).skipping
	}
}

// sizes parses the 64-bit length of the data chunk of an RF64 file (EBU Tech 3306).
func (w *wavParser) sizes(p []byte, _ *sink) ([]byte, error) {
	p, done := w.gather(p, 24)
	if done {
		w.rf64 = binary.LittleEndian.Uint64(w.head[8:])
		w.head, w.left = w.head[:0], w.left-24
		w.skip()
	}
	return p, nil
}

func (w *wavParser) format(p []byte, to *sink) ([]byte, error) {
	n := int(min(w.left, wavFmtLen))
	p, done := w.gather(p, n)
	if !done {
		return p, nil
	}
	if err := w.readFormat(w.head); err != nil {
		return p, err
	}
	if err := to.rate(w.rateHz); err != nil {
		return p, fmt.Errorf("wav: %w", err)
	}
	w.head, w.left = w.head[:0], w.left-uint64(n)
	w.skip()
	return p, nil
}

func (w *wavParser) readFormat(b []byte) error {
	le := binary.LittleEndian
	tag, channels, bits := le.Uint16(b), int(le.Uint16(b[2:])), int(le.Uint16(b[14:]))
	align := int(le.Uint16(b[12:]))
	if tag == wavExtensible {
		if len(b) < wavFmtLen {
			return fmt.Errorf("wav: WAVE_FORMAT_EXTENSIBLE with a fmt chunk of %d bytes; it has at least %d", len(b),
				wavFmtLen)
		}
		tag = le.Uint16(b[24:]) // the first field of the sub-format's GUID
	}
	if channels < 1 || channels > MaxChannels {
		return fmt.Errorf("wav: %d channels; allowed are 1 to %d", channels, MaxChannels)
	}
	if align%channels != 0 || align == 0 {
		return fmt.Errorf("wav: frames of %d bytes do not divide by %d channels", align, channels)
	}
	width := align / channels
	switch tag {
	case wavPCM, wavFloat, wavALaw, wavMuLaw:
	default: // whose bits may have another meaning
		return fmt.Errorf("wav: %s is not supported; %s", wavTagName(tag), wavSupported)
	}
	if bits > 8*width || bits < 1 {
		return fmt.Errorf("wav: %d bits in samples of %d bytes", bits, width)
	}
	format, ok := map[[2]int]sampleFormat{
		{wavPCM, 1}: sampleU8, {wavPCM, 2}: sampleS16, {wavPCM, 3}: sampleS24, {wavPCM, 4}: sampleS32,
		{wavFloat, 4}: sampleF32, {wavFloat, 8}: sampleF64,
		{wavALaw, 1}: sampleALaw, {wavMuLaw, 1}: sampleMuLaw,
	}[[2]int{int(tag), width}]
	if !ok {
		return fmt.Errorf("wav: %s of %d bits is not supported; %s", wavTagName(tag), bits, wavSupported)
	}
	w.rateHz = int(le.Uint32(b[4:]))
	w.frames.layout, w.frames.part = layout{format, channels}, nil
	return nil
}

const wavSupported = "allowed are PCM of 8, 16, 24 and 32 bits, float of 32 and 64, A-law and mu-law"

func wavTagName(tag uint16) string {
	names := map[uint16]string{wavPCM: "PCM", wavFloat: "float", wavALaw: "A-law", wavMuLaw: "mu-law",
		2: "Microsoft ADPCM", 0x11: "IMA ADPCM", 0x31: "GSM 6.10", 0x45: "G.726", 0x55: "MP3 in WAV",
		0xff: "AAC in WAV"}
	if n := names[tag]; n != "" {
		return n
	}
	return fmt.Sprintf("format %#04x", tag)
}

// beginData sets the length of the samples. Sizes of 0 or all ones come from writers to a pipe.
func (w *wavParser) beginData(size uint32, to *sink) error {
	if w.rateHz == 0 {
		return fmt.Errorf("wav: data chunk before the fmt chunk")
	}
	w.step = (*wavParser).data
	switch {
	case size == wavUnknown && w.rf64 > 0:
		w.left, w.pad = w.rf64, w.rf64%2 == 1
	case size == wavUnknown || size == 0:
		w.left, w.pad = wavRest, false
	}
	return nil
}

func (w *wavParser) data(p []byte, to *sink) ([]byte, error) {
	n := min(w.left, uint64(len(p)))
	if w.left != wavRest {
		w.left -= n
	}
	if err := w.frames.feed(p[:n], to); err != nil {
		return p[n:], fmt.Errorf("wav: %w", err)
	}
	if w.left == 0 {
		w.frames.part = w.frames.part[:0]
		w.endChunk()
	}
	return p[n:], nil
}
