package audio

import (
	"encoding/binary"
	"fmt"
)

// oggHeadLen is a page's header without its segment table (RFC 3533, 6).
const oggHeadLen = 27

// oggMaxPage is the longest page: header, 255 segments, 255 bytes each.
const oggMaxPage = oggHeadLen + 255 + 255*255

// The flags of a page.
const (
	oggContinued = 1
	oggFirst     = 2
	oggLast      = 4
)

// oggPage is a checked page, whose data is not copied.
type oggPage struct {
	flags    byte
	granule  int64 // the codec's time at the end of the last packet that ends in the page; -1 if none does
	serial   uint32
	sequence uint32
	segments []byte
	body     []byte
}

// oggPages cuts a stream of bytes into pages. It holds at most one page.
type oggPages struct {
	buf    []byte
	offset int64 // of buf in the stream
}

// feed calls do with each page that is complete.
func (o *oggPages) feed(p []byte, do func(oggPage) error) error {
	for {
		// Only one page's worth is copied at a time, so that a large p is not copied
		// repeatedly.
		n := min(oggMaxPage-len(o.buf), len(p))
		o.buf, p = append(o.buf, p[:n]...), p[n:]
		used := 0
		for {
			page, size, err := parseOggPage(o.buf[used:])
			if err != nil {
				return fmt.Errorf("ogg: at byte %d: %w", o.offset+int64(used), err)
			}
			if size == 0 {
				break
			}
			if err := do(page); err != nil {
				return err
			}
			used += size
		}
		o.offset += int64(used)
		o.buf = dropFront(o.buf, used)
		if len(p) == 0 {
			return nil
		}
	}
}

// parseOggPage returns the page at the beginning of b and its length, 0 if it is incomplete.
func parseOggPage(b []byte) (oggPage, int, error) {
	const magic = "OggS"
	if n := min(len(b), len(magic)); string(b[:n]) != magic[:n] {
		return oggPage{}, 0, fmt.Errorf("no page begins here: %q instead of %q", b[:n], magic)
	}
	if len(b) < oggHeadLen {
		return oggPage{}, 0, nil
	}
	if b[4] != 0 {
		return oggPage{}, 0, fmt.Errorf("page of version %d; only 0 is known", b[4])
	}
	bodyAt := oggHeadLen + int(b[26])
	if len(b) < bodyAt {
		return oggPage{}, 0, nil
	}
	segments := b[oggHeadLen:bodyAt]
	size := bodyAt
	for _, s := range segments {
		size += int(s)
	}
	if len(b) < size {
		return oggPage{}, 0, nil
	}
	le := binary.LittleEndian
	if want, got := le.Uint32(b[22:]), oggCRC(b[:size]); want != got {
		return oggPage{}, 0, fmt.Errorf("page is damaged: its checksum is %#08x and should be %#08x", got, want)
	}
	return oggPage{
		flags:    b[5],
		granule:  oggGranule(b),
		serial:   le.Uint32(b[14:]),
		sequence: le.Uint32(b[18:]),
		segments: segments,
		body:     b[bodyAt:size],
	}, size, nil
}

// oggGranule returns the granule position in a page's header.
func oggGranule(head []byte) int64 { return int64(binary.LittleEndian.Uint64(head[6:])) }

// appendOggPage appends a page to b, with its checksum.
func appendOggPage(b []byte, p oggPage) []byte {
	le := binary.LittleEndian
	at := len(b)
	b = append(b, "OggS\x00"...)
	b = append(b, p.flags)
	b = le.AppendUint64(b, uint64(p.granule))
	b = le.AppendUint32(b, p.serial)
	b = le.AppendUint32(b, p.sequence)
	b = append(b, 0, 0, 0, 0, byte(len(p.segments)))
	b = append(b, p.segments...)
	b = append(b, p.body...)
	le.PutUint32(b[at+22:], oggCRC(b[at:]))
	return b
}

// oggCRC returns the checksum of a page with the checksum field taken as zero: CRC-32 with
// polynomial 0x04c11db7, most significant bit first, neither inverted nor starting with ones
// (RFC 3533, 6), which hash/crc32 lacks.
func oggCRC(page []byte) uint32 {
	crc := uint32(0)
	for _, part := range [...][]byte{page[:22], {0, 0, 0, 0}, page[26:]} {
		for _, c := range part {
			crc = crc<<8 ^ oggCRCTable[byte(crc>>24)^c]
		}
	}
	return crc
}

var oggCRCTable = func() (t [256]uint32) {
	for i := range t {
		r := uint32(i) << 24
		for range 8 {
			if r&(1<<31) != 0 {
				r = r<<1 ^ 0x04c11db7
			} else {
				r <<= 1
			}
		}
		t[i] = r
	}
	return t
}()
