package audio

import (
	"errors"
	"fmt"
)

// The elements of Matroska that are parsed (RFC 9559, 5). All others are skipped.
const (
	mkvSegment     = 0x18538067
	mkvTracks      = 0x1654AE6B
	mkvCluster     = 0x1F43B675
	mkvBlockGroup  = 0xA0
	mkvBlock       = 0xA1
	mkvSimpleBlock = 0xA3
	mkvDiscard     = 0x75A2
)

const (
	// mkvMaxHeader bounds the EBML header and the list of tracks, which are held whole:
	// browsers write less than 200 bytes.
	mkvMaxHeader = 1 << 18
	// mkvMaxBlock bounds a block of sound: the longest Opus packet is 61 kB, and a block may
	// have several.
	mkvMaxBlock = 1 << 19
)

// webmParser plays the first Opus or Vorbis track of a Matroska or WebM stream. It holds at
// most one incomplete element, and only needed ones. A stream that begins again (a restarted
// recorder) is continued.
type webmParser struct {
	buf    []byte
	offset int64 // of buf in the stream
	skip   int64 // bytes to skip
	open   []ebmlElement
	track  *mkvTrack
	opus   opusTrack
	vorbis avTrack

	group   []byte // the block of an open BlockGroup
	discard int64  // discard padding of the group, in ns
}

// ebmlElement is the header of an element; end is its end position in the stream.
type ebmlElement struct {
	id  uint32
	end int64
}

func (w *webmParser) feed(p []byte, to *sink) error {
	for {
		n := min(len(p), max(1<<16-len(w.buf), 1<<12)) // so that a large p is not moved repeatedly
		w.buf, p = append(w.buf, p[:n]...), p[n:]
		used, err := w.parse(w.buf, to)
		w.offset += int64(used)
		w.buf = dropFront(w.buf, used)
		if err != nil && err != errMore {
			return fmt.Errorf("webm: at byte %d: %w", w.offset, err)
		}
		if len(p) == 0 {
			return nil
		}
	}
}

func (w *webmParser) free() { w.vorbis.free() }

func (w *webmParser) end(to *sink) error {
	if w.track == nil {
		return errors.New("webm: the stream ends before its list of tracks")
	}
	return w.endGroup(to)
}

// parse parses complete elements at the beginning of b, and returns their length.
func (w *webmParser) parse(b []byte, to *sink) (used int, err error) {
	for err == nil {
		if w.skip > 0 {
			n := int(min(w.skip, int64(len(b)-used)))
			w.skip -= int64(n)
			used += n
			if w.skip > 0 {
				return used, errMore
			}
		}
		if err := w.close(w.offset+int64(used), to); err != nil {
			return used, err
		}
		var n int
		n, err = w.element(b[used:], w.offset+int64(used), to)
		used += n
	}
	return used, err
}

// close leaves the elements that end at a position in the stream.
func (w *webmParser) close(at int64, to *sink) error {
	for len(w.open) > 0 && w.open[len(w.open)-1].end <= at {
		if err := w.pop(to); err != nil {
			return err
		}
	}
	return nil
}

func (w *webmParser) pop(to *sink) error {
	last := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	if last.id == mkvBlockGroup {
		return w.endGroup(to)
	}
	return nil
}

