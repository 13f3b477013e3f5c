package audio

import (
	"errors"
	"fmt"
	"io"
)

const (
	// MP3Hz is the rate of all encoded MP3, the highest that MP3 has. At it, frames of a
	// constant bitrate all have the same length.
	MP3Hz = 48000
	// mp3BitsPerSecond is a constant bitrate, so that a stream can be cut and sought at any
	// frame and arrives at playback speed; a minute takes 720 kB. A voice at 22.05 kHz has a
	// signal-to-noise ratio of 40 dB (32 at 64 kbit/s), without a bit reservoir, which makes
	// frames depend on earlier ones.
	mp3BitsPerSecond = 96000
	// mp3Quality is LAME's search effort (0 is the most): at this bitrate the noise shaping of
	// 3 and 5 costs 4 dB, and twice the time. An hour of sound takes 20 s of a core.
	mp3Quality = 7

	mp3FrameSamples = 1152
	mp3FrameLen     = mp3FrameSamples / 8 * mp3BitsPerSecond / MP3Hz
	// lameDelay is how many samples LAME adds before the sound, and mp3DecoderDelay how many
	// every decoder adds. The header gives the first and implies the second.
	lameDelay       = 576
	mp3DecoderDelay = 529
)

// CheckMP3Encoder returns an error that says what this machine lacks to encode MP3, and how to
// install it; nil if nothing is missing.
func CheckMP3Encoder() error {
	l, err := openLAME(lameName)
	if err == nil {
		l.free()
	}
	return err
}

// MP3Writer encodes sound as an MP3 stream while it comes: 96 kbit/s, mono, MP3Hz, without gaps
// between the calls. Frames are written at most two frames after the sound, when LAME's
// lookahead allows, and do not depend on earlier ones, so that playback can start at any frame.
// One goroutine uses it; an MP3Writer that is not closed leaks nothing.
type MP3Writer struct {
	w       io.Writer
	enc     *lame
	rs      *Resampler
	pcm     []float32
	part    []byte // of an incomplete frame
	heard   int    // input samples at MP3Hz
	frames  int    // written, without the header
	soundOf uint16
	err     error
}

// NewMP3Writer writes the stream's header to w: an "Info" frame, which tells players where the
// sound begins. If w is an io.WriteSeeker that can seek, Close adds the length to it. Sound
// comes at 1 to MaxResampleHz Hz. Without libmp3lame, the error says how to install it.
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

// Write adds samples in [-1, 1], and writes the completed frames in one Write. An error is
// final: every later call returns it.
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

// fail stores the first error, and frees the encoder.
func (m *MP3Writer) fail(err error) {
	if err != nil && m.err == nil {
		m.err = err
		m.enc.free()
	}
}

// encode writes the frames of pcm, up to maxFrames in total unless that is negative.
func (m *MP3Writer) encode(pcm []float32, maxFrames int) error {
	for i, v := range pcm {
		pcm[i] = bounded(v)
	}
	made, err := m.enc.encode(pcm)
	if err != nil {
		return err
	}
	m.part = append(m.part, made...)
	n := len(m.part) / mp3FrameLen
	if maxFrames >= 0 {
		n = min(n, maxFrames-m.frames)
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

// Close writes the last frames, with silence after the sound, and the length in the header if w
// can seek. It does not close w. A second Close does nothing.
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
		return nil // a pipe: the header is valid without the length
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

// close encodes the last samples, and enough further ones, of after and then silence, to flush
// encoder and decoder and to make at least minFrames frames. It returns how many samples follow
// the sound.
func (m *MP3Writer) close(last, after []float32, minFrames int) (behind int, err error) {
	want := (m.heard + lameDelay + mp3DecoderDelay + mp3FrameSamples - 1) / mp3FrameSamples
	want = max(want, minFrames)
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
