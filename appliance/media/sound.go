package media

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"parley/appliance/audio"
)

// maxSample bounds a sample: a file of floating-point sound may hold anything.
const maxSample = 8

// Sound decodes the sound of a file: mono at SampleRate, in pieces of up to a second as they are
// decoded, each valid until emit returns. The first sample is at time 0 of the file, and gaps are
// silence. If channels cancel each other, the louder one is heard. emit may wait; ffmpeg then
// waits too. The error is an Error, ErrNoFFmpeg, or that of emit or ctx.
func (r *Reader) Sound(ctx context.Context, path string, emit func(pcm []float32) error) error {
	info, err := r.Probe(ctx, path)
	if err != nil {
		return err
	}
	if !info.HasSound {
		return faultf("the %s has no sound", info.Kind)
	}
	f, err := open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	j := job{
		program: "ffmpeg",
		cpu:     cpuFor(info.Duration),
		urgent:  r.Urgent,
		input:   f,
		kind:    info.Kind,
		args: []string{
			"-map", fmt.Sprintf("0:%d", info.sound),
			"-af", fmt.Sprintf("aresample=%d:async=1:first_pts=0", SampleRate),
			"-ac", fmt.Sprint(info.channels),
			"-f", "f32le", "pipe:1",
		},
	}
	samples := 0
	_, err = j.run(ctx, func(out io.Reader, _ *bufio.Reader) error {
		return readSound(out, info.channels, func(pcm []float32) error {
			if samples += len(pcm); samples > int(MaxDuration.Seconds())*SampleRate {
				return tooLong(info.Kind)
			}
			return emit(pcm)
		})
	})
	if err == nil && samples == 0 {
		return faultf("the sound is damaged: nothing of it could be decoded")
	}
	return err
}

// readSound reads interleaved samples, and emits them as mono.
func readSound(out io.Reader, channels int, emit func(pcm []float32) error) error {
	const piece = SampleRate // a second
	down := audio.NewDownmix(channels, SampleRate)
	raw := make([]byte, 4*channels*piece)
	frames := make([]float32, channels*piece)
	var mono []float32
	for {
		n, err := io.ReadFull(out, raw)
		if n > 0 {
			frames = frames[:n/(4*channels)*channels]
			for i := range frames {
				frames[i] = sample(raw[4*i:])
			}
			mono = down.Mix(mono[:0], frames)
			if err := emit(mono); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// sample parses a sample, without NaN and limited in level.
func sample(b []byte) float32 {
	v := math.Float32frombits(binary.LittleEndian.Uint32(b))
	if v != v {
		return 0
	}
	return min(max(v, -maxSample), maxSample)
}
