package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// oggMaxPacket bounds a packet of audio: the longest of Opus has 48 frames of 1275 bytes and
// their lengths (RFC 6716, 3.2.5).
const oggMaxPacket = 48*1275 + 2*48 + 2

// opusHead is the header of an Opus stream (RFC 7845, 5.1).
type opusHead struct {
	channels int
	preSkip  int // samples at 48 kHz before the sound
	gain     float32
}

func parseOpusHead(b []byte) (opusHead, error) {
	if len(b) < 19 || string(b[:8]) != "OpusHead" {
		return opusHead{}, fmt.Errorf("opus: header of %d bytes is not an OpusHead of at least 19", len(b))
	}
	if b[8]>>4 != 0 {
		return opusHead{}, fmt.Errorf("opus: header of version %d; versions to 15 are known", b[8])
	}
	h := opusHead{channels: int(b[9]), preSkip: int(binary.LittleEndian.Uint16(b[10:]))}
	if b[18] != 0 || h.channels < 1 || h.channels > 2 {
		return opusHead{}, fmt.Errorf("opus: %d channels with mapping family %d; allowed are 1 or 2 with family 0",
			h.channels, b[18])
	}
	h.gain = opusGain(int16(binary.LittleEndian.Uint16(b[16:])))
	return h, nil
}

// opusGain returns the factor of a gain in 1/256 dB.
func opusGain(q8 int16) float32 { return float32(math.Pow(10, float64(q8)/(20*256))) }

// opusTrack decodes consecutive Opus streams into a sink, whatever their container, without
// their pre-skip. All share one decoder, made at the first packet, since headers are cheap to
// send.
type opusTrack struct {
	dec      *opusDecoder
	stale    bool // dec was used for the previous stream
	channels int
	gain     float32
	skip     int // frames still to be skipped, at 48 kHz while stale
}

// begin starts a stream with its header.
func (t *opusTrack) begin(h opusHead) {
	t.channels, t.gain, t.skip, t.stale = h.channels, h.gain, h.preSkip, true
}

// decoder returns the decoder for the current stream.
func (t *opusTrack) decoder(to *sink) (*opusDecoder, error) {
	if t.dec != nil && !t.stale {
		return t.dec, nil
	}
	if t.dec == nil || t.dec.channels != t.channels {
		dec, err := newOpusDecoder(opusOutHz(to.outHz), t.channels)
		if err != nil {
			return nil, err
		}
		if err := to.rate(dec.rateHz); err != nil {
			return nil, err
		}
		t.dec = dec
	} else if err := t.dec.reset(); err != nil {
		return nil, err
	}
	t.stale = false
	t.skip = rescale(t.skip, opusHz, t.dec.rateHz)
	return t.dec, nil
}

// decode decodes a packet into the sink, without the last drop samples (at 48 kHz).
func (t *opusTrack) decode(packet []byte, drop int, to *sink) error {
	dec, err := t.decoder(to)
	if err != nil {
		return err
	}
	n, err := opusDuration(packet, dec.rateHz)
	if err != nil {
		return err
	}
	if n > to.free() { // before the work is done
		return to.write(make([]float32, n))
	}
	pcm, err := dec.decode(packet)
	if err != nil {
		return err
	}
	pcm = pcm[:max(0, len(pcm)-dec.channels*rescale(drop, opusHz, dec.rateHz))]
	skip := min(t.skip, len(pcm)/dec.channels)
	t.skip, pcm = t.skip-skip, pcm[dec.channels*skip:]
	for i := range pcm { // decoded Opus overshoots
		pcm[i] = bounded(pcm[i] * t.gain)
	}
	return to.writeFrames(pcm, dec.channels)
}

func rescale(n, from, to int) int { return int(resampledLen(int64(n), int64(from), int64(to))) }

// oggParser plays the first Opus or Vorbis stream of an Ogg stream, and the streams chained
// after it.
type oggParser struct {
	pages oggPages
	seen  []string // the codecs of other streams
	link  *oggLink // nil until found
	track opusTrack

	vorbis *vorbisLink // likewise
	sound  avTrack
}

func (o *oggParser) feed(p []byte, to *sink) error {
	return o.pages.feed(p, func(page oggPage) error { return o.page(page, to) })
}

func (o *oggParser) free() { o.sound.free() }

func (o *oggParser) end(*sink) error {
	if o.link == nil && o.vorbis == nil {
		return o.noOpus()
	}
	return nil
}

func (o *oggParser) noOpus() error {
	if len(o.seen) == 0 {
		return errors.New("ogg: the stream ends before its first header")
	}
	return fmt.Errorf("ogg: it holds %s; only Opus and Vorbis are supported", strings.Join(o.seen, ", "))
}

func (o *oggParser) page(p oggPage, to *sink) error {
	if p.flags&oggFirst != 0 {
		return o.first(p)
	}
	if o.vorbis != nil {
		if p.serial != o.vorbis.serial || o.vorbis.ended {
			return nil
		}
		if err := o.vorbis.page(p, to); err != nil {
			return fmt.Errorf("ogg: %w", err)
		}
		return nil
	}
	if o.link == nil {
		return o.noOpus() // the first pages of all streams come before any other page
	}
	if p.serial != o.link.serial || o.link.ended {
		return nil
	}
	if err := o.link.page(p, to); err != nil {
		return fmt.Errorf("ogg: %w", err)
	}
	return nil
}

