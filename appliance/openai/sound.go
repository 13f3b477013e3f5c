package openai

import (
	"context"
	"errors"
	"fmt"
	"io"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/media"
)

// A SoundFile encodes speech at contract.OpenAIRateHz as it is made.
type SoundFile interface {
	// Write adds samples in [-1, 1].
	Write(pcm []float32) error
	// Close writes the end of the file.
	Close() error
}

// NewSoundFile returns an encoder that writes to w. stop frees it, and must be called. The error is a
// contract.ErrUnavailable if the machine lacks the encoder.
func NewSoundFile(ctx context.Context, w io.Writer, format contract.OpenAISoundFormat) (_ SoundFile, stop func(),
	err error) {
	var f SoundFile
	stop = func() {}
	switch format {
	case contract.OpenAIPCM:
		f = &rawFile{w: w}
	case contract.OpenAIWAV:
		f = &rawFile{w: w, wav: true}
	case contract.OpenAIFLAC:
		f, err = audio.NewFLACWriter(w, contract.OpenAIRateHz)
	case contract.OpenAIOpus:
		f, err = audio.NewOggOpusWriter(w, contract.OpenAIRateHz, 1, 1)
	case contract.OpenAIAAC:
		a, failed := media.NewAACWriter(ctx, w, contract.OpenAIRateHz)
		if f, err = a, failed; err == nil {
			stop = a.Stop
		}
	default:
		f, err = audio.NewMP3Writer(w, contract.OpenAIRateHz)
	}
	if err != nil && ctx.Err() == nil {
		why := fmt.Sprintf("format %s: %v; pcm and wav work", format, err)
		err = errors.Join(contract.ErrUnavailable{Why: why}, err)
	}
	return f, stop, err
}

// MediaType returns the content type of a format.
func MediaType(format contract.OpenAISoundFormat) string {
	switch format {
	case contract.OpenAIOpus:
		return "audio/ogg"
	case contract.OpenAIAAC:
		return "audio/aac"
	case contract.OpenAIFLAC:
		return "audio/flac"
	case contract.OpenAIWAV:
		return "audio/wav"
	case contract.OpenAIPCM:
		return "audio/pcm"
	}
	return "audio/mpeg"
}

// rawFile writes 16-bit samples, with or without the header of a WAV file.
type rawFile struct {
	w     io.Writer
	wav   bool
	bytes int // of samples
	buf   []byte
}

func (r *rawFile) Write(pcm []float32) error {
	r.buf = r.buf[:0]
	if r.wav && r.bytes == 0 {
		r.buf = audio.AppendOpenWAVHeader(r.buf, contract.OpenAIRateHz)
	}
	r.buf = audio.AppendLinear16(r.buf, pcm)
	r.bytes += 2 * len(pcm)
	_, err := r.w.Write(r.buf)
	return err
}

func (r *rawFile) Close() error {
	if !r.wav {
		return nil
	}
	_, err := r.w.Write(audio.AppendOpenWAVEnd(nil, contract.OpenAIRateHz, r.bytes))
	return err
}
