package audio

import (
	"encoding/binary"
	"errors"
	"math"

	"parley/internal/isolate"
)

const (
	// decoderName is the name of decoding processes in ps.
	decoderName = "parley-decoder"
	// The first argument of a decoding process: its library. The names of library files follow.
	decodesMP3 = "mpg123"
	decodesAV  = "avcodec"
	// The first byte of a request to libavcodec. The number of a codec and its configuration
	// follow, or a frame. A request to libmpg123 is a piece of the stream.
	requestOpen   = 'o'
	requestDecode = 'd'
	// answerAt is the size in bytes at which an answer is sent: far more than a frame, and far
	// less than isolate.MaxFrame.
	answerAt = 1 << 18
)

// Main runs a decoding process if this process was started as one, and then does not return. A
// program that decodes AAC, Vorbis or MP3 must call it first.
func Main() {
	isolate.Main(decoderName, func(args []string) (isolate.Work, error) {
		if len(args) > 1 && args[0] == decodesAV {
			library, err := loadAVCodec(args[1:])
			return isolate.Work{Answer: (&avWorker{library: library}).answer}, err
		}
		if len(args) == 2 && args[0] == decodesMP3 {
			dec, err := openMPG123(args[1], mp3MaxJunk)
			return isolate.Work{Answer: (&mp3Worker{dec: dec, pcm: make([]float32, 2*1152)}).answer}, err
		}
		return isolate.Work{}, errors.New("audio: no such decoder")
	})
}

// answerWriter writes the parts of an answer, in as few replies as possible.
type answerWriter struct {
	buf   []byte
	reply func([]byte) error
}

// rate adds the rate of the following sound.
func (a *answerWriter) rate(hz int) {
	a.buf = appendPart(a.buf, partRate, binary.LittleEndian.AppendUint32(nil, uint32(hz)))
}

// sound adds samples, and sends what is written once it reaches answerAt bytes.
func (a *answerWriter) sound(pcm []float32) error {
	a.buf = binary.LittleEndian.AppendUint32(append(a.buf, partSound), uint32(4*len(pcm)))
	for _, v := range pcm {
		a.buf = binary.LittleEndian.AppendUint32(a.buf, math.Float32bits(v))
	}
	if len(a.buf) < answerAt {
		return nil
	}
	return a.send()
}

// end adds the status of the request, and sends the answer.
func (a *answerWriter) end(e ending) error {
	body := []byte{0}
	if e.well {
		body[0] = 1
	}
	a.buf = appendPart(a.buf, partEnd, binary.LittleEndian.AppendUint32(body, uint32(e.held)))
	return a.send()
}

// fault ends the answer with an error, and sends it.
func (a *answerWriter) fault(err error) error {
	a.buf = appendPart(a.buf, partFault, []byte(err.Error()))
	return a.send()
}

func (a *answerWriter) send() error {
	err := a.reply(a.buf)
	a.buf = a.buf[:0]
	return err
}

// avWorker answers requests with libavcodec.
type avWorker struct {
	library *avcodecCalls
	dec     *avcodec
	out     answerWriter
	pcm     []float32
}

func (w *avWorker) answer(request []byte, reply func([]byte) error) error {
	w.out.reply = reply
	switch {
	case len(request) >= 5 && request[0] == requestOpen:
		if w.dec != nil {
			w.dec.free()
		}
		var err error
		if w.dec, err = w.library.open(int32(binary.LittleEndian.Uint32(request[1:])), request[5:]); err != nil {
			return w.out.fault(err)
		}
		return w.out.end(ending{well: true})
	case len(request) > 1 && request[0] == requestDecode && w.dec != nil:
		pcm, ok := w.dec.decode(w.pcm[:0], request[1:])
		w.pcm = pcm
		if len(pcm) > 0 {
			w.out.rate(w.dec.rate())
			if err := w.out.sound(pcm); err != nil {
				return err
			}
		}
		return w.out.end(ending{well: ok})
	}
	return errors.New("audio: no such request")
}

// mp3Worker answers requests with libmpg123.
type mp3Worker struct {
	dec  *mpg123
	out  answerWriter
	pcm  []float32 // interleaved channels
	down *Downmix
	mono []float32
}

func (w *mp3Worker) answer(piece []byte, reply func([]byte) error) error {
	w.out.reply = reply
	if err := w.dec.feed(piece); err != nil {
		return w.out.fault(err)
	}
	for {
		n, status, err := w.dec.read(w.pcm)
		if n > 0 && w.down != nil {
			w.mono = w.down.Mix(w.mono[:0], w.pcm[:n])
			if err := w.out.sound(w.mono); err != nil {
				return err
			}
		}
		switch {
		case err != nil:
			return w.out.fault(err)
		case status == mpg123NeedMore, status == mpg123Done:
			return w.out.end(ending{well: status == mpg123Done, held: w.dec.held()})
		case status == mpg123NewFormat:
			hz, channels, err := w.dec.format()
			if err != nil {
				return w.out.fault(err)
			}
			if w.down == nil || w.down.channels != channels {
				w.down = NewDownmix(channels, hz)
			}
			w.out.rate(hz)
		}
	}
}
