package audio

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// opusLookahead is the pre-skip of Parley's files, 2.5 ms, for a file whose header is lost.
const opusLookahead = opusHz * 25 / 10000

// opusLead is how much is decoded and discarded before a position, so that the decoder's state
// is that of a decoding from the start. The standard asks for 80 ms (RFC 7845, 4.6); after four
// times that, no sample differs.
const opusLead = opusHz * 320 / 1000

// OpusFile reads an Ogg file with one Opus stream, such as an OggOpusWriter makes, at any
// position. A file cut off by a crash ends with its last complete page; damaged parts are
// silent.
type OpusFile struct {
	r       io.ReaderAt
	preSkip int64
	pages   []opusPage
	damage  atomic.Int64 // 1 more than the offset of the first damage found; 0: none
}

// opusPage is the position of a page of sound in the file, and its time at 48 kHz.
type opusPage struct {
	offset     int64
	begin, end int64 // end is its granule position
}

// NewOpusFile finds the pages of a file of a size. It reads little more than their headers, and
// skips damage; it fails if nothing of a recording is found.
func NewOpusFile(r io.ReaderAt, size int64) (*OpusFile, error) {
	o := &OpusFile{r: r, preSkip: opusLookahead}
	head, _, err := o.page(0, size)
	if err == nil {
		h, err := parseOpusHead(head.body)
		if err != nil {
			return nil, fmt.Errorf("ogg: %w", err)
		}
		o.preSkip = int64(h.preSkip)
	}
	err = errors.Join(err, o.findPages(size))
	if err != nil && len(o.pages) == 0 {
		return nil, fmt.Errorf("ogg: the first page: %w", err)
	}
	if err != nil {
		o.lost(0)
	}
	for n := len(o.pages); n > 0; n-- { // an incomplete last write
		if _, _, err := o.page(o.pages[n-1].offset, size); err == nil {
			break
		}
		o.pages = o.pages[:n-1]
	}
	return o, nil
}

// Damaged reports whether damage within the file, or to its header, has been found so far, on
// opening or decoding. A truncated end does not count.
func (o *OpusFile) Damaged() bool { return o.damage.Load() != 0 }

// lost records damage at an offset.
func (o *OpusFile) lost(offset int64) { o.damage.CompareAndSwap(0, offset+1) }

// ErrCutOff reports a recording without its end.
var ErrCutOff = errors.New("it is cut off")

// Check reads the whole file and returns its first damage or, without damage, ErrCutOff for a
// truncated file. It decodes nothing.
func (o *OpusFile) Check() error {
	ended := false
	for _, at := range o.pages {
		p, _, err := o.page(at.offset, at.offset+oggMaxPage)
		if err != nil {
			o.lost(at.offset)
		}
		ended = err == nil && p.flags&oggLast != 0
	}
	if at := o.damage.Load(); at > 0 {
		return fmt.Errorf("it is damaged at byte %d", at-1)
	}
	if !ended {
		return ErrCutOff
	}
	return nil
}

// Samples returns the length at a rate of opusOutHz, rounded down.
func (o *OpusFile) Samples(rateHz int) int64 {
	if len(o.pages) == 0 {
		return 0
	}
	return max(0, o.pages[len(o.pages)-1].end-o.preSkip) * int64(rateHz) / opusHz
}

// Decode fills out with mono samples at a rate of opusOutHz, starting at position from; beyond
// the end there is silence. A position gives the same samples if the pieces begin at the same
// positions. It is safe for concurrent use.
func (o *OpusFile) Decode(out []float32, rateHz int, from int64) error {
	clear(out)
	scale := int64(opusHz / rateHz)
	begin := from*scale + o.preSkip // in the stream's own time
	end := min(begin+int64(len(out))*scale, o.preSkip+o.Samples(opusHz))
	first := o.seek(begin - opusLead)
	if begin >= end || first == len(o.pages) {
		return nil
	}
	dec, err := newOpusDecoder(rateHz, 1)
	if err != nil {
		return err
	}
	for ; first < len(o.pages) && o.pages[first].begin < end; first++ {
		at := o.pages[first].begin
		pcm := o.sound(dec, first, int((o.pages[first].end-at)/scale))
		skip, to := max(0, (begin-at)/scale), max(0, (at-begin)/scale)
		if skip < int64(len(pcm)) {
			copy(out[to:(end-begin)/scale], pcm[skip:])
		}
	}
	return nil
}

// seek returns the page that contains a time, or the one after a gap. A time before the
// beginning gives the first page.
func (o *OpusFile) seek(time int64) (page int) {
	for page < len(o.pages) && o.pages[page].end <= time {
		page++
	}
	return page
}

// sound decodes a page of so many samples, with silence where it is damaged.
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
	if err != nil {
		o.lost(o.pages[n].offset)
	}
	if err != nil && len(all) < samples {
		all = append(all, make([]float32, samples-len(all))...)
	}
	return all[:min(len(all), samples)]
}
