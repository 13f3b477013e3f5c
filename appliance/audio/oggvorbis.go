package audio

import (
	"fmt"
	"strings"
)

const (
	// vorbisMaxHead bounds a header: the codebooks of real streams have 3 to 10 kB.
	vorbisMaxHead = 1 << 18
	// vorbisHead is how each of the three headers begins, behind its number.
	vorbisHead = "vorbis"
	// vorbisNoComment stands for the second header, which may hold pictures and is
	// not needed: no maker, no comments, and the bit that ends it.
	vorbisNoComment = "\x03vorbis\x00\x00\x00\x00\x00\x00\x00\x00\x01"
)

// A vorbisLink is one Vorbis stream of an Ogg stream, from its first page to its
// last (Vorbis I specification, A).
type vorbisLink struct {
	serial uint32
	next   uint32 // the number of the next page
	track  *avTrack
	first  []byte // the first header
	heads  int    // how many have come
	ended  bool

	packet []byte // what there is of a packet that goes on in the next page
	broken bool   // its beginning is missing
}

// page plays a page.
func (l *vorbisLink) page(p oggPage, to *sink) error {
	if p.sequence != l.next { // a page is missing
		l.packet, l.broken = nil, true
	}
	l.next, l.ended = p.sequence+1, p.flags&oggLast != 0
	if l.ended && p.granule > 0 && l.heads == 3 { // the last packet goes on beyond the sound
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
		if s == 255 { // it goes on in the next page
			break
		}
		if err := l.take(to); err != nil {
			return err
		}
	}
	return nil
}

// add appends a piece of a packet; of the second header only its beginning.
func (l *vorbisLink) add(piece []byte) {
	if l.heads == 1 {
		piece = piece[:min(len(piece), max(0, len(vorbisNoComment)-len(l.packet)))]
	}
	l.packet = append(l.packet, piece...)
}

// take takes the packet that is whole.
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

// vorbisConfig laces the headers as Matroska does: their number less one, the
// lengths of all but the last, and the headers.
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

// isVorbis reports whether a stream's first packet is that of Vorbis.
func isVorbis(first []byte) bool { return strings.HasPrefix(string(first), "\x01"+vorbisHead) }
