package audio

import (
	"bytes"
	"fmt"
)

// id3Tag removes the ID3v2 tag at the beginning of a stream, without storing it. The decoder
// would buffer the whole tag.
type id3Tag struct {
	head   []byte // header of the stream, or of a frame of the tag, until it is identified
	frames bool   // in a tag of length 0, whose frames are parsed
	ended  bool   // the tag has ended, or there is none
	skip   int    // bytes still to be skipped
	total  int    // bytes of frames, skipped or to be skipped
	plain  bool   // frame lengths use 8 bits per byte, as in version 2.3
}

// id3Len is the length of the header of an ID3v2 tag, and of a frame in it.
const id3Len = 10

// strip returns the part of p after the tag.
func (t *id3Tag) strip(p []byte) ([]byte, error) {
	for {
		n := min(t.skip, len(p))
		t.skip, p = t.skip-n, p[n:]
		if t.ended || len(p) == 0 {
			return p, nil
		}
		n = min(len(p), id3Len-len(t.head))
		t.head, p = append(t.head, p[:n]...), p[n:]
		if t.isHeader() && len(t.head) < id3Len {
			return nil, nil
		}
		if !t.isHeader() {
			t.ended = true
			return append(t.head[:len(t.head):len(t.head)], p...), nil
		}
		if err := t.parseHeader(t.head); err != nil {
			return nil, err
		}
		t.head = t.head[:0]
	}
}

// isHeader reports whether head, as far as it is complete, is the header of a tag or of a
// frame.
func (t *id3Tag) isHeader() bool {
	if !t.frames {
		return bytes.HasPrefix([]byte("ID3"), t.head[:min(3, len(t.head))])
	}
	for _, c := range t.head[:min(4, len(t.head))] {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// parseHeader parses a complete header to find how much to skip. A program that writes to a pipe does
// not know the length of the tag and leaves 0 there (ffmpeg does with a picture), so its frames
// are parsed instead.
func (t *id3Tag) parseHeader(h []byte) error {
	if !t.frames {
		t.skip = synchsafe(h[6:])
		t.frames, t.ended, t.plain = t.skip == 0, t.skip > 0, h[3] < 4
		if h[5]&0x10 != 0 { // a footer
			t.skip += id3Len
		}
	} else {
		t.skip = synchsafe(h[4:])
		if t.plain {
			t.skip = int(h[4])<<24 | int(h[5])<<16 | int(h[6])<<8 | int(h[7])
		}
	}
	if t.total += t.skip; t.total > mp3MaxTag {
		return fmt.Errorf("tag of %d bytes; at most %d are skipped", t.total, mp3MaxTag)
	}
	return nil
}

// synchsafe parses a number of four bytes with seven bits each.
func synchsafe(b []byte) int {
	return int(b[0]&0x7f)<<21 | int(b[1]&0x7f)<<14 | int(b[2]&0x7f)<<7 | int(b[3]&0x7f)
}
