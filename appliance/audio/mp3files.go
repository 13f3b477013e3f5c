package audio

import (
	"bytes"
	"fmt"
	"slices"
)

const (
	// mp3Before is how much of the sound before a file is encoded with it and
	// left out by players: the frame that overlaps its first, and one that tells
	// LAME what it hears. With what encoder and decoder put before it, three frames
	// are left out, exactly: ffmpeg would not know of a sound that ends in the
	// frame in which it begins.
	mp3Before = 3*mp3FrameSamples - lameDelay - mp3DecoderDelay
	// mp3After is how much is made up behind it, for the same end.
	mp3After = 2 * mp3FrameSamples
	// mp3LeastFrames, and the header, make a file that is surely known as MP3:
	// ffmpeg warns of fewer, and does not play the shortest.
	mp3LeastFrames = 6
)

// MP3Files encodes a stream of sound as files one after the other, each of which
// can be played by itself: what players make of them, joined, is the sound
// without a gap or a step, to the sample. One goroutine uses it.
type MP3Files struct {
	rs     *Resampler
	before []float32 // the end of what earlier files hold
}

// NewMP3Files takes sound at 1 to MaxResampleHz Hz. A machine without libmp3lame
// gets an error that says how to install it.
func NewMP3Files(rateHz int) (*MP3Files, error) {
	rs, err := NewResampler(rateHz, MP3Hz)
	if err != nil {
		return nil, fmt.Errorf("mp3: %w", err)
	}
	return &MP3Files{rs: rs}, CheckMP3Encoder()
}

// Next returns the next samples, in [-1, 1], as a file; last says that no more
// follow. A file is shorter than its samples by the few that the change of the
// rate still needs, which come with the next.
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
	if !last { // the sound goes on, and nobody knows how: as it came, backwards
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
