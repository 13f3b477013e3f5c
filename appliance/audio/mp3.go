package audio

import (
	"errors"
	"fmt"
)

const (
	// mp3MaxJunk is the largest gap between two frames: damage and unknown tags are skipped,
	// within bounds.
	mp3MaxJunk = 1 << 16
	// mp3MaxTag bounds an ID3v2 tag at the beginning, which may contain pictures; it is not
	// retained.
	mp3MaxTag = 64 << 20
	// mp3MaxHeld bounds what the decoder holds of a stream until it can continue: a frame has
	// at most 2 KiB, and a tag within the stream may contain a picture.
	mp3MaxHeld = 4 << 20
)

// mp3Parser decodes a stream of MPEG audio of all versions and layers.
type mp3Parser struct {
	tag    id3Tag
	dec    *decoderProcess
	held   int  // bytes in dec that wait for more
	rateHz int  // 0 before the first frame
	over   bool // the stream has as many frames as it announced
	quiet  int  // bytes since the last sound
}

// CheckMP3 returns an error that says what this machine lacks to decode MP3, and how to install
// it; nil if nothing is missing.
func CheckMP3() error {
	d, err := startDecoder(decodesMP3, mpg123Name)
	if err == nil {
		d.free()
	}
	return err
}

func (m *mp3Parser) feed(p []byte, to *sink) error {
	p, err := m.tag.strip(p)
	if err == nil {
		err = m.decode(p, to)
	}
	if err != nil {
		return fmt.Errorf("mp3: %w", err)
	}
	return nil
}

func (m *mp3Parser) end(*sink) error {
	if m.rateHz == 0 {
		return errors.New("mp3: the stream ends without a frame of MPEG audio")
	}
	return nil
}

// free ends the decoder's process.
func (m *mp3Parser) free() {
	if m.dec != nil {
		m.dec.free()
	}
}

func (m *mp3Parser) decode(p []byte, to *sink) (err error) {
	if m.dec == nil && len(p) > 0 {
		if m.dec, err = startDecoder(decodesMP3, mpg123Name); err != nil {
			return err
		}
	}
	for len(p) > 0 {
		n := min(len(p), 1<<14) // bounds what is decoded at once
		m.quiet += n
		if !m.over {
			if err := m.piece(p[:n], to); err != nil {
				return err
			}
		}
		p = p[n:]
		// The library resets its limit with each piece.
		switch {
		case m.held > mp3MaxHeld:
			return fmt.Errorf("%d bytes without a frame", m.held)
		case m.quiet-m.held > mp3MaxJunk:
			return errNoFrames
		}
	}
	return nil
}

// piece decodes a piece of the stream.
func (m *mp3Parser) piece(p []byte, to *sink) error {
	end, err := m.dec.ask(p, func(hz int) error {
		m.rateHz = hz
		return to.rate(hz)
	}, func(pcm []float32) error {
		m.quiet = 0
		return to.write(pcm)
	})
	m.over, m.held = end.well, end.held
	return err
}
