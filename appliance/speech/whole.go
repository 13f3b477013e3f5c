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

// maxHeldChars is how many characters are spoken at once for answers that hold all of
// their sound until they are made: as a WAV file a character has 6 KB, so all of
// them together 150 MB.
const maxHeldChars = contract.MaxSpokenChars

// freeChars is how many characters wait for nobody's sound to be held: half a minute
// of speech, of which every place for text-to-speech together makes 120 MB as WAV.
// Behind a text of 25,000 characters a sentence would wait for minutes.
const freeChars = 500

// longestAnswer is how much sound one answer may hold: half as much again as the longest
// texts at half of the speed, and 500 MB as WAV. Digits alone make five times as much
// sound as other characters do.
const longestAnswer = 90 * time.Minute

// reserveMemory waits for room for the sound of some of the takes, until Close. There always
// is room for a short one.
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

// Whole says all of it and writes it as the JSON of a contract.ReturnTTS: each
// snippet as soon as it is made, and each generation as one file behind its
// snippets. So what is held is the file of one generation.
func (j *Job) Whole(ctx context.Context, w io.Writer) error {
	if err := j.reserveMemory(ctx, j.generations[:1]); err != nil { // all are as long
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

// writeGeneration writes one generation, a contract.ReturnGeneration.
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
	var one []float32
	var times []contract.Timestamp
	utterance, first := 0, true
	err = j.speak(ctx, gen, p, func(s piece) error {
		if err := all.write(s.pcm); err != nil {
			return err
		}
		one, times = append(one, s.pcm...), append(times, s.times...)
		if !s.last {
			return nil
		}
		data, err := files.encode(one, s.snippet.last)
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
			Audio:           filled(data),
			GenerationID:    gen.id,
			ID:              s.snippet.id,
			Text:            s.snippet.text,
			Timestamps:      append([]contract.Timestamp{}, times...),
			TranscribedText: s.heard,
			UtteranceIndex:  utterance,
		})
		one, times = one[:0], times[:0]
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

// WholeFile says all of it and returns it as one file, whose header knows how
// long it is.
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

// wholeFile makes a file of sound that comes piece by piece.
type wholeFile struct {
	format  contract.AudioFormat
	head    []float32 // the beginning, until there is enough for a stream
	file    *MemoryFile
	writer  audioWriter // nil: there is no more than head
	samples int
	most    int // samples
}

// audioWriter goes back to the header of its file in Close.
type audioWriter interface {
	Write(pcm []float32) error
	Close() error
}

// briefFile is up to what length a file is made in one: as the shortest MP3s have to
// be, to be known as such.
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
		return contract.ErrInvalid{Field: "utterances", Why: fmt.Sprintf("what they say is longer than %v, the most "+
			"that is made in one; ask for it as a stream, or in parts", longestAnswer)}
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

// close returns the file.
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

// jsonWriter writes JSON part by part, and keeps the first error.
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

// value writes one value.
func (j *jsonWriter) value(v any) {
	if j.err != nil {
		return
	}
	enc := json.NewEncoder(j.w) // updated a newline behind, which JSON allows
	enc.SetEscapeHTML(false)
	j.err = enc.Encode(v)
}

// base64 writes bytes as a string.
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
