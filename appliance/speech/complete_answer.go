package speech

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

// maxHeldChars bounds the characters of all answers whose sound is held in memory until it is
// complete. A character takes 6 KB as WAV, so all of them take 150 MB.
const maxHeldChars = contract.MaxSpokenChars

// freeChars is the length up to which a text does not wait for memory: half a minute of speech.
// If every slot has such a text, their sound takes 120 MB as WAV. Behind a text of 25,000
// characters, a sentence would wait for minutes.
const freeChars = 500

// longestAnswer is how much sound one answer may hold: one and a half times the longest text at
// half speed, 500 MB as WAV. Texts of digits make five times as much sound as other texts.
const longestAnswer = 90 * time.Minute

// reserveMemory waits for memory for the sound of the generations, which Close releases. Short
// generations do not wait.
func (j *Job) reserveMemory(ctx context.Context, generations []*generation) error {
	chars := 0
	for _, gen := range generations {
		for _, l := range gen.utterances {
			chars += utf8.RuneCountInString(l.Text)
		}
	}
	if chars <= freeChars {
		return nil
	}
	n := int64(min(chars, maxHeldChars))
	if err := j.service.memory.Acquire(ctx, n); err != nil {
		return err
	}
	leave := j.release
	j.release = func() { j.service.memory.Release(n); leave() }
	return nil
}

// Whole synthesises all generations and writes them as the JSON of a contract.ReturnTTS: each
// snippet as soon as it is made, and each generation as one file after its snippets. So only
// the file of one generation is held in memory.
func (j *Job) Whole(ctx context.Context, w io.Writer) error {
	if err := j.reserveMemory(ctx, j.generations[:1]); err != nil { // all generations are equally long
		return err
	}
	out := &jsonWriter{w: bufio.NewWriterSize(w, blockBytes)}
	out.text(`{"generations":[`)
	p := newPlayback()
	for i, gen := range j.generations {
		if i > 0 {
			out.text(",")
		}
		if err := j.writeGeneration(ctx, gen, p, out); err != nil {
			return err
		}
	}
	out.text(`]`)
	if j.request.RequestID != "" {
		out.text(`,"request_id":`)
		out.value(j.request.RequestID)
	}
	out.text("}\n")
	return cmp.Or(out.err, out.w.Flush())
}

// writeGeneration writes one generation as a contract.ReturnGeneration.
func (j *Job) writeGeneration(ctx context.Context, gen *generation, p *playback, out *jsonWriter) error {
	files, err := newEncoder(j.Format(), j.request.StripHeaders)
	if err != nil {
		return err
	}
	all, err := newWholeFile(j.Format())
	if err != nil {
		return err
	}
	out.text(`{"generation_id":`)
	out.value(gen.id)
	out.text(`,"encoding":`)
	out.value(contract.AudioEncoding{Format: j.Format(), SampleRate: contract.OutputRateHz})
	out.text(`,"snippets":[[`)
	var snippet []float32
	var times []contract.Timestamp
	utterance, first := 0, true
	err = j.speak(ctx, gen, p, func(s piece) error {
		if err := all.write(s.pcm); err != nil {
			return err
		}
		snippet, times = append(snippet, s.pcm...), append(times, s.times...)
		if !s.last {
			return nil
		}
		data, err := files.encode(snippet, s.snippet.last)
		if err != nil {
			return err
		}
		for ; utterance < s.snippet.utteranceIndex; utterance++ {
			out.text(`],[`)
			first = true
		}
		if !first {
			out.text(",")
		}
		first = false
		slices.SortStableFunc(times, byBegin)
		out.value(contract.Snippet{
			Audio:           nonNil(data),
			GenerationID:    gen.id,
			ID:              s.snippet.id,
			Text:            s.snippet.text,
			Timestamps:      append([]contract.Timestamp{}, times...),
			TranscribedText: s.heard,
			UtteranceIndex:  utterance,
		})
		snippet, times = snippet[:0], times[:0]
		return out.err
	})
	if err != nil {
		return err
	}
	out.text(`]],"audio":`)
	file, err := all.close()
	if err != nil {
		return err
	}
	out.base64(file)
	out.text(`,"duration":`)
	out.value(all.seconds())
	out.text(`,"file_size":`)
	out.value(file.Len())
	out.text("}")
	return out.err
}