// first handles a page that begins a stream.
func (o *oggParser) first(p oggPage) error {
	switch {
	case isVorbis(p.body) && o.link == nil:
		return o.firstVorbis(p)
	case !strings.HasPrefix(string(p.body), "OpusHead"):
		if len(o.seen) < 8 {
			o.seen = append(o.seen, oggCodec(p.body))
		}
		return nil
	case o.link != nil && !o.link.tagged, o.vorbis != nil:
		return nil // a second Opus stream in parallel
	}
	head, err := parseOpusHead(p.body)
	if err != nil {
		return fmt.Errorf("ogg: %w", err)
	}
	o.track.begin(head)
	o.link = &oggLink{serial: p.serial, next: p.sequence + 1, track: &o.track}
	return nil
}

// firstVorbis handles a page that begins a Vorbis stream; its first header is alone on it.
func (o *oggParser) firstVorbis(p oggPage) error {
	if o.vorbis != nil && !o.vorbis.ended {
		return nil // a second one in parallel
	}
	if len(p.body) != 30 {
		return fmt.Errorf("ogg: vorbis: the first header has %d bytes; expected 30", len(p.body))
	}
	o.sound.codec = avCodecVorbis
	o.vorbis = &vorbisLink{
		serial: p.serial,
		next:   p.sequence + 1,
		track:  &o.sound,
		first:  append([]byte(nil), p.body...),
		heads:  1,
	}
	return nil
}

// oggCodec returns the codec of a stream by its first packet.
func oggCodec(b []byte) string {
	for _, c := range [...]struct{ magic, name string }{
		{"\x7fFLAC", "FLAC"}, {"Speex   ", "Speex"}, {"\x80theora", "Theora video"},
		{"fishead\x00", "a Skeleton"}, {"BBCD\x00", "Dirac video"}, {"OVP80", "VP8 video"},
	} {
		if strings.HasPrefix(string(b), c.magic) {
			return c.name
		}
	}
	return fmt.Sprintf("something that begins with %q", b[:min(8, len(b))])
}

// oggLink is one Opus stream from its first page to its last.
type oggLink struct {
	serial uint32
	next   uint32 // the number of the next page
	track  *opusTrack
	tagged bool // the second header is complete: sound follows
	ended  bool

	packet []byte // the beginning of a packet that continues on the next page
	broken bool   // its beginning is missing
	begun  bool
	begin  int64 // granule position of the first sample
	done   int64 // samples at 48 kHz since then
}

func (l *oggLink) page(p oggPage, to *sink) error {
	if p.sequence != l.next { // a page is missing
		l.packet, l.broken = nil, true
	}
	l.next = p.sequence + 1
	l.ended = p.flags&oggLast != 0
	packets, err := l.packets(p)
	if err != nil {
		return err
	}
	if !l.tagged && len(packets) > 0 {
		if !strings.HasPrefix(string(packets[0]), "OpusTags") {
			return fmt.Errorf("opus: the second header begins with %q, not \"OpusTags\"",
				packets[0][:min(8, len(packets[0]))])
		}
		l.tagged = true
		packets = packets[1:]
	}
	return l.play(p, packets, to)
}

// packets returns the packets that end in p, and holds the beginning of one that does not.
func (l *oggLink) packets(p oggPage) (done [][]byte, err error) {
	if p.flags&oggContinued == 0 {
		l.packet, l.broken = nil, false
	} else if len(l.packet) == 0 {
		l.broken = true
	}
	body, size := p.body, 0
	for i, s := range p.segments {
		size += int(s)
		if s == 255 && i < len(p.segments)-1 {
			continue
		}
		piece := body[:size]
		body, size = body[size:], 0
		if len(l.packet) > 0 {
			piece = append(l.packet, piece...)
		}
		if !l.tagged && len(done) == 0 { // comments and pictures of any length, ignored
			piece = piece[:min(8, len(piece))]
		} else if len(piece) > oggMaxPacket {
			return nil, fmt.Errorf("opus: packet of more than %d bytes", oggMaxPacket)
		}
		if s == 255 { // it continues on the next page
			l.packet = append([]byte(nil), piece...)
			break
		}
		if !l.broken {
			done = append(done, piece)
		}
		l.packet, l.broken = nil, false
	}
	return done, nil
}

// play decodes the packets of a page. The last page's granule position gives the end of the
// sound, within the last packet.
func (l *oggLink) play(p oggPage, packets [][]byte, to *sink) error {
	total := int64(0) // at 48 kHz
	lens := make([]int64, len(packets))
	for i, packet := range packets {
		n, err := opusDuration(packet, opusHz)
		if err != nil {
			return err
		}
		lens[i] = int64(n)
		total += lens[i]
	}
	if !l.begun && len(packets) > 0 {
		l.begun = true
		if !l.ended { // a capture of a live stream begins late
			l.begin = max(0, p.granule-total)
		}
	}
	keep := total
	if l.ended && p.granule >= 0 {
		keep = min(keep, max(0, p.granule-l.begin-l.done))
	}
	l.done += total
	for i, packet := range packets {
		if keep <= 0 {
			break
		}
		drop := max(0, lens[i]-keep)
		if err := l.track.decode(packet, int(drop), to); err != nil {
			return err
		}
		keep -= lens[i]
	}
	return nil
}