// element handles the element at the beginning of b, which is at a position in the stream: it
// enters it, plays it, or skips it.
func (w *webmParser) element(b []byte, at int64, to *sink) (used int, err error) {
	id, head, size, err := ebmlHead(b)
	if err != nil {
		return 0, err
	}
	for len(w.open) > 0 && !mkvChild(w.open[len(w.open)-1].id, id) && w.open[len(w.open)-1].end == ebmlUnknown {
		if err := w.pop(to); err != nil {
			return 0, err
		}
	}
	end := int64(ebmlUnknown)
	if size != ebmlUnknown {
		end = at + int64(head) + size
	}
	parent := uint32(0)
	if n := len(w.open); n > 0 {
		parent = w.open[n-1].id
		if size != ebmlUnknown && end > w.open[n-1].end {
			return 0, fmt.Errorf("element %#x of %d bytes is longer than the element around it", id, size)
		}
	}
	switch {
	case id == mkvSegment && parent == 0, id == mkvCluster && parent == mkvSegment,
		id == mkvBlockGroup && parent == mkvCluster:
		if size == ebmlUnknown && id == mkvBlockGroup {
			break
		}
		w.open = append(w.open, ebmlElement{id, end})
		return head, nil
	case size == ebmlUnknown:
		break
	case id == ebmlHeader && parent == 0:
		return w.whole(b, head, size, mkvMaxHeader, checkDocType)
	case id == mkvTracks && parent == mkvSegment:
		return w.whole(b, head, size, mkvMaxHeader, w.tracks)
	case id == mkvSimpleBlock && parent == mkvCluster:
		return w.block(b, head, size, func(body []byte) error { return w.play(body, 0, to) })
	case id == mkvBlock && parent == mkvBlockGroup:
		return w.block(b, head, size, func(body []byte) error {
			w.group = append(w.group[:0], body...)
			return nil
		})
	case id == mkvDiscard && parent == mkvBlockGroup:
		return w.whole(b, head, size, 8, func(body []byte) error {
			w.discard = ebmlInt(body)
			return nil
		})
	case parent == 0 && id != ebmlVoid && id != ebmlCRC:
		return 0, fmt.Errorf("element %#x outside a Segment", id)
	default:
		w.skip = size
		return head, nil
	}
	return 0, fmt.Errorf("element %#x has no size; only Segment and Cluster may leave it open", id)
}

// whole calls do with the body of an element once it is complete.
func (w *webmParser) whole(b []byte, head int, size, limit int64, do func([]byte) error) (int, error) {
	if size > limit {
		return 0, fmt.Errorf("element of %d bytes; at most %d are allowed", size, limit)
	}
	if int64(len(b)-head) < size {
		return 0, errMore
	}
	return head + int(size), do(b[head : head+int(size)])
}

// block calls do with a block of the track, and skips those of other tracks, possibly video,
// without holding them.
func (w *webmParser) block(b []byte, head int, size int64, do func([]byte) error) (int, error) {
	if w.track == nil {
		return 0, errors.New("a block comes before the list of tracks")
	}
	number, _, err := ebmlVint(b[head:min(len(b), head+int(min(size, 8)))])
	if err == errMore && int64(len(b)-head) >= size {
		return 0, fmt.Errorf("block of %d bytes has no track number", size)
	}
	if err != nil {
		return 0, err
	}
	if number != w.track.number {
		w.skip = size
		return head, nil
	}
	return w.whole(b, head, size, mkvMaxBlock, do)
}

// endGroup plays the block of a completed BlockGroup.
func (w *webmParser) endGroup(to *sink) error {
	group, discard := w.group, w.discard
	w.group, w.discard = w.group[:0], 0
	if len(group) == 0 {
		return nil
	}
	return w.play(group, discard, to)
}

func (w *webmParser) tracks(body []byte) error {
	t, err := findTrack(body)
	if err != nil {
		return err
	}
	w.track = t
	if t.vorbis != nil {
		w.vorbis.codec = avCodecVorbis
		w.vorbis.begin(t.vorbis, 0)
		return nil
	}
	w.opus.begin(t.head)
	return nil
}

// mkvChild reports whether an element may be a child of a parent of unknown size: any other
// element ends the parent.
func mkvChild(parent, id uint32) bool {
	switch id {
	case ebmlHeader, mkvSegment:
		return false
	case mkvCluster, mkvTracks, 0x114D9B74, 0x1549A966, 0x1C53BB6B, 0x1941A469, 0x1043A770, 0x1254C367:
		return parent == mkvSegment // with SeekHead, Info, Cues, Attachments, Chapters, Tags
	}
	return true
}
