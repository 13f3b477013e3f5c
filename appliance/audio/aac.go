package audio

import (
	"cmp"
	"errors"
	"fmt"
)

const (
	// aacMaxFrame bounds a frame: the maximum is 6144 bits for each of 48 channels (ISO
	// 14496-3, 4.5.3), and frames of speech are shorter.
	aacMaxFrame = 1 << 15
	// aacMaxBad is how many damaged frames in a row are tolerated: about a second.
	aacMaxBad = 48
	// aacFrame is how many samples a frame has, before SBR doubles them.
	aacFrame = 1024
)

// avTrack decodes the frames of consecutive streams by libavcodec into a sink, whatever their
// container. Damaged frames become silence.
type avTrack struct {
	codec     int32    // 0: AAC
	libraries []string // in this order; nil: avcodecNames
	config    []byte   // for avcodecCalls.open
	dec       *avDecoder
	opened    bool    // dec decodes this stream
	skip      float64 // seconds still to be skipped
	last      int     // samples of the previous frame
	made      int64   // samples of the stream so far
	end       int64   // the sample at which the stream ends; 0: unknown
	bad       int     // damaged frames in a row
	pcm       []float32
}

// CheckAAC returns an error that says what this machine lacks to decode AAC, and how to install
// it; nil if nothing is missing.
func CheckAAC() error {
	d, err := startAVDecoder(nil)
	if err != nil {
		return err
	}
	defer d.free()
	return d.open(avCodecAAC, []byte{0x12, 0x10}) // AAC-LC, 44.1 kHz, stereo
}

// begin starts a stream. All streams share a process, since they come from the same client:
// many short streams cost no more than a long one.
func (t *avTrack) begin(config []byte, skip float64) {
	t.opened = false
	t.config, t.skip, t.last, t.bad, t.made, t.end = config, skip, aacFrame, 0, 0, 0
}

// open ensures that there is a decoder for the stream.
func (t *avTrack) open() (err error) {
	if t.dec == nil {
		if t.dec, err = startAVDecoder(t.libraries); err != nil {
			return err
		}
	}
	if !t.opened {
		err = t.dec.open(cmp.Or(t.codec, avCodecAAC), t.config)
		t.opened = err == nil
	}
	return err
}

// decode decodes a frame into the sink.
func (t *avTrack) decode(frame []byte, to *sink) error {
	if len(frame) == 0 {
		return nil
	}
	if len(frame) > aacMaxFrame {
		return fmt.Errorf("%s: frame of %d bytes; at most %d are allowed", t.name(), len(frame), aacMaxFrame)
	}
	if err := t.open(); err != nil {
		return fmt.Errorf("%s: %w", t.name(), err)
	}
	pcm, ok, err := t.dec.decode(t.pcm[:0], frame)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name(), err)
	}
	t.pcm = pcm
	if !ok {
		return t.damaged(to)
	}
	t.bad = 0
	if len(pcm) == 0 {
		return nil
	}
	t.last = len(pcm)
	if t.made += int64(len(pcm)); t.end > 0 && t.made > t.end {
		pcm = pcm[:max(0, len(pcm)-int(t.made-t.end))]
		t.made = t.end
	}
	hz := t.dec.rateHz
	if err := to.rate(hz); err != nil {
		return fmt.Errorf("%s: %w", t.name(), err)
	}
	if t.skip > 0 {
		n := min(int(t.skip*float64(hz)+0.5), len(pcm))
		t.skip -= float64(n) / float64(hz)
		if n < len(pcm) {
			t.skip = 0
		}
		pcm = pcm[n:]
	}
	return to.write(pcm)
}

// damaged adds silence for a frame that cannot be decoded.
func (t *avTrack) damaged(to *sink) error {
	if t.bad++; t.bad >= aacMaxBad {
		return fmt.Errorf("%s: damaged: %d frames in a row cannot be decoded", t.name(), t.bad)
	}
	if to.inHz == 0 { // before the first good frame
		return nil
	}
	return to.write(make([]float32, t.last))
}

// name returns the name of the codec.
func (t *avTrack) name() string {
	if t.codec == avCodecVorbis {
		return "vorbis"
	}
	return "aac"
}

// free ends the decoder's process.
func (t *avTrack) free() {
	if t.dec != nil {
		t.dec.free()
		t.dec = nil
	}
}

// The header of an ADTS frame (ISO 13818-7, 6.2): its length, and that of the shortest frame.
const (
	adtsHeadLen = 7
	// adtsMaxJunk is the largest gap between two frames.
	adtsMaxJunk = 1 << 16
)

// adtsParser decodes a stream of AAC frames with ADTS headers.
type adtsParser struct {
	buf   []byte
	junk  int // bytes since the last frame
	track avTrack
	begun bool
}

func (a *adtsParser) feed(p []byte, to *sink) error {
	for len(p) > 0 {
		n := min(len(p), 1<<14)
		a.buf, p = append(a.buf, p[:n]...), p[n:]
		used, err := a.frames(to)
		a.buf = dropFront(a.buf, used)
		if err != nil {
			return err
		}
	}
	return nil
}

// frames decodes the complete frames, and returns their length.
func (a *adtsParser) frames(to *sink) (used int, err error) {
	for {
		b := a.buf[used:]
		if len(b) < adtsHeadLen {
			return used, nil
		}
		size, ok := adtsSize(b)
		if !ok { // damaged, or a tag: search the next frame
			if a.junk++; a.junk > adtsMaxJunk {
				return used, fmt.Errorf("aac: no frame within %d bytes", adtsMaxJunk)
			}
			used++
			continue
		}
		if len(b) < size {
			return used, nil
		}
		if err := a.track.decode(b[:size], to); err != nil {
			return used, err
		}
		a.begun, a.junk, used = true, 0, used+size
	}
}

// adtsSize returns the length of the frame whose header is at the beginning of b.
func adtsSize(b []byte) (size int, ok bool) {
	if b[0] != 0xff || b[1]&0xf6 != 0xf0 || b[2]>>2&15 > 12 {
		return 0, false
	}
	size = int(b[3]&3)<<11 | int(b[4])<<3 | int(b[5])>>5
	return size, size > adtsHeadLen
}

func (a *adtsParser) free() { a.track.free() }

func (a *adtsParser) end(*sink) error {
	if !a.begun {
		return errors.New("aac: the stream ends before its first frame")
	}
	return nil
}
