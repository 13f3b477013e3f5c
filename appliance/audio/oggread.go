package audio

import (
	"errors"
	"fmt"
	"io"
)

// opusLead is how much is decoded, and thrown away, before the place where
// reading begins, so that the decoder's state is there what it is in a decoding
// from the start. The standard asks for 80 ms (RFC 7845, 4.6); after four times
// that no sample differs any more.
const opusLead = opusHz * 320 / 1000

// An OpusFile is an Ogg file with one Opus stream, such as an OggOpusWriter
// makes, that is read at any place. A file that a crash cut off ends with its
// last whole page; one of which a part is damaged is silent there.
type OpusFile struct {
	r       io.ReaderAt
	preSkip int64
	pages   []opusPage
}

// opusPage is where a page of sound lies: in the file, and in time at 48 kHz.
type opusPage struct {
	offset int64
	end    int64 // its granule position
}

// NewOpusFile finds the pages of a file of that size. It reads little more than
// their headers.
func NewOpusFile(r io.ReaderAt, size int64) (*OpusFile, error) {
	o := &OpusFile{r: r}
	head, next, err := o.page(0, size)
	if err != nil {
		return nil, fmt.Errorf("ogg: the first page: %w", err)
	}
	h, err := parseOpusHead(head.body)
	if err != nil {
		return nil, fmt.Errorf("ogg: %w", err)
	}
	o.preSkip = int64(h.preSkip)
	for first := true; next < size; first = false {
		granule, length, err := o.header(next, size)
		if errors.Is(err, errNoPage) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("ogg: the page at byte %d: %w", next, err)
		}
		if !first { // that holds the tags
			o.pages = append(o.pages, opusPage{offset: next, end: granule})
		}
		next += length
	}
	for n := len(o.pages); n > 0; n-- { // what was being written when it was cut off
		if _, _, err := o.page(o.pages[n-1].offset, size); err == nil {
			break
		}
		o.pages = o.pages[:n-1]
	}
	return o, nil
}

// Samples is the length at a rate of opusOutHz, rounded down.
func (o *OpusFile) Samples(rateHz int) int64 {
	if len(o.pages) == 0 {
		return 0
	}
	return max(0, o.pages[len(o.pages)-1].end-o.preSkip) * int64(rateHz) / opusHz
}

var errNoPage = errors.New("no whole page begins here")

// header reads where the page at an offset ends, in time and in the file.
// errNoPage: there is none, or not all of it.
func (o *OpusFile) header(offset, size int64) (granule, length int64, err error) {
	buf := make([]byte, min(oggHeadLen+255, size-offset))
	if _, err := o.r.ReadAt(buf, offset); err != nil && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	if len(buf) < oggHeadLen || string(buf[:4]) != "OggS" {
		return 0, 0, errNoPage
	}
	if length = oggHeadLen + int64(buf[26]); int64(len(buf)) < length {
		return 0, 0, errNoPage
	}
	for _, s := range buf[oggHeadLen:length] {
		length += int64(s)
	}
	if offset+length > size {
		return 0, 0, errNoPage
	}
	return oggGranule(buf), length, nil
}

// page reads a whole page and returns where the next one begins.
func (o *OpusFile) page(offset, size int64) (p oggPage, next int64, err error) {
	_, length, err := o.header(offset, size)
	if err != nil {
		return p, 0, err
	}
	buf := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(o.r, offset, length), buf); err != nil {
		return p, 0, err
	}
	p, _, err = parseOggPage(buf)
	return p, offset + length, err
}

// Decode fills out with mono samples at a rate of opusOutHz from the place
// from on; beyond the end there is silence. The same place gives the same
// samples when the pieces begin at the same places. It may be called by several
// goroutines.
func (o *OpusFile) Decode(out []float32, rateHz int, from int64) error {
	clear(out)
	scale := int64(opusHz / rateHz)
	begin := from*scale + o.preSkip // in the stream's own time
	end := min(begin+int64(len(out))*scale, o.preSkip+o.Samples(opusHz))
	first, at := o.seek(begin - opusLead)
	if begin >= end || first == len(o.pages) {
		return nil
	}
	dec, err := newOpusDecoder(rateHz)
	if err != nil {
		return err
	}
	for ; at < end && first < len(o.pages); first++ {
		pcm := o.sound(dec, first, int((o.pages[first].end-at)/scale))
		skip, to := max(0, (begin-at)/scale), max(0, (at-begin)/scale)
		if skip < int64(len(pcm)) {
			copy(out[to:(end-begin)/scale], pcm[skip:])
		}
		at = o.pages[first].end
	}
	return nil
}

// seek returns the page in which a time lies and when that page begins. Before
// the beginning is the beginning.
func (o *OpusFile) seek(time int64) (page int, begins int64) {
	for page < len(o.pages) && o.pages[page].end <= time {
		begins = o.pages[page].end
		page++
	}
	return page, begins
}

// sound decodes a page that should hold so many samples: silence, as far as it
// is damaged.
func (o *OpusFile) sound(dec *opusDecoder, n, samples int) []float32 {
	all := make([]float32, 0, samples)
	p, _, err := o.page(o.pages[n].offset, o.pages[n].offset+oggMaxPage)
	packet := 0
	for _, s := range p.segments {
		if packet += int(s); s == 255 {
			continue
		}
		var pcm []float32
		if pcm, err = dec.decode(p.body[:packet]); err != nil {
			break
		}
		for _, v := range pcm {
			all = append(all, bounded(v))
		}
		p.body, packet = p.body[packet:], 0
	}
	if err != nil && len(all) < samples {
		all = append(all, make([]float32, samples-len(all))...)
	}
	return all[:min(len(all), samples)]
}
