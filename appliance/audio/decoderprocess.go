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
	// decodeTime is how long a decoder may take for a piece of a file: some
	// milliseconds, and a while where others have the cores. What takes seconds
	// will take for ever.
	decodeTime = 5 * time.Second
	// decodeLate is how much longer than its sound plays a file may take in all;
	// decoders need a hundredth of that. It is for a process that somebody has
	// taken over, and that answers as late as it may, again and again.
	decodeLate = time.Minute
	// mostInFrame is how many samples a frame of AAC or Vorbis may stand for: the
	// longest have 8,192.
	mostInFrame = 1 << 16
	// loudestSample bounds what a decoder of MP3 gives: damaged files overshoot.
	loudestSample = 8
	// longestFault bounds what is told of a fault, in bytes: ours have 90.
	longestFault = 200
)

// ErrUndecodable is in the error of a file that its decoder dies of, or hangs on.
var ErrUndecodable = errors.New("the file could not be decoded")

var (
	errDecoderDied = fmt.Errorf("%w: its decoder died of it", ErrUndecodable)
	errDecoderHung = fmt.Errorf("%w: its decoder takes too long", ErrUndecodable)
)

// A decoderProcess is a process without rights that decodes one stream, in C. It
// reads what strangers wrote, so nothing that it says is believed. One goroutine
// uses it. It is ended by free, or when nobody has it any more.
type decoderProcess struct {
	process *isolate.Process
	free    func() // nothing else is called after it
	limit   time.Duration
	late    time.Duration // how much longer it took than its sound plays
	rateHz  int
}

// startDecoder starts the decoder that args name, as Main has them.
func startDecoder(args ...string) (*decoderProcess, error) {
	p, err := isolate.Start(decoderName, args...)
	if errors.Is(err, isolate.ErrDied) || errors.Is(err, isolate.ErrHung) { // which is no fault of the file
		return nil, fmt.Errorf("its decoder does not start: %w", err)
	}
	if err != nil {
		return nil, err
	}
	d := &decoderProcess{process: p, limit: decodeTime}
	cleanup := runtime.AddCleanup(d, (*isolate.Process).Stop, p)
	d.free = sync.OnceFunc(func() { cleanup.Stop(); p.Stop() })
	return d, nil
}

// ask sends a request and takes the answer: the rate and the sound as they come,
// and in the end how it went, or the decoder's error.
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

// decoderFault says of a file what became of its decoder.
func decoderFault(err error) error {
	switch {
	case errors.Is(err, isolate.ErrHung):
		return errDecoderHung
	case errors.Is(err, isolate.ErrDied):
		return errDecoderDied
	}
	return err
}

// An answer of a decoder is made of parts: a kind, the length of what follows,
// and that. Numbers are little-endian.
const (
	partRate  = 'r' // of the sound that follows, in Hz
	partSound = 's' // samples
	partEnd   = 'e' // an ending
	partFault = 'f' // what was wrong, in words; it ends the answer, too

	partHead  = 5
	endingLen = 5
)

type answerPart struct {
	kind byte
	body []byte
}

// ending is how a request went.
type ending struct {
	well bool // of AAC and Vorbis: the frame could be decoded. Of MP3: the stream is over
	held int  // how many bytes wait in the decoder for more
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

// words are what a decoder says of a fault, as they can be shown to people.
func (r answerPart) words() error {
	text := strings.ToValidUTF8(string(r.body[:min(len(r.body), longestFault)]), "")
	return errors.New(strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, text))
}

// samples are those of a part, each of them a number and none of them too loud.
func (r answerPart) samples() []float32 {
	pcm := make([]float32, len(r.body)/4)
	for i := range pcm {
		v := math.Float32frombits(binary.LittleEndian.Uint32(r.body[4*i:]))
		if v != v {
			v = 0
		}
		pcm[i] = min(max(v, -loudestSample), loudestSample)
	}
	return pcm
}

// An avDecoder is libavcodec in a process of its own.
type avDecoder struct{ *decoderProcess }

// startAVDecoder starts the first of the libraries that is there; nil: avcodecNames.
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

// open makes a decoder of a codec, instead of the one before, with a configuration
// as avcodecCalls.open has it.
func (d *avDecoder) open(codec int32, config []byte) error {
	request := binary.LittleEndian.AppendUint32([]byte{requestOpen}, uint32(codec))
	_, err := d.ask(append(request, config...), nil, nil)
	return err
}

// decode appends the samples of a frame, at rateHz. ok is false when the frame is
// damaged; after an error the process is no good any more.
func (d *avDecoder) decode(out []float32, frame []byte) (pcm []float32, ok bool, err error) {
	end, err := d.ask(append([]byte{requestDecode}, frame...), func(int) error {
		return nil
	}, func(pcm []float32) error {
		if len(out)+len(pcm) > mostInFrame {
			return fmt.Errorf("damaged: a frame of more than %d samples", mostInFrame)
		}
		out = append(out, pcm...)
		return nil
	})
	return out, end.well, err
}
