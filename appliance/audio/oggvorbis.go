package audio

import (
	"fmt"
	"strings"
)

const (
	// vorbisMaxHead bounds a header: the codebooks of real streams have 3 to 10 kB.
	vorbisMaxHead = 1 << 18
	// vorbisHead is the beginning of each of the three headers, after its number.
	vorbisHead = "vorbis"
	// vorbisNoComment replaces the second header, which may contain pictures and is not needed:
	// no vendor, no comments, and the final bit.
	vorbisNoComment = "\x03vorbis\x00\x00\x00\x00\x00\x00\x00\x00\x01"
)

// vorbisLink is one Vorbis stream of an Ogg stream, from its first page to its last (Vorbis I
// specification, A).
type vorbisLink struct {
	serial uint32
	next   uint32 // the number of the next page
	track  *avTrack
	first  []byte // the first header
	heads  int    // how many are complete
	ended  bool

	packet []byte // the beginning of a packet that continues on the next page
	broken bool   // its beginning is missing
}

// page plays a page.
func (l *vorbisLink) page(p oggPage, to *sink) error {
	if p.sequence != l.next { // a page is missing
		l.packet, l.broken = nil, true
	}
	l.next, l.ended = p.sequence+1, p.flags&oggLast != 0
	if l.ended && p.granule > 0 && l.heads == 3 { // the last packet extends beyond the sound
		l.track.end = p.granule
	}
	if p.flags&oggContinued == 0 {
		l.packet, l.broken = nil, false
	} else if len(l.packet) == 0 {
		l.broken = true
	}
	body, size := p.body, 0
	for i, s := range p.segments {
		if size += int(s); s == 255 && i < len(p.segments)-1 {
			continue
		}
		l.add(body[:size])
		body, size = body[size:], 0
		if len(l.packet) > vorbisMaxHead {
			return fmt.Errorf("vorbis: packet of more than %d bytes", vorbisMaxHead)
		}
		if s == 255 { // it continues on the next page
			break
		}
		if err := l.take(to); err != nil {
			return err
		}
	}
	return nil
}

// add appends a part of a packet; of the second header only the beginning.
func (l *vorbisLink) add(piece []byte) {
	if l.heads == 1 {
		piece = piece[:min(len(piece), max(0, len(vorbisNoComment)-len(l.packet)))]
	}
	l.packet = append(l.packet, piece...)
}

// take handles a complete packet.
func (l *vorbisLink) take(to *sink) error {
	packet, broken := l.packet, l.broken
	l.packet, l.broken = nil, false
	switch {
	case l.heads < 3 && (broken || len(packet) < 7 || string(packet[1:7]) != vorbisHead ||
		packet[0] != byte(2*l.heads+1)):
		return fmt.Errorf("vorbis: header %d is missing", l.heads+1)
	case l.heads == 2:
		l.track.begin(vorbisConfig(l.first, packet), 0)
		fallthrough
	case l.heads < 3:
		l.heads++
		return nil
	case broken:
		return nil
	}
	return l.track.decode(packet, to)
}

// vorbisConfig laces the headers as Matroska does: their number minus one, the lengths of all
// but the last, and the headers.
func vorbisConfig(first, third []byte) []byte {
	config := []byte{2}
	for _, n := range []int{len(first), len(vorbisNoComment)} {
		for ; n >= 255; n -= 255 {
			config = append(config, 255)
		}
		config = append(config, byte(n))
	}
	config = append(config, first...)
	config = append(config, vorbisNoComment...)
	return append(config, third...)
}

// isVorbis reports whether a stream's first packet is a Vorbis header.
func isVorbis(first []byte) bool { return strings.HasPrefix(string(first), "\x01"+vorbisHead) }
