// Package audio decodes and encodes sound: PCM, WAV, Opus, AAC and MP3 in their containers,
// sample rates, loudness. It represents sound as mono float32 samples in [-1, 1].
package audio

import (
	"errors"
	"fmt"
	"time"
)

const (
	// MaxChannels is the largest number of channels of input audio: PulseAudio offers as many
	// for any microphone, and some programs then send them all.
	MaxChannels = 32
	// MinInputHz and MaxInputHz bound the sample rate of input audio. Below 4 kHz speech is
	// unintelligible, and a few bytes "at 1 Hz" would become hours; nothing records above 192
	// kHz.
	MinInputHz = 4000
	MaxInputHz = 192000
	// MaxDecode is how much audio one call of Decode may return. Live audio comes in pieces of
	// milliseconds; a longer piece is a file sent to the wrong endpoint, or an attempt to
	// exhaust memory: three bytes of Opus can stand for 120 ms.
	MaxDecode = 10 * time.Minute
	// maxFile bounds the result of DecodeAll, 512 MiB of samples: 2 h 19 min at 16 kHz.
	maxFile = 1 << 27
)

// ErrTooLong is the error of Decode and DecodeAll for more audio than they may return.
type ErrTooLong struct{ Max time.Duration }

func (e *ErrTooLong) Error() string {
	return fmt.Sprintf("audio: too long: at most %v are allowed at once", e.Max.Round(time.Second))
}

// Decoder decodes a stream of bytes, in pieces of any size, to mono samples at a fixed rate.
// One goroutine uses it. For AAC, Vorbis and MP3 it runs a process from their first frame until
// an error, Flush or Close.
type Decoder interface {
	// Decode decodes the next bytes and returns the samples that are complete with them, which
	// the caller owns. With an error it returns the samples before the fault. After an error
	// the Decoder returns the same error for ever; further audio needs a new Decoder. Decode
	// does not retain p.
	Decode(p []byte) ([]float32, error)
	// Flush ends the stream and returns its last samples.
	Flush() ([]float32, error)
	// Close ends a stream without its remaining samples. A Decoder that is not closed is closed
	// by the garbage collector eventually.
	Close()
}

// parser parses a format and writes its sound to a sink.
type parser interface {
	// feed parses the next bytes, in pieces of any size, and does not retain p.
	feed(p []byte, to *sink) error
	// end reports the end of the stream.
	end(to *sink) error
	// free releases resources other than memory. Afterwards only free may be called.
	free()
}

// decoder implements Decoder with a parser.
type decoder struct {
	parser parser
	sink   sink
	err    error
}

func newDecoder(p parser, outHz int) *decoder {
	return &decoder{parser: p, sink: newSink(outHz)}
}

func (d *decoder) Decode(p []byte) ([]float32, error) {
	if d.err != nil {
		return nil, d.err
	}
	if d.err = d.parser.feed(p, &d.sink); d.err != nil {
		d.parser.free()
	}
	return d.sink.take(), d.err
}

func (d *decoder) Flush() ([]float32, error) {
	if d.err != nil {
		return nil, d.err
	}
	err := d.parser.end(&d.sink)
	d.parser.free()
	if d.err = err; err == nil {
		d.err = errFlushed
	}
	d.sink.flush()
	return d.sink.take(), err
}

func (d *decoder) Close() {
	if d.err == nil {
		d.err = errClosed
	}
	d.parser.free()
}

var errClosed = errors.New("audio: the stream was closed; start a new decoder")

var errFlushed = errors.New("audio: the stream was flushed; start a new decoder")

// sink collects the sound that one call decodes, at the output rate.
type sink struct {
	outHz int
	max   int // samples in one call
	inHz  int
	rs    *Resampler
	down  *Downmix  // of channels; nil before the first samples
	mono  []float32 // the last result of down
	out   []float32
}

func newSink(outHz int) sink {
	return sink{outHz: outHz, max: int(MaxDecode.Seconds()) * outHz}
}

// rate sets the rate of the next samples. A stream must keep its rate: a change needs another
// filter, which costs far more to design than a header costs to send.
func (s *sink) rate(hz int) error {
	if hz < MinInputHz || hz > MaxInputHz {
		return fmt.Errorf("sample_rate is %d Hz; allowed are %d to %d Hz", hz, MinInputHz, MaxInputHz)
	}
	if hz == s.inHz {
		return nil
	}
	if s.inHz != 0 {
		return fmt.Errorf("sample_rate changes from %d to %d Hz within the stream", s.inHz, hz)
	}
	rs, err := NewResampler(hz, s.outHz)
	if err != nil {
		return err
	}
	s.inHz, s.rs = hz, rs
	return nil
}

// free returns how many more samples, at the input's rate, this call may return.
func (s *sink) free() int {
	return int(int64(s.max-len(s.out)) * int64(s.inHz) / int64(s.outHz))
}

// write adds samples at the current rate.
func (s *sink) write(pcm []float32) error {
	if len(pcm) > s.free() {
		return &ErrTooLong{time.Duration(s.max) * time.Second / time.Duration(s.outHz)}
	}
	s.out = s.rs.Process(s.out, pcm)
	return nil
}

// writeFrames adds complete frames of interleaved channels, mixed down.
func (s *sink) writeFrames(frames []float32, channels int) error {
	if s.down == nil || s.down.channels != channels {
		s.down = NewDownmix(channels, s.inHz)
	}
	s.mono = s.down.Mix(s.mono[:0], frames)
	return s.write(s.mono)
}

// flush adds what the resampler still holds.
func (s *sink) flush() {
	if s.rs != nil {
		s.out = s.rs.Flush(s.out)
	}
}

func (s *sink) take() []float32 {
	out := s.out
	s.out = nil
	return out
}

// dropFront moves what follows the first n bytes of b to its front. It does nothing for n = 0,
// for streams that come byte by byte.
func dropFront(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	return b[:copy(b, b[n:])]
}
