package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

var errNoPage = errors.New("no complete page begins here")

// opusHeader is the header of a page.
type opusHeader struct {
	granule, length int64
	sequence        uint32
	packets         int64 // that end in it
}

// findPages finds the pages of sound. If a page follows from the one before, its header is
// trusted; otherwise it is read whole, since it or the data before it is damaged. An error
// means that the disk could not be read.
func (o *OpusFile) findPages(size int64) error {
	const frame = opusHz / opusFrames
	var end int64 // granule position of the last page
	var sequence uint32
	for at := int64(0); at < size; {
		h, err := o.header(at, size)
		follows := err == nil && h.sequence == sequence && h.granule == end+h.packets*frame
		if err == nil && !follows {
			_, _, err = o.page(at, size)
		}
		if err != nil {
			next, err := o.search(at+1, size)
			if err != nil {
				return err
			}
			if next < size {
				o.lost(at)
			}
			at = next
			continue
		}
		if h.granule > end { // otherwise it is one of the two headers
			begin := end
			if h.sequence != sequence { // pages are missing before it
				begin = max(end, h.granule-h.packets*frame)
				o.lost(at)
			}
			o.pages = append(o.pages, opusPage{offset: at, begin: begin, end: h.granule})
			end = h.granule
		}
		sequence = h.sequence + 1
		at += h.length
	}
	return nil
}

// search returns the offset of the next complete page, or size if there is none.
func (o *OpusFile) search(at, size int64) (int64, error) {
	const magic = "OggS"
	buf := make([]byte, 1<<16)
	for at < size {
		n, err := o.r.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		i := bytes.Index(buf[:n], []byte(magic))
		switch {
		case n < len(magic):
			return size, nil
		case i < 0:
			at += int64(n - len(magic) + 1)
			continue
		}
		at += int64(i)
		if _, _, err := o.page(at, size); err == nil {
			return at, nil
		}
		at++
	}
	return size, nil
}

// header reads the header of the page at an offset. errNoPage: there is no complete page.
func (o *OpusFile) header(offset, size int64) (h opusHeader, err error) {
	buf := make([]byte, min(oggHeadLen+255, size-offset))
	if _, err := o.r.ReadAt(buf, offset); err != nil && !errors.Is(err, io.EOF) {
		return h, err
	}
	if len(buf) < oggHeadLen || string(buf[:4]) != "OggS" {
		return h, errNoPage
	}
	if h.length = oggHeadLen + int64(buf[26]); int64(len(buf)) < h.length {
		return h, errNoPage
	}
	for _, s := range buf[oggHeadLen:h.length] {
		h.length += int64(s)
		if s < 255 {
			h.packets++
		}
	}
	if offset+h.length > size {
		return h, errNoPage
	}
	h.granule, h.sequence = oggGranule(buf), binary.LittleEndian.Uint32(buf[18:])
	return h, nil
}

// page reads a complete page and returns the offset of the next.
func (o *OpusFile) page(offset, size int64) (p oggPage, next int64, err error) {
	h, err := o.header(offset, size)
	if err != nil {
		return p, 0, err
	}
	buf := make([]byte, h.length)
	if _, err := io.ReadFull(io.NewSectionReader(o.r, offset, h.length), buf); err != nil {
		return p, 0, err
	}
	p, _, err = parseOggPage(buf)
	return p, offset + h.length, err
}
