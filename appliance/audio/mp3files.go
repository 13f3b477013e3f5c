package audio

import (
	"bytes"
	"fmt"
	"slices"
)

const (
	// mp3Before is how much sound before a file is encoded with it and skipped by players: the
	// frame that overlaps its first one, and one that LAME needs to adapt. Together with the
	// delay of encoder and decoder, exactly three frames are skipped: ffmpeg does not handle a
	// sound that ends in the frame in which it begins.
	mp3Before = 3*mp3FrameSamples - lameDelay - mp3DecoderDelay
	// mp3After is how much sound is made up after it, for the same reason.
	mp3After = 2 * mp3FrameSamples
	// mp3LeastFrames is how many frames, besides the header, make a file recognisable as MP3:
	// ffmpeg warns about fewer, and does not play the shortest.
	mp3LeastFrames = 6
)

// MP3Files encodes a stream of sound as consecutive files that can each be played alone. Played
// one after the other, they give the sound without a gap or a step, to the sample. One
// goroutine uses it.
type MP3Files struct {
	rs     *Resampler
	before []float32 // the end of the sound in earlier files
}

// NewMP3Files returns an encoder of sound at 1 to MaxResampleHz Hz. Without libmp3lame, the
// error says how to install it.
func NewMP3Files(rateHz int) (*MP3Files, error) {
	rs, err := NewResampler(rateHz, MP3Hz)
	if err != nil {
		return nil, fmt.Errorf("mp3: %w", err)
	}
	return &MP3Files{rs: rs}, CheckMP3Encoder()
}

// Next returns the next samples, in [-1, 1], as a file; last marks the end. A file lacks the
// few last samples that the resampler still needs, which come with the next file.
func (f *MP3Files) Next(pcm []float32, last bool) ([]byte, error) {
	at := f.rs.Process(nil, pcm)
	if last {
		at = f.rs.Flush(at)
	}
	enc, err := openLAME(lameName)
	if err != nil {
		return nil, err
	}
	defer enc.free()
	if f.before == nil && len(at) < mp3LeastFrames*mp3FrameSamples {
		f.before = make([]float32, mp3Before)
	}
	var frames bytes.Buffer
	frames.Write(make([]byte, mp3FrameLen)) // for the header
	m := &MP3Writer{w: &frames, enc: enc, heard: len(f.before) + len(at)}
	if err := m.encode(slices.Clone(f.before), -1); err != nil {
		return nil, err
	}
	var after []float32
	if !last { // the sound continues, but is unknown yet: mirror it
		after = slices.Clone(at[max(0, len(at)-mp3After):])
		slices.Reverse(after)
	}
	behind, err := m.close(slices.Clone(at), after, mp3LeastFrames)
	if err != nil {
		return nil, err
	}
	info := mp3Info{
		frames:  m.frames,
		before:  lameDelay + len(f.before),
		behind:  behind,
		soundOf: m.soundOf,
	}
	copy(frames.Bytes(), info.frame())
	f.before = append(f.before, at...)
	f.before = slices.Clone(f.before[max(0, len(f.before)-mp3Before):])
	return frames.Bytes(), nil
}
