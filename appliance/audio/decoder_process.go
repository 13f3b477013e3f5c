package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"

	"parley/internal/isolate"
)

const (
	// decodeTime is how long a decoder may take for a piece of a file: usually some
	// milliseconds, and longer when the cores are busy. A decoder that takes seconds hangs.
	decodeTime = 5 * time.Second
	// decodeLate is how much longer than its sound a file may take in total; decoders need a
	// hundredth of that. It limits a compromised process that answers as late as possible,
	// again and again.
	decodeLate = time.Minute
	// maxFrameSamples is how many samples a frame of AAC or Vorbis may have: the longest have
	// 8,192.
	maxFrameSamples = 1 << 16
	// maxSample bounds the samples of an MP3 decoder: damaged files overshoot.
	maxSample = 8
	// maxFaultBytes bounds the text of a decoder's error, in bytes: ours have 90.
	maxFaultBytes = 200
)

// ErrUndecodable is the error for a file on which its decoder crashes or hangs.
var ErrUndecodable = errors.New("the file could not be decoded")

var (
	errDecoderDied = fmt.Errorf("%w: its decoder crashed", ErrUndecodable)
	errDecoderHung = fmt.Errorf("%w: its decoder takes too long", ErrUndecodable)
)

// decoderProcess is a process without privileges that decodes one stream, in C. It parses
// untrusted input, so its output is not trusted either. One goroutine uses it. It ends with
// free, or with the garbage collector.
type decoderProcess struct {
	process *isolate.Process
	free    func() // nothing else may be called afterwards
	limit   time.Duration
	late    time.Duration // the total time beyond the sound's duration
	rateHz  int
}

// startDecoder starts a decoder with arguments for Main.
func startDecoder(args ...string) (*decoderProcess, error) {
	p, err := isolate.Start(decoderName, args...)
	if errors.Is(err, isolate.ErrDied) || errors.Is(err, isolate.ErrHung) { // which is not the file's fault
		return nil, fmt.Errorf("its decoder cannot be started: %w", err)
	}
	if err != nil {
		return nil, err
	}
	d := &decoderProcess{process: p, limit: decodeTime}
	cleanup := runtime.AddCleanup(d, (*isolate.Process).Stop, p)
	d.free = sync.OnceFunc(func() { cleanup.Stop(); p.Stop() })
	return d, nil
}

// ask sends a request and passes on the answer: the rate and the sound as they come. It returns
// the final status, or the decoder's error.
func (d *decoderProcess) ask(request []byte, rate func(hz int) error, sound func([]float32) error) (ending, error) {
	defer runtime.KeepAlive(d)
	begun := time.Now()
	defer func() { d.late = max(0, d.late+time.Since(begun)) }()
	until := begun.Add(min(d.limit, decodeLate-d.late))
	if err := d.process.Send(request, until); err != nil {
		return ending{}, decoderFault(err)
	}
	for {
		reply, err := d.process.Receive(until)
		if err != nil {
			return ending{}, decoderFault(err)
		}
		for len(reply) > 0 {
			var r answerPart
			var ok bool
			if r, reply, ok = nextPart(reply); !ok {
				return ending{}, errDecoderDied
			}
			switch {
			case r.kind == partEnd && len(r.body) == endingLen:
				return ending{well: r.body[0] != 0, held: int(binary.LittleEndian.Uint32(r.body[1:]))}, nil
			case r.kind == partFault:
				return ending{}, r.words()
			case r.kind == partRate && len(r.body) == 4 && rate != nil:
				d.rateHz = int(binary.LittleEndian.Uint32(r.body))
				err = rate(d.rateHz)
			case r.kind == partSound && d.rateHz > 0 && sound != nil:
				pcm := r.samples()
				d.late -= time.Duration(len(pcm)) * time.Second / time.Duration(d.rateHz)
				err = sound(pcm)
			default:
				return ending{}, errDecoderDied
			}
			if err != nil {
				return ending{}, err
			}
		}
	}
}

// decoderFault converts the end of a decoder process to an error about the file.
func decoderFault(err error) error {
	switch {
	case errors.Is(err, isolate.ErrHung):
		return errDecoderHung
	case errors.Is(err, isolate.ErrDied):
		return errDecoderDied
	}
	return err
}

// The answer of a decoder consists of parts: a kind, the length of the body, and the body.
// Numbers are little-endian.
const (
	partRate  = 'r' // of the following sound, in Hz
	partSound = 's' // samples
	partEnd   = 'e' // an ending
	partFault = 'f' // an error text; it also ends the answer

	partHead  = 5
	endingLen = 5
)

type answerPart struct {
	kind byte
	body []byte
}

// ending is the status of a request.
type ending struct {
	well bool // AAC and Vorbis: the frame was decoded. MP3: the stream is over
	held int  // bytes in the decoder that wait for more
}

func appendPart(b []byte, kind byte, body []byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, kind), uint32(len(body)))
	return append(b, body...)
}

func nextPart(b []byte) (r answerPart, rest []byte, ok bool) {
	if len(b) < partHead {
		return answerPart{}, nil, false
	}
	n := uint64(binary.LittleEndian.Uint32(b[1:]))
	if n > uint64(len(b)-partHead) {
		return answerPart{}, nil, false
	}
	end := partHead + int(n)
	return answerPart{b[0], b[partHead:end]}, b[end:], true
}

// words returns the text of a decoder's error, made printable.
func (r answerPart) words() error {
	text := strings.ToValidUTF8(string(r.body[:min(len(r.body), maxFaultBytes)]), "")
	return errors.New(strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, text))
}

// samples returns the samples of a part, without NaN and limited in level.
func (r answerPart) samples() []float32 {
	pcm := make([]float32, len(r.body)/4)
	for i := range pcm {
		v := math.Float32frombits(binary.LittleEndian.Uint32(r.body[4*i:]))
		if v != v {
			v = 0
		}
		pcm[i] = min(max(v, -maxSample), maxSample)
	}
	return pcm
}

// avDecoder is libavcodec in a process.
type avDecoder struct{ *decoderProcess }

// startAVDecoder starts the first available library; nil: avcodecNames.
func startAVDecoder(libraries []string) (*avDecoder, error) {
	if libraries == nil {
		libraries = avcodecNames()
	}
	d, err := startDecoder(append([]string{decodesAV}, libraries...)...)
	if err != nil {
		return nil, err
	}
	return &avDecoder{d}, nil
}

// open replaces the decoder by one for a codec, with a configuration for avcodecCalls.open.
func (d *avDecoder) open(codec int32, config []byte) error {
	request := binary.LittleEndian.AppendUint32([]byte{requestOpen}, uint32(codec))
	_, err := d.ask(append(request, config...), nil, nil)
	return err
}

// decode appends the samples of a frame, at rateHz. ok is false if the frame is damaged; after
// an error the process is unusable.
func (d *avDecoder) decode(out []float32, frame []byte) (pcm []float32, ok bool, err error) {
	end, err := d.ask(append([]byte{requestDecode}, frame...), func(int) error {
		return nil
	}, func(pcm []float32) error {
		if len(out)+len(pcm) > maxFrameSamples {
			return fmt.Errorf("damaged: a frame of more than %d samples", maxFrameSamples)
		}
		out = append(out, pcm...)
		return nil
	})
	return out, end.well, err
}
