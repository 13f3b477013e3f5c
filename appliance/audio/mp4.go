package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

const (
	// mp4MaxIndex bounds the list of tracks and samples (moov), which is held whole: three
	// hours of AAC are 2 MiB. mp4MaxFragment bounds that of one fragment (moof): twenty
	// minutes. mp4MaxBrand bounds ftyp: browsers write 32 bytes.
	mp4MaxIndex    = 2 << 20
	mp4MaxFragment = 1 << 20
	mp4MaxBrand    = 1 << 10
	// mp4MaxSample bounds one sample: the longest Opus packet is 61 kB.
	mp4MaxSample = 1 << 16
	// mp4ToEnd is the size of a box that extends to the end of the stream.
	mp4ToEnd = math.MaxInt64
)

// mp4Parser plays the first AAC or Opus track of an MP4 or QuickTime stream: fragments, as
// browsers record (moov, then moof and mdat repeatedly), and files whose index precedes their
// sound. It holds at most one incomplete box or sample. A stream that begins again (a restarted
// recorder) is continued.
type mp4Parser struct {
	buf    []byte
	offset int64 // of buf in the stream
	begun  int64 // where the file began: offsets in its index are relative to it
	brand  []byte
	track  *mp4Track // nil before the index
	early  bool      // the index was parsed before the stream
	rest   int64     // remaining bytes of the open box
	sound  bool      // the open box contains samples

	aac  avTrack
	opus opusTrack
}

func newMP4Parser() parser { return &mp4Parser{} }

// readLateIndex returns a parser for a whole file whose index follows its sound, as cameras and
// phones write it, or nil for other files.
func readLateIndex(data []byte) (*mp4Parser, error) {
	var brand []byte
	for at, sound := int64(0), false; at < int64(len(data)); {
		b := data[at:]
		kind, _, size, err := mp4Head(b)
		switch whole := err == nil && size <= int64(len(b)); {
		case !whole && (sound || err == nil && kind == "mdat"):
			return nil, errNoIndex
		case !whole:
			return nil, nil // the stream parser reports what is wrong
		}
		switch {
		case kind == "ftyp" && size <= mp4MaxBrand:
			brand = b[:size]
		case kind == "mdat":
			sound = true
		case kind == "moov" && !sound:
			return nil, nil
		case kind == "moov":
			if size > mp4MaxIndex {
				return nil, fmt.Errorf("mp4: its index (moov) has %d bytes; at most %d are allowed", size, mp4MaxIndex)
			}
			track, err := readMP4Index(brand, b[:size])
			if err != nil {
				return nil, fmt.Errorf("mp4: %w", err)
			}
			m := &mp4Parser{early: true}
			m.play(track)
			return m, nil
		}
		at += size
		if sound && at == int64(len(data)) {
			return nil, errNoIndex
		}
	}
	return nil, nil
}

// errNoIndex is the error for a truncated file.
var errNoIndex = errors.New("mp4: it is cut off: its index (moov), which comes last in such a file, is missing")

func (m *mp4Parser) feed(p []byte, to *sink) error {
	for {
		n := min(len(p), max(1<<16-len(m.buf), 1<<12)) // so that a large p is not moved repeatedly
		m.buf, p = append(m.buf, p[:n]...), p[n:]
		used, err := m.parse(m.buf, to)
		m.offset += int64(used)
		m.buf = dropFront(m.buf, used)
		if !errors.Is(err, errMore) {
			return fmt.Errorf("mp4: at byte %d: %w", m.offset, err)
		}
		if len(p) == 0 {
			return nil
		}
	}
}

func (m *mp4Parser) free() { m.aac.free() }

func (m *mp4Parser) end(*sink) error {
	if m.track == nil {
		return errors.New("mp4: the stream ends before its index (moov)")
	}
	return nil
}

// parse parses complete boxes and samples at the beginning of b, and returns their length.
func (m *mp4Parser) parse(b []byte, to *sink) (used int, err error) {
	for err == nil {
		var n int
		if m.rest > 0 {
			n, err = m.inside(b[used:], m.offset+int64(used), to)
		} else {
			n, err = m.box(b[used:], m.offset+int64(used))
		}
		used += n
	}
	return used, err
}