// WholeFile synthesises all generations and returns one file whose header has the right length.
func (j *Job) WholeFile(ctx context.Context) (*MemoryFile, error) {
	if err := j.reserveMemory(ctx, j.generations); err != nil {
		return nil, err
	}
	file, err := newWholeFile(j.Format())
	if err != nil {
		return nil, err
	}
	p := newPlayback()
	for i, gen := range j.generations {
		if i > 0 {
			if err := file.write(make([]float32,
				audio.Samples(betweenGenerations, contract.OutputRateHz))); err != nil {
				return nil, err
			}
		}
		if err := j.speak(ctx, gen, p, func(s piece) error { return file.write(s.pcm) }); err != nil {
			return nil, err
		}
	}
	return file.close()
}

// wholeFile encodes one file from pieces of sound.
type wholeFile struct {
	format  contract.AudioFormat
	head    []float32 // the beginning, until it is long enough for a stream
	file    *MemoryFile
	writer  audioWriter // nil: head has everything so far
	samples int
	most    int // samples
}

// audioWriter rewrites the header of its file in Close.
type audioWriter interface {
	Write(pcm []float32) error
	Close() error
}

// briefFile is the length up to which a file is encoded in one step: the shortest MP3 files
// need that to be recognised as MP3.
const briefFile = contract.OutputRateHz

func newWholeFile(format contract.AudioFormat) (*wholeFile, error) {
	if format == contract.FormatMP3 {
		if err := audio.CheckMP3Encoder(); err != nil {
			return nil, mp3Unavailable(err)
		}
	}
	most := audio.Samples(longestAnswer, contract.OutputRateHz)
	return &wholeFile{format: format, file: &MemoryFile{}, most: most}, nil
}

func (f *wholeFile) seconds() float64 { return float64(f.samples) / contract.OutputRateHz }

func (f *wholeFile) write(pcm []float32) (err error) {
	if f.samples += len(pcm); f.samples > f.most {
		return contract.ErrInvalid{Field: "utterances", Why: fmt.Sprintf("their sound is longer than %v, the most in "+
			"one answer; request a stream, or several parts", longestAnswer)}
	}
	if f.writer != nil {
		return f.writer.Write(pcm)
	}
	if f.head = append(f.head, pcm...); len(f.head) <= briefFile {
		return nil
	}
	switch f.format {
	case contract.FormatMP3:
		f.writer, err = audio.NewMP3Writer(f.file, contract.OutputRateHz)
	case contract.FormatWAV:
		f.writer, err = audio.NewWAVWriter(f.file, contract.OutputRateHz, 1)
	default:
		f.writer = rawWriter{f.file}
	}
	if err != nil {
		return err
	}
	pcm, f.head = f.head, nil
	return f.writer.Write(pcm)
}

// close finishes the file and returns it.
func (f *wholeFile) close() (*MemoryFile, error) {
	if f.writer != nil {
		return f.file, f.writer.Close()
	}
	file, err := newEncoder(f.format, false)
	if err != nil {
		return nil, err
	}
	data, err := file.encode(f.head, true)
	if err == nil {
		_, err = f.file.Write(data)
	}
	return f.file, err
}

// rawWriter writes samples without a header.
type rawWriter struct{ w io.Writer }

func (r rawWriter) Write(pcm []float32) error {
	_, err := r.w.Write(audio.AppendLinear16(nil, pcm))
	return err
}

func (rawWriter) Close() error { return nil }

// jsonWriter writes JSON in parts, and keeps the first error.
type jsonWriter struct {
	w   *bufio.Writer
	err error
}

func (j *jsonWriter) text(s string) { j.bytes([]byte(s)) }

func (j *jsonWriter) bytes(b []byte) {
	if j.err == nil {
		_, j.err = j.w.Write(b)
	}
}

// value writes one JSON value.
func (j *jsonWriter) value(v any) {
	if j.err != nil {
		return
	}
	enc := json.NewEncoder(j.w) // with a newline after it, which JSON allows
	enc.SetEscapeHTML(false)
	j.err = enc.Encode(v)
}

// base64 writes bytes as a base64 string.
func (j *jsonWriter) base64(from io.WriterTo) {
	j.text(`"`)
	if j.err != nil {
		return
	}
	enc := base64.NewEncoder(base64.StdEncoding, j.w)
	if _, j.err = from.WriteTo(enc); j.err == nil {
		j.err = enc.Close()
	}
	j.text(`"`)
}
