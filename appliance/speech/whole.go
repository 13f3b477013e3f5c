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

// mostWhole is how many characters are spoken at once for answers that hold all of
// their sound until they are made: as a WAV file a character has 6 KB, so all of
// them together 150 MB.
const mostWhole = contract.MaxSpokenChars

// shortWhole is how many characters wait for nobody's sound to be held: half a minute
// of speech, of which every place for text-to-speech together makes 120 MB as WAV.
// Behind a text of 25,000 characters a sentence would wait for minutes.
const shortWhole = 500

// mostHeld is how much sound one answer may hold: half as much again as the longest
// texts at half of the speed, and 500 MB as WAV. Digits alone make five times as much
// sound as other characters do.
const mostHeld = 90 * time.Minute

// hold waits for room for the sound of some of the takes, until Close. There always
// is room for a short one.
func (j *Job) hold(ctx context.Context, takes []*take) error {
	chars := 0
	for _, t := range takes {
		for _, l := range t.lines {
			chars += utf8.RuneCountInString(l.Text)
		}
	}
	if chars <= shortWhole {
		return nil
	}
	n := int64(min(chars, mostWhole))
	if err := j.service.whole.Acquire(ctx, n); err != nil {
		return err
	}
	leave := j.leave
	j.leave = func() { j.service.whole.Release(n); leave() }
	return nil
}

// Whole says all of it and writes it as the JSON of a contract.ReturnTTS: each
// snippet as soon as it is made, and each generation as one file behind its
// snippets. So what is held is the file of one generation.
func (j *Job) Whole(ctx context.Context, w io.Writer) error {
	if err := j.hold(ctx, j.takes[:1]); err != nil { // all are as long
		return err
	}
	out := &jsonWriter{w: bufio.NewWriterSize(w, sheet)}
	out.text(`{"generations":[`)
	p := newPacing()
	for i, t := range j.takes {
		if i > 0 {
			out.text(",")
		}
		if err := j.generation(ctx, t, p, out); err != nil {
			return err
		}
	}
	out.text(`]`)
	if j.asked.RequestID != "" {
		out.text(`,"request_id":`)
		out.value(j.asked.RequestID)
	}
	out.text("}\n")
	return cmp.Or(out.err, out.w.Flush())
}

// generation writes one generation, a contract.ReturnGeneration.
func (j *Job) generation(ctx context.Context, t *take, p *pacing, out *jsonWriter) error {
	files, err := newCoder(j.Format(), j.asked.StripHeaders)
	if err != nil {
		return err
	}
	all, err := newWholeFile(j.Format())
	if err != nil {
		return err
	}
	out.text(`{"generation_id":`)
	out.value(t.id)
	out.text(`,"encoding":`)
	out.value(contract.AudioEncoding{Format: j.Format(), SampleRate: contract.OutputRateHz})
	out.text(`,"snippets":[[`)
	var one []float32
	var times []contract.Timestamp
	utterance, first := 0, true
	err = j.speak(ctx, t, p, func(s piece) error {
		if err := all.write(s.pcm); err != nil {
			return err
		}
		one, times = append(one, s.pcm...), append(times, s.times...)
		if !s.last {
			return nil
		}
		data, err := files.next(one, s.snippet.last)
		if err != nil {
			return err
		}
		for ; utterance < s.snippet.utterance; utterance++ {
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
			GenerationID:    t.id,
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
func (j *Job) WholeFile(ctx context.Context) (*Sheets, error) {
	if err := j.hold(ctx, j.takes); err != nil {
		return nil, err
	}
	file, err := newWholeFile(j.Format())
	if err != nil {
		return nil, err
	}
	p := newPacing()
	for i, t := range j.takes {
		if i > 0 {
			if err := file.write(make([]float32,
				audio.Samples(betweenGenerations, contract.OutputRateHz))); err != nil {
				return nil, err
			}
		}
		if err := j.speak(ctx, t, p, func(s piece) error { return file.write(s.pcm) }); err != nil {
			return nil, err
		}
	}
	return file.close()
}

// wholeFile makes a file of sound that comes piece by piece.
type wholeFile struct {
	format  contract.AudioFormat
	head    []float32 // the beginning, until there is enough for a stream
	sheets  *Sheets
	to      audioWriter // nil: there is no more than head
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
			return nil, noEncoder(err)
		}
	}
	return &wholeFile{format: format, sheets: &Sheets{}, most: audio.Samples(mostHeld, contract.OutputRateHz)}, nil
}

func (f *wholeFile) seconds() float64 { return float64(f.samples) / contract.OutputRateHz }

func (f *wholeFile) write(pcm []float32) (err error) {
	if f.samples += len(pcm); f.samples > f.most {
		return contract.ErrInvalid{Field: "utterances", Why: fmt.Sprintf("what they say is longer than %v, the most "+
			"that is made in one; ask for it as a stream, or in parts", mostHeld)}
	}
	if f.to != nil {
		return f.to.Write(pcm)
	}
	if f.head = append(f.head, pcm...); len(f.head) <= briefFile {
		return nil
	}
	switch f.format {
	case contract.FormatMP3:
		f.to, err = audio.NewMP3Writer(f.sheets, contract.OutputRateHz)
	case contract.FormatWAV:
		f.to, err = audio.NewWAVWriter(f.sheets, contract.OutputRateHz, 1)
	default:
		f.to = rawWriter{f.sheets}
	}
	if err != nil {
		return err
	}
	pcm, f.head = f.head, nil
	return f.to.Write(pcm)
}

// close returns the file.
func (f *wholeFile) close() (*Sheets, error) {
	if f.to != nil {
		return f.sheets, f.to.Close()
	}
	file, err := newCoder(f.format, false)
	if err != nil {
		return nil, err
	}
	data, err := file.next(f.head, true)
	if err == nil {
		_, err = f.sheets.Write(data)
	}
	return f.sheets, err
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
	enc := json.NewEncoder(j.w) // with a newline behind, which JSON allows
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
