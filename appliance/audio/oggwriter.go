package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	// opusFrames is how many packets a second has: the usual 20 ms each.
	opusFrames = 50
	// oggPagePackets is how many packets a page has: half a second, so that a crash loses less
	// than a second, also of audio that comes in bursts. A page holds 255 segments and a packet
	// takes at most six, but at these bitrates one.
	oggPagePackets = 25
	// opusBitsPerChannel is the bitrate: voice is transparent at 32 kbit/s.
	opusBitsPerChannel = 32000
	// opusSilentBytes is the size of the longest packet of pure silence. When the codec's filters
	// have decayed after a sound, it makes packets of 3 bytes.
	opusSilentBytes = 4
)

// OggOpusWriter encodes audio as an Ogg Opus stream (RFC 7845). It writes complete pages, two a
// second, each in one Write; what is written is playable at any time.
type OggOpusWriter struct {
	w        io.Writer
	enc      *opusEncoder
	channels int
	preSkip  int       // at 48 kHz
	frame    []float32 // incomplete
	page     oggPage
	packets  int    // in page
	granule  int64  // encoded samples at 48 kHz, including the pre-skip
	heard    int64  // input samples at 48 kHz
	silence  []byte // the packet that continues the present digital silence; nil: not silent
	buf      []byte
	err      error
}

// NewOggOpusWriter writes the stream's headers to w. Audio has 8, 12, 16, 24 or 48 kHz and one
// or two channels; serial distinguishes the streams of one file.
func NewOggOpusWriter(w io.Writer, rateHz, channels int, serial uint32) (*OggOpusWriter, error) {
	if opusOutHz(rateHz) != rateHz {
		return nil, fmt.Errorf("opus: %d Hz; allowed are 8000, 12000, 16000, 24000 and 48000 Hz", rateHz)
	}
	if channels != 1 && channels != 2 {
		return nil, fmt.Errorf("opus: %d channels; allowed are 1 and 2", channels)
	}
	enc, err := newOpusEncoder(rateHz, channels, channels*opusBitsPerChannel)
	if err != nil {
		return nil, err
	}
	o := &OggOpusWriter{
		w:        w,
		enc:      enc,
		channels: channels,
		preSkip:  enc.lookahead(),
		frame:    make([]float32, 0, rateHz/opusFrames*channels),
		page:     oggPage{serial: serial, flags: oggFirst},
	}
	o.add(o.head())
	if err := o.writePage(); err != nil {
		return nil, err
	}
	o.add(opusTags())
	return o, o.writePage()
}

// head returns the OpusHead packet (RFC 7845, 5.1).
func (o *OggOpusWriter) head() []byte {
	le := binary.LittleEndian
	b := append([]byte("OpusHead"), 1, byte(o.channels))
	b = le.AppendUint16(b, uint16(o.preSkip))
	b = le.AppendUint32(b, uint32(o.enc.rateHz))
	return append(b, 0, 0, 0) // no gain, mapping family 0
}

// opusTags returns the OpusTags packet (RFC 7845, 5.2): a vendor and no comments.
func opusTags() []byte {
	const vendor = "Parley"
	b := binary.LittleEndian.AppendUint32([]byte("OpusTags"), uint32(len(vendor)))
	return binary.LittleEndian.AppendUint32(append(b, vendor...), 0)
}

// Write adds samples in [-1, 1], two channels interleaved. An error is final: every later call
// returns it.
func (o *OggOpusWriter) Write(pcm []float32) error {
	if o.err != nil {
		return o.err
	}
	if len(pcm)%o.channels != 0 {
		return fmt.Errorf("opus: %d samples do not divide by %d channels", len(pcm), o.channels)
	}
	o.heard += int64(len(pcm) / o.channels * o.scale())
	o.err = o.encode(pcm)
	return o.err
}

// scale returns the ratio of 48 kHz to the caller's rate.
func (o *OggOpusWriter) scale() int { return opusHz / o.enc.rateHz }

func (o *OggOpusWriter) encode(pcm []float32) error {
	for len(pcm) > 0 {
		n := min(cap(o.frame)-len(o.frame), len(pcm))
		for _, v := range pcm[:n] {
			o.frame = append(o.frame, bounded(v))
		}
		pcm = pcm[n:]
		if len(o.frame) < cap(o.frame) {
			return nil
		}
		// A full page is written when the next packet comes, since the last page has to be
		// marked as the last.
		if o.packets == oggPagePackets {
			if err := o.writePage(); err != nil {
				return err
			}
		}
		packet, err := o.packet()
		if err != nil {
			return err
		}
		o.frame = o.frame[:0]
		o.granule += opusHz / opusFrames
		o.page.granule = o.granule
		o.add(packet)
	}
	return nil
}

// packet encodes the frame. In a long silence only the beginning is encoded: later frames
// repeat its packet, which does not change the encoder's state.
func (o *OggOpusWriter) packet() ([]byte, error) {
	if slices.ContainsFunc(o.frame, func(v float32) bool { return v != 0 }) {
		o.silence = nil
		return o.enc.encode(o.frame)
	}
	if o.silence != nil {
		return o.silence, nil
	}
	packet, err := o.enc.encode(o.frame)
	if len(packet) <= opusSilentBytes {
		o.silence = slices.Clone(packet)
	}
	return packet, err
}

// add adds a packet to the page.
func (o *OggOpusWriter) add(packet []byte) {
	for n := len(packet); ; n -= 255 {
		o.page.segments = append(o.page.segments, byte(min(n, 255)))
		if n < 255 {
			break
		}
	}
	o.page.body = append(o.page.body, packet...)
	o.packets++
}

func (o *OggOpusWriter) writePage() error {
	o.buf = appendOggPage(o.buf[:0], o.page)
	o.page.flags, o.page.sequence = 0, o.page.sequence+1
	o.page.segments, o.page.body, o.packets = o.page.segments[:0], o.page.body[:0], 0
	if _, err := o.w.Write(o.buf); err != nil {
		return fmt.Errorf("ogg: write page: %w", err)
	}
	return nil
}

// Close writes the last page, which marks the end of the audio. It does not close w. A second
// Close does nothing.
func (o *OggOpusWriter) Close() error {
	if o.err != nil {
		if errors.Is(o.err, errOggClosed) {
			return nil
		}
		return o.err
	}
	o.err = errOggClosed
	// Silence until the decoder, which is delayed by the pre-skip, has output everything.
	end := o.heard + int64(o.preSkip)
	if missing := end - o.granule - int64(len(o.frame)/o.channels*o.scale()); missing > 0 {
		if err := o.encode(make([]float32, int(missing)/o.scale()*o.channels)); err != nil {
			return err
		}
	}
	if n := cap(o.frame) - len(o.frame); len(o.frame) > 0 {
		if err := o.encode(make([]float32, n)); err != nil {
			return err
		}
	}
	o.page.granule, o.page.flags = end, oggLast
	return o.writePage()
}

var errOggClosed = errors.New("ogg: writer is closed")
