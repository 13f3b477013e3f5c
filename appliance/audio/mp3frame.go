package audio

import (
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"
)

// An mp3Header is the first four bytes of a frame (ISO 11172-3, 2.4.1.3; ISO
// 13818-3 for the lower rates).
type mp3Header uint32

// version is 1, 2, or 25 for the unofficial 2.5.
func (h mp3Header) version() int { return [...]int{25, 0, 2, 1}[h>>19&3] }
func (h mp3Header) layer() int   { return 4 - int(h>>17&3) }
func (h mp3Header) mono() bool   { return h>>6&3 == 3 }

func (h mp3Header) valid() bool {
	return h>>21 == 0x7ff && h.version() != 0 && h.layer() != 4 &&
		h>>12&15 != 15 && h>>10&3 != 3 && h&3 != 2
}

func (h mp3Header) sameStream(other mp3Header) bool {
	const versionLayerRate = 0xfffe0c00
	return h&versionLayerRate == other&versionLayerRate
}

func (h mp3Header) rateHz() int {
	hz := [...]int{44100, 48000, 32000, 0}[h>>10&3]
	switch h.version() {
	case 2:
		hz /= 2
	case 25:
		hz /= 4
	}
	return hz
}

// samples is the length of a frame, in samples of a channel.
func (h mp3Header) samples() int {
	if h.version() == 1 {
		return 1152
	}
	return 576
}

// sideLen is the length of the side information.
func (h mp3Header) sideLen() int {
	switch {
	case h.version() == 1 && h.mono(), h.version() != 1 && !h.mono():
		return 17
	case h.version() == 1:
		return 32
	}
	return 9
}

// kbps is the bitrate, 0 for free format.
func (h mp3Header) kbps() int {
	if h.version() == 1 {
		return [...]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0}[h>>12&15]
	}
	return [...]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}[h>>12&15]
}

// size is the length of the frame in bytes, 0 for free format.
func (h mp3Header) size() int {
	if h.kbps() == 0 {
		return 0
	}
	return h.samples()/8*1000*h.kbps()/h.rateHz() + int(h>>9&1)
}

// mp3Reservoir is how far back the data of a frame may begin, in bytes: 9 bits.
const mp3Reservoir = 511

// An mp3Decoder decodes one frame after another with go-mp3, which pulls: it is
// given a frame and asked for exactly that.
type mp3Decoder struct {
	dec  *mp3.Decoder
	in   mp3Frame
	raw  [1152 * 4]byte // 16-bit stereo, as go-mp3 gives it
	pcm  [1152]float32
	tail []byte // the data of the frames before, which this one may use
	// recast is set from the first frame that go-mp3 would misread: the others
	// refer to its data.
	recast bool
}

// An mp3Frame is read once.
type mp3Frame struct{ b []byte }

func (f *mp3Frame) Read(p []byte) (int, error) {
	if len(f.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.b)
	f.b = f.b[n:]
	return n, nil
}

// decode returns the samples of a frame, mixed down, valid until the next call.
func (d *mp3Decoder) decode(h mp3Header, b []byte) (pcm []float32, err error) {
	defer func() { // go-mp3 does not check every index that a damaged frame leads to
		if recover() != nil {
			err = errors.New("damaged")
		}
	}()
	if d.in.b, err = d.prepare(h, b); err != nil {
		return nil, err
	}
	if d.dec == nil {
		if d.dec, err = mp3.NewDecoder(&d.in); err != nil {
			return nil, fmt.Errorf("damaged: %w", err)
		}
	}
	n, err := d.dec.Read(d.raw[:])
	if err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	raw, pcm := d.raw[:n], d.pcm[:0]
	for ; len(raw) >= 4; raw = raw[4:] {
		pcm = append(pcm, (sampleS16.at(raw)+sampleS16.at(raw[2:]))/2)
	}
	return pcm, nil
}

// prepare returns the frame as go-mp3 decodes it rightly.
func (d *mp3Decoder) prepare(h mp3Header, b []byte) ([]byte, error) {
	if h.rateHz() == 8000 {
		return nil, errors.New("MP3 at 8000 Hz (MPEG 2.5) is not taken; send 11025 Hz or more")
	}
	head := 4
	if h>>16&1 == 0 {
		head += 2 // a checksum
	}
	data := head + h.sideLen()
	if len(b) < data {
		return nil, errors.New("shorter than its side information")
	}
	side, body := b[head:data], b[data:]
	begin := int(side[0]) // main_data_begin: 8 bits, in version 1 it has 9
	if h.version() == 1 {
		begin = begin<<1 | int(side[1]>>7)
	}
	out := append([]byte(nil), b...)
	if begin > len(d.tail) {
		// The stream was joined in its middle: what this frame begins in is
		// missing. It is silent, and its data are there for the next.
		out = mute(h, out, head, len(d.tail))
		begin = len(d.tail)
	}
	d.recast = d.recast || h.misread()
	if d.recast {
		out = recast(h, out[head:data], d.tail[len(d.tail)-begin:], body)
	}
	d.tail = append(d.tail, body...)
	d.tail = dropFront(d.tail, max(0, len(d.tail)-mp3Reservoir))
	return out, nil
}

// mute clears a frame's side information but for where its data begin.
func mute(h mp3Header, b []byte, head, begin int) []byte {
	clear(b[head : head+h.sideLen()])
	if h.version() == 1 {
		b[head], b[head+1] = byte(begin>>1), byte(begin<<7)
	} else {
		b[head] = byte(min(begin, 255))
	}
	return b
}

// misread tells of the frames that go-mp3 (v0.3.4) does not take as they are:
// padded ones of MPEG 2 that it holds for one byte shorter than they are, because
// it halves their size after rounding it, and those of MPEG 2.5.
func (h mp3Header) misread() bool {
	return h.version() == 25 || h.version() == 2 && h>>9&1 == 1 && 144000*h.kbps()/h.rateHz()%2 == 0
}

// recast writes a frame anew, with all its data in itself, in the largest frame
// there is, without padding: so its size is right and it refers to none before
// it. MPEG 2.5 at 11025 and 12000 Hz differs from MPEG 2 at 16 kHz in nothing but
// the rate, and becomes that. What a frame of more than 64 kbit/s may have beyond
// the room is its highest tones.
func recast(h mp3Header, side, before, body []byte) []byte {
	const version2, bitrate, rate, rate16k, padding, unprotected = 1 << 20, 15 << 12, 3 << 10, 2 << 10, 1 << 9, 1 << 16
	if h.version() == 25 {
		h = h&^rate | rate16k | version2
	}
	h = h&^(bitrate|padding) | 14<<12 | unprotected
	out := make([]byte, h.size())
	out[0], out[1], out[2], out[3] = byte(h>>24), byte(h>>16), byte(h>>8), byte(h)
	at := 4 + copy(out[4:], side)
	out[4] = 0 // main_data_begin
	at += copy(out[at:], before)
	copy(out[at:], body)
	return out
}
