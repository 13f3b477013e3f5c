package audio

import (
	"errors"
	"fmt"
	"io"
)

const (
	// MP3Hz is the rate of all MP3 that is made here, the highest there is. At it
	// a frame of a constant bitrate has always the same length.
	MP3Hz = 48000
	// mp3BitsPerSecond is a constant bitrate, so that a stream can be cut and
	// sought at any frame and comes at the pace at which it is heard; a minute
	// takes 720 kB. Of a voice of 22.05 kHz 40 dB of signal to noise are left (at
	// 64 kbit/s 32), without a reservoir, which lets frames lean on earlier ones.
	mp3BitsPerSecond = 96000
	// mp3Quality says how hard LAME searches (0 the hardest): at this bitrate
	// the noise shaping that 3 and 5 add costs 4 dB, and twice the time. So an hour
	// of sound takes a core 20 s.
	mp3Quality = 7

	mp3FrameSamples = 1152
	mp3FrameLen     = mp3FrameSamples / 8 * mp3BitsPerSecond / MP3Hz
	// lameDelay is how many samples LAME puts before the sound, and
	// mp3DecoderDelay how many every decoder does. Both are in the mirror of the
	// filters, and the header that tells of the first takes the second for known.
	lameDelay       = 576
	mp3DecoderDelay = 529
)

// CheckMP3Encoder says what is missing on this machine to encode MP3, and how to
// install it; nil: nothing.
func CheckMP3Encoder() error {
	l, err := openLAME(lameName)
	if err == nil {
		l.free()
	}
	return err
}

// An MP3Writer encodes sound as one stream of MP3 while it comes: 96 kbit/s,
// mono, MP3Hz, without a gap however the sound is cut into calls. Frames leave
// as soon as LAME has looked ahead far enough, two frames behind the sound at most, and no
// frame leans on bytes of earlier ones, so what is cut off at any of them can be
// played from there. One goroutine uses it; who does not Close it leaks nothing.
type MP3Writer struct {
	w       io.Writer
	enc     *lame
	rs      *Resampler
	pcm     []float32
	part    []byte // of a frame that is not whole
	heard   int    // samples at MP3Hz
	frames  int    // written, without the header
	soundOf uint16
	err     error
}

// NewMP3Writer writes the stream's header to w: an "Info" frame, which tells
// players where the sound begins. Close goes back to it, to tell the length, when
// w is an io.WriteSeeker that can seek. Sound comes at 1 to MaxResampleHz Hz. A
// machine without libmp3lame gets an error that says how to install it.
func NewMP3Writer(w io.Writer, rateHz int) (*MP3Writer, error) {
	rs, err := NewResampler(rateHz, MP3Hz)
	if err != nil {
		return nil, fmt.Errorf("mp3: %w", err)
	}
	enc, err := openLAME(lameName)
	if err != nil {
		return nil, err
	}
	m := &MP3Writer{w: w, enc: enc, rs: rs}
	if _, err := w.Write(mp3Info{before: lameDelay}.frame()); err != nil {
		enc.free()
		return nil, fmt.Errorf("mp3: write header: %w", err)
	}
	return m, nil
}

// Write adds samples in [-1, 1], and writes the frames that are whole with them
// in one Write. An error is final: every later call returns it.
func (m *MP3Writer) Write(pcm []float32) error {
	for len(pcm) > 0 && m.err == nil { // in pieces, so that the buffers stay small
		n := min(len(pcm), 1<<14)
		m.pcm = m.rs.Process(m.pcm[:0], pcm[:n])
		m.heard += len(m.pcm)
		m.fail(m.encode(m.pcm, -1))
		pcm = pcm[n:]
	}
	return m.err
}

// fail keeps the first error, and gives the encoder back with it.
func (m *MP3Writer) fail(err error) {
	if err != nil && m.err == nil {
		m.err = err
		m.enc.free()
	}
}

// encode writes the frames that come of pcm, until there are most of them in all
// where most is not negative.
func (m *MP3Writer) encode(pcm []float32, most int) error {
	for i, v := range pcm {
		pcm[i] = bounded(v)
	}
	made, err := m.enc.encode(pcm)
	if err != nil {
		return err
	}
	m.part = append(m.part, made...)
	n := len(m.part) / mp3FrameLen
	if most >= 0 {
		n = min(n, most-m.frames)
	}
	if n == 0 {
		return nil
	}
	whole := m.part[:n*mp3FrameLen]
	m.soundOf = crc16(m.soundOf, whole)
	m.frames += n
	if _, err := m.w.Write(whole); err != nil {
		return fmt.Errorf("mp3: write frames: %w", err)
	}
	m.part = dropFront(m.part, len(whole))
	return nil
}

// Close writes the last frames, silence behind the sound as far as these reach,
// and the length into the header if that can be sought. It does not close what
// it writes to. A second Close does nothing.
func (m *MP3Writer) Close() error {
	if m.err != nil {
		if errors.Is(m.err, errMP3Closed) {
			return nil
		}
		return m.err
	}
	err := m.finish()
	m.fail(errMP3Closed)
	return err
}

func (m *MP3Writer) finish() error {
	m.pcm = m.rs.Flush(m.pcm[:0])
	m.heard += len(m.pcm)
	behind, err := m.close(m.pcm, nil, 1)
	if err != nil {
		return err
	}
	ws, ok := m.w.(io.WriteSeeker)
	if !ok {
		return nil
	}
	all := int64(m.frames+1) * mp3FrameLen
	if _, err := ws.Seek(-all, io.SeekCurrent); err != nil {
		return nil // a pipe: the header stays as it is, and is valid
	}
	info := mp3Info{
		frames:  m.frames,
		before:  lameDelay,
		behind:  behind,
		soundOf: m.soundOf,
	}
	if _, err := ws.Write(info.frame()); err != nil {
		return fmt.Errorf("mp3: complete header: %w", err)
	}
	if _, err := ws.Seek(all-mp3FrameLen, io.SeekCurrent); err != nil {
		return fmt.Errorf("mp3: return to the end: %w", err)
	}
	return nil
}

// close encodes the last samples, and then so many more, first those of after,
// then silence, as bring the sound out of encoder and decoder, and as make so many
// frames at least. It says how many samples are behind the sound.
func (m *MP3Writer) close(last, after []float32, least int) (behind int, err error) {
	want := (m.heard + lameDelay + mp3DecoderDelay + mp3FrameSamples - 1) / mp3FrameSamples
	want = max(want, least)
	if err := m.encode(append(last, after...), want); err != nil {
		return 0, err
	}
	for m.frames < want {
		if err := m.encode(make([]float32, mp3FrameSamples), want); err != nil {
			return 0, err
		}
	}
	return want*mp3FrameSamples - lameDelay - m.heard, nil
}

var errMP3Closed = errors.New("mp3: writer is closed")
