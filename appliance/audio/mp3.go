package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// mp3MaxJunk is how far apart two frames may be: damaged places and tags
	// that are not known are passed over, but not without end.
	mp3MaxJunk = 1 << 16
	// mp3MaxTag bounds an ID3v2 tag, which holds pictures; it is not kept.
	mp3MaxTag = 64 << 20
	// mp3DecoderDelay is how late a decoder's output comes: 528 samples of its
	// filter bank, and one (LAME's tech FAQ).
	mp3DecoderDelay = 529
)

// An mp3Parser cuts an MP3 stream into frames, so that each is decoded when it
// is whole.
type mp3Parser struct {
	buf    []byte
	skip   int  // bytes of a tag that are to be left out
	junk   int  // bytes passed over since the last frame
	lost   bool // the next frame is to be confirmed by the one behind it
	frames int
	like   mp3Header // the first frame: others have its version and rate
	dec    mp3Decoder

	drop int   // samples that are still to be left out at the beginning
	left int64 // samples until the end, by the LAME tag; -1 when unknown
}

func newMP3Parser() *mp3Parser { return &mp3Parser{left: -1} }

func (m *mp3Parser) feed(p []byte, to *sink) error {
	for {
		n := min(len(p), 1<<14) // so that a large p is not moved again and again
		m.buf, p = append(m.buf, p[:n]...), p[n:]
		used, err := m.parse(m.buf, false, to)
		if err != nil {
			return fmt.Errorf("mp3: %w", err)
		}
		m.buf = dropFront(m.buf, used)
		if len(p) == 0 {
			return nil
		}
	}
}

func (m *mp3Parser) end(to *sink) error {
	used, err := m.parse(m.buf, true, to)
	if err == nil && m.like == 0 {
		err = fmt.Errorf("the stream ends without a frame of MP3, after %d bytes that are none", m.junk+len(m.buf)-used)
	}
	if err != nil {
		return fmt.Errorf("mp3: %w", err)
	}
	return nil
}

// parse takes tags and frames off b until one is incomplete.
func (m *mp3Parser) parse(b []byte, last bool, to *sink) (used int, err error) {
	for {
		n := min(m.skip, len(b)-used)
		m.skip, used = m.skip-n, used+n
		rest := b[used:]
		if len(rest) < 4 {
			return used, nil
		}
		size, known, err := m.tag(rest)
		switch {
		case err != nil || known && size == 0:
			return used, err
		case known:
			m.skip = size
			continue
		}
		h := mp3Header(binary.BigEndian.Uint32(rest))
		if !h.valid() || h.layer() != 3 || m.like != 0 && !h.sameStream(m.like) {
			if used, err = used+1, m.pass(); err != nil {
				return used, err
			}
			continue
		}
		if h.size() == 0 {
			return used, errors.New("free-format bitrate is not taken")
		}
		if need := h.size(); len(rest) < need || m.lost && !last && len(rest) < need+4 {
			return used, nil
		}
		if m.lost && !confirmed(h, rest) {
			if used, err = used+1, m.pass(); err != nil {
				return used, err
			}
			continue
		}
		if err := m.frame(h, rest[:h.size()], to); err != nil {
			return used, fmt.Errorf("frame %d: %w", m.frames, err)
		}
		used += h.size()
	}
}

// pass counts a byte that belongs to no frame.
func (m *mp3Parser) pass() error {
	m.lost = true
	if m.junk++; m.junk > mp3MaxJunk {
		return fmt.Errorf("no frame within %d bytes", mp3MaxJunk)
	}
	return nil
}

// confirmed tells whether a frame is followed by another, or by the end.
func confirmed(h mp3Header, b []byte) bool {
	if len(b) < h.size()+4 {
		return true
	}
	next := mp3Header(binary.BigEndian.Uint32(b[h.size():]))
	return next.valid() && next.sameStream(h)
}

// tag returns the length of the tag that b begins with, 0 when b is too short to
// tell.
func (m *mp3Parser) tag(b []byte) (size int, known bool, err error) {
	switch {
	case bytes.HasPrefix(b, []byte("ID3")):
		if len(b) < 10 {
			return 0, true, nil
		}
		size = int(b[6]&0x7f)<<21 | int(b[7]&0x7f)<<14 | int(b[8]&0x7f)<<7 | int(b[9]&0x7f) + 10
		if b[5]&0x10 != 0 { // a footer
			size += 10
		}
	case bytes.HasPrefix(b, []byte("TAG")):
		size = 128 // ID3v1
	case bytes.HasPrefix(b, []byte("APET")):
		if len(b) < 32 {
			return 0, true, nil
		}
		size = int(binary.LittleEndian.Uint32(b[12:])) + 32
	default:
		return 0, false, nil
	}
	if size > mp3MaxTag {
		return 0, true, fmt.Errorf("tag of %d bytes; at most %d are passed over", size, mp3MaxTag)
	}
	return size, true, nil
}

// frame plays a frame.
func (m *mp3Parser) frame(h mp3Header, b []byte, to *sink) error {
	first := m.like == 0
	m.like, m.lost, m.junk = h, false, 0
	if first {
		if err := to.rate(h.rateHz()); err != nil {
			return err
		}
		if m.info(h, b) {
			return nil
		}
	}
	m.frames++
	if h.samples() > to.room() { // before the work is done
		return to.write(make([]float32, h.samples()))
	}
	pcm, err := m.dec.decode(h, b)
	if err != nil {
		return err
	}
	n := min(m.drop, len(pcm))
	m.drop, pcm = m.drop-n, pcm[n:]
	if m.left >= 0 {
		pcm = pcm[:min(int64(len(pcm)), m.left)]
		m.left -= int64(len(pcm))
	}
	return to.write(pcm)
}

// info reads the frame that encoders put first, which holds no sound but, in
// LAME's words, how many samples to leave out at both ends.
func (m *mp3Parser) info(h mp3Header, b []byte) bool {
	at := 4 + h.sideLen()
	if bytes.HasPrefix(b[min(36, len(b)):], []byte("VBRI")) {
		return true
	}
	b = b[min(at, len(b)):]
	if !bytes.HasPrefix(b, []byte("Xing")) && !bytes.HasPrefix(b, []byte("Info")) {
		return false
	}
	if len(b) < 8 {
		return true
	}
	be, flags, at := binary.BigEndian, b[7], 8
	frames := int64(-1)
	for bit, size := range [...]int{4, 4, 100, 4} { // frames, bytes, index, quality
		if flags>>bit&1 == 0 {
			continue
		}
		if bit == 0 && len(b) >= at+4 {
			frames = int64(be.Uint32(b[at:]))
		}
		at += size
	}
	if len(b) < at+24 || b[at] == 0 { // no LAME tag behind it
		return true
	}
	delay := int(b[at+21])<<4 | int(b[at+22])>>4
	padding := int(b[at+22]&15)<<8 | int(b[at+23])
	m.drop = delay + mp3DecoderDelay
	if frames >= 0 {
		m.left = max(0, frames*int64(h.samples())-int64(delay+padding))
	}
	return true
}
