package audio

import (
	"encoding/binary"
	"errors"
	"math"

	"parley/internal/isolate"
)

const (
	// decoderName is what the processes that decode are called in ps.
	decoderName = "parley-decoder"
	// Their first argument: what they decode with. The names of libraries follow.
	decodesMP3 = "mpg123"
	decodesAV  = "avcodec"
	// How a request to libavcodec begins: the number of a codec and its
	// configuration follow, or a frame. One to libmpg123 is a piece of the stream.
	requestOpen   = 'o'
	requestDecode = 'd'
	// answerAt is how long an answer becomes before it is sent, in bytes: far more
	// than a frame, far less than isolate.MaxFrame.
	answerAt = 1 << 18
)

// Main makes this process one that decodes, if it was started for that; then it
// does not return. A program that decodes AAC, Vorbis or MP3 calls it before
// anything else.
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

// answering writes an answer, which is sent in as few replies as it fits in.
type answering struct {
	buf   []byte
	reply func([]byte) error
}

func (a *answering) rate(hz int) {
	a.buf = appendPart(a.buf, partRate, binary.LittleEndian.AppendUint32(nil, uint32(hz)))
}

func (a *answering) sound(pcm []float32) error {
	a.buf = binary.LittleEndian.AppendUint32(append(a.buf, partSound), uint32(4*len(pcm)))
	for _, v := range pcm {
		a.buf = binary.LittleEndian.AppendUint32(a.buf, math.Float32bits(v))
	}
	if len(a.buf) < answerAt {
		return nil
	}
	return a.send()
}

func (a *answering) end(e ending) error {
	body := []byte{0}
	if e.well {
		body[0] = 1
	}
	a.buf = appendPart(a.buf, partEnd, binary.LittleEndian.AppendUint32(body, uint32(e.held)))
	return a.send()
}

func (a *answering) fault(err error) error {
	a.buf = appendPart(a.buf, partFault, []byte(err.Error()))
	return a.send()
}

func (a *answering) send() error {
	err := a.reply(a.buf)
	a.buf = a.buf[:0]
	return err
}

// An avWorker answers for libavcodec.
type avWorker struct {
	library *avcodecCalls
	dec     *avcodec
	out     answering
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

// An mp3Worker answers for libmpg123.
type mp3Worker struct {
	dec  *mpg123
	out  answering
	pcm  []float32 // as it comes, the channels interleaved
	down *downmix
	mono []float32
}

func (w *mp3Worker) answer(piece []byte, reply func([]byte) error) error {
	w.out.reply = reply
	if err := w.dec.feed(piece); err != nil {
		return w.out.fault(err)
	}
	for {
		n, why, err := w.dec.read(w.pcm)
		if n > 0 && w.down != nil {
			w.mono = w.down.mix(w.mono[:0], w.pcm[:n])
			if err := w.out.sound(w.mono); err != nil {
				return err
			}
		}
		switch {
		case err != nil:
			return w.out.fault(err)
		case why == mpg123NeedMore, why == mpg123Done:
			return w.out.end(ending{well: why == mpg123Done, held: w.dec.held()})
		case why == mpg123NewFormat:
			hz, channels, err := w.dec.format()
			if err != nil {
				return w.out.fault(err)
			}
			if w.down == nil || w.down.channels != channels {
				w.down = newDownmix(channels, hz)
			}
			w.out.rate(hz)
		}
	}
}
