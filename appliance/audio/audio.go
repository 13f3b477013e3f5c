// Package audio turns sound into numbers and back: PCM, WAV, Opus, AAC and MP3 in
// their containers, sample rates, loudness. Its currency is mono float32 samples
// in [-1, 1].
package audio

import (
	"errors"
	"fmt"
	"time"
)

const (
	// MaxChannels is the most channels of input audio: what PulseAudio offers for any
	// microphone, and programs that ask for all there are then send.
	MaxChannels = 32
	// MinInputHz and MaxInputHz bound the sample rate of input audio. Below
	// 4 kHz no speech can be understood, and a few bytes "at 1 Hz" would become
	// hours; above 192 kHz nothing records.
	MinInputHz = 4000
	MaxInputHz = 192000
	// MaxDecode is the most audio that one call of Decode gives. Live audio
	// comes in pieces of milliseconds; a piece that becomes longer than this is
	// a file in the wrong place, or made to fill the memory: three bytes of
	// Opus can stand for 120 ms.
	MaxDecode = 10 * time.Minute
	// maxFile bounds what DecodeAll returns, 512 MiB of samples: 2 h 19 min at
	// 16 kHz.
	maxFile = 1 << 27
)

// ErrTooLong is in the error of Decode and DecodeAll when there is more audio
// than they give.
type ErrTooLong struct{ Max time.Duration }

func (e *ErrTooLong) Error() string {
	return fmt.Sprintf("audio: too long: at most %v are taken at once", e.Max.Round(time.Second))
}

// A Decoder turns a stream of bytes, cut anywhere, into mono samples at the
// rate it was made for. It is used by one goroutine. For AAC, Vorbis and MP3 it
// has a process from their first frame to an error, to Flush or to Close.
type Decoder interface {
	// Decode takes the next bytes and returns the samples that can be told
	// with them, which the caller owns. Beside an error it returns the samples
	// before the fault. After an error the Decoder returns the same error for
	// ever: audio that goes on needs a new one. It does not keep p.
	Decode(p []byte) ([]float32, error)
	// Flush ends the stream and returns its last samples.
	Flush() ([]float32, error)
	// Close ends a stream of which nobody wants the rest. One that is forgotten
	// is closed by Go's collector, some time.
	Close()
}

// A parser takes a format apart and puts its sound into a sink.
type parser interface {
	// feed takes the next bytes, cut anywhere, and does not keep p.
	feed(p []byte, to *sink) error
	// end says that there are no more bytes.
	end(to *sink) error
	// free ends what the parser has beside memory. Nothing is called after it,
	// but it itself.
	free()
}

// decoder makes a Decoder of a parser.
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

// A sink collects what one call decodes, at the wanted rate.
type sink struct {
	outHz int
	max   int // samples in one call
	inHz  int
	rs    *Resampler
	down  *downmix  // of channels; nil until some have come
	mono  []float32 // that it made last
	out   []float32
}

func newSink(outHz int) sink {
	return sink{outHz: outHz, max: int(MaxDecode.Seconds()) * outHz}
}

// rate says at which rate the samples come. A stream keeps its rate: each change
// would need another filter, which costs far more to make than a header to send.
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

// free is how many more samples at the input's rate this call may give.
func (s *sink) free() int {
	return int(int64(s.max-len(s.out)) * int64(s.inHz) / int64(s.outHz))
}

// write adds samples at the rate last set.
func (s *sink) write(pcm []float32) error {
	if len(pcm) > s.free() {
		return &ErrTooLong{time.Duration(s.max) * time.Second / time.Duration(s.outHz)}
	}
	s.out = s.rs.Process(s.out, pcm)
	return nil
}

// writeFrames adds whole frames, whose channels are interleaved, mixed down.
func (s *sink) writeFrames(frames []float32, channels int) error {
	if s.down == nil || s.down.channels != channels {
		s.down = newDownmix(channels, s.inHz)
	}
	s.mono = s.down.mix(s.mono[:0], frames)
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

// dropFront moves what follows the first n bytes of b to its front. It leaves b
// alone when n is 0, for streams that come byte by byte.
func dropFront(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	return b[:copy(b, b[n:])]
}