// inside plays or skips data of the open box at a position in the stream.
func (m *mp4Parser) inside(b []byte, at int64, to *sink) (used int, err error) {
	until := at + m.rest // end of the available data of the box
	if m.rest == mp4ToEnd {
		until = mp4ToEnd
	}
	next := until // position of the next sample to play
	var s mp4Sample
	if m.sound {
		var ok bool
		if s, ok, err = m.track.next(); err != nil {
			return 0, err
		}
		if ok && s.at+m.begun < until {
			next = s.at + m.begun
		}
	}
	switch {
	case next < at:
		return 0, fmt.Errorf("a sample of sound is at byte %d, within what came before", next)
	case next > at || next == until:
		n := int(min(next-at, int64(len(b))))
		m.pass(n)
		if n == 0 {
			return 0, errMore
		}
		return n, nil
	case s.size > mp4MaxSample:
		return 0, fmt.Errorf("sample of %d bytes; at most %d are allowed", s.size, mp4MaxSample)
	case next+int64(s.size) > until:
		return 0, fmt.Errorf("a sample of %d bytes ends behind the box that holds it", s.size)
	case len(b) < s.size:
		return 0, errMore
	}
	m.track.done()
	m.pass(s.size)
	if m.track.opus {
		return s.size, m.opus.decode(b[:s.size], 0, to)
	}
	return s.size, m.aac.decode(b[:s.size], to)
}

// pass records that so many bytes of the open box are done.
func (m *mp4Parser) pass(n int) {
	if m.rest != mp4ToEnd {
		m.rest -= int64(n)
	}
}

// box handles the box at the beginning of b, which is at a position in the stream: it parses
// it, or opens it to be played or skipped.
func (m *mp4Parser) box(b []byte, at int64) (used int, err error) {
	kind, head, size, err := mp4Head(b)
	if err != nil {
		return 0, err
	}
	switch kind {
	case "ftyp":
		return m.whole(b, kind, size, mp4MaxBrand, func(box []byte) error {
			m.begun, m.brand = at, append([]byte(nil), box...)
			return nil
		})
	case "moov":
		return m.whole(b, kind, size, mp4MaxIndex, m.index)
	case "moof":
		if m.track == nil {
			return 0,
				errors.New("a fragment (moof) comes before the index (moov): send the recording from its first byte")
		}
		return m.whole(b, kind, size, mp4MaxFragment, func(box []byte) error {
			return m.track.fragment(box, at-m.begun)
		})
	case "mdat":
		if m.track == nil {
			return 0, errors.New("the sound comes before its index (moov): write the index first (ffmpeg: -movflags " +
				"+faststart), or record in fragments as MediaRecorder does")
		}
	}
	m.sound, m.rest = kind == "mdat", mp4ToEnd
	if size != mp4ToEnd {
		m.rest = size - int64(head)
	}
	return head, nil
}

// whole calls do with a box, including its header, once it is complete.
func (m *mp4Parser) whole(b []byte, kind string, size, limit int64, do func([]byte) error) (int, error) {
	if size == mp4ToEnd {
		return 0, fmt.Errorf("box %q has no size; only what holds the sound (mdat) may leave it open", kind)
	}
	if size > limit {
		return 0, fmt.Errorf("box %q of %d bytes; at most %d are allowed", kind, size, limit)
	}
	if int64(len(b)) < size {
		return 0, errMore
	}
	return int(size), do(b[:size])
}

// index chooses the track to play.
func (m *mp4Parser) index(moov []byte) error {
	if m.early {
		return nil
	}
	track, err := readMP4Index(m.brand, moov)
	if err != nil {
		return err
	}
	m.play(track)
	return nil
}

func (m *mp4Parser) play(track *mp4Track) {
	m.track = track
	if track.opus {
		m.opus.begin(track.head)
	} else {
		m.aac.begin(track.config, track.skip)
	}
}

// mp4Head parses the header of a box: its kind, the length of the header, and the size of the
// box including it (ISO 14496-12, 4.2).
func mp4Head(b []byte) (kind string, head int, size int64, err error) {
	if len(b) < 8 {
		return "", 0, 0, errMore
	}
	for _, c := range b[4:8] {
		if (c < ' ' || c > '~') && c != 0xa9 {
			return "", 0, 0, fmt.Errorf("no box begins with % x", b[:8])
		}
	}
	kind, head = string(b[4:8]), 8
	switch n := binary.BigEndian.Uint32(b); n {
	case 0:
		return kind, head, mp4ToEnd, nil
	case 1:
		if len(b) < 16 {
			return "", 0, 0, errMore
		}
		long := binary.BigEndian.Uint64(b[8:])
		if long > 1<<48 { // 256 TiB, so that stream positions cannot overflow
			return "", 0, 0, fmt.Errorf("box %q of %d bytes", kind, long)
		}
		head, size = 16, int64(long)
	default:
		size = int64(n)
	}
	if size < int64(head) {
		return "", 0, 0, fmt.Errorf("box %q of %d bytes is shorter than its header", kind, size)
	}
	return kind, head, size, nil
}
