package audio

import (
	"errors"
	"fmt"
)

const (
	// mp3MaxJunk is how far apart two frames may be: damaged places and tags
	// that are not known are passed over, but not without end.
	mp3MaxJunk = 1 << 16
	// mp3MaxTag bounds an ID3v2 tag at the beginning, which holds pictures; it
	// is not kept.
	mp3MaxTag = 64 << 20
	// mp3MaxHeld bounds what the decoder keeps of a stream until it can go on:
	// a frame has 2 KiB at most, and a tag within the stream may hold a picture.
	mp3MaxHeld = 4 << 20
)

// An mp3Parser decodes a stream of MPEG audio, of all versions and layers, as
// its bytes come.
type mp3Parser struct {
	tag    id3Tag
	dec    *mpg123
	pcm    []float32
	rateHz int  // 0 before the first frame
	over   bool // the stream has all the frames that it said it would have
	quiet  int  // bytes since the last that made sound
}

// CheckMP3 says what is missing on this machine to decode MP3, and how to
// install it; nil: nothing.
func CheckMP3() error {
	m, err := openMPG123(mpg123Name, mp3MaxJunk)
	if err == nil {
		m.free()
	}
	return err
}

func newMP3Parser() *mp3Parser { return &mp3Parser{pcm: make([]float32, 1152)} }

func (m *mp3Parser) feed(p []byte, to *sink) error {
	p, err := m.tag.leaveOut(p)
	if err == nil {
		err = m.decode(p, to)
	}
	if err != nil {
		m.free()
		return fmt.Errorf("mp3: %w", err)
	}
	return nil
}

func (m *mp3Parser) end(*sink) error {
	m.free()
	if m.rateHz == 0 {
		return errors.New("mp3: the stream ends without a frame of MPEG audio")
	}
	return nil
}

// free gives the decoder's memory back, of which Go's collector does not know.
// A stream that ended or failed is not fed again.
func (m *mp3Parser) free() {
	if m.dec != nil {
		m.dec.free()
	}
}

func (m *mp3Parser) decode(p []byte, to *sink) (err error) {
	if m.dec == nil && len(p) > 0 {
		if m.dec, err = openMPG123(mpg123Name, mp3MaxJunk); err != nil {
			return err
		}
	}
	for len(p) > 0 {
		n := min(len(p), 1<<14) // so that what is decoded stays small
		m.quiet += n
		if !m.over {
			if err := m.dec.feed(p[:n]); err != nil {
				return err
			}
			if err := m.drain(to); err != nil {
				return err
			}
		}
		p = p[n:]
		// The library's own limit begins anew with each piece.
		switch held := m.dec.held(); {
		case held > mp3MaxHeld:
			return fmt.Errorf("%d bytes without a frame", held)
		case m.quiet-held > mp3MaxJunk:
			return errNoFrames
		}
	}
	return nil
}

// drain plays what the decoder has.
func (m *mp3Parser) drain(to *sink) error {
	for {
		n, why, err := m.dec.read(m.pcm)
		if n > 0 {
			m.quiet = 0
			if err := to.write(m.pcm[:n]); err != nil {
				return err
			}
		}
		switch {
		case err != nil:
			return err
		case why == mpg123NeedMore:
			return nil
		case why == mpg123Done:
			m.over = true
			return nil
		case why == mpg123NewFormat:
			if m.rateHz, err = m.dec.rate(); err != nil {
				return err
			}
			if err := to.rate(m.rateHz); err != nil {
				return err
			}
		}
	}
}
