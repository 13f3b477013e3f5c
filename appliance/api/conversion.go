package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strings"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/speech"
)

const (
	// maxParts bounds the parts of a form, and maxPartBytes all of them but the
	// recording; the context is the longest.
	maxParts     = 64
	maxPartBytes = 1 << 20
)

// voiceConversion streams the converted speech as messages, one a line.
func (a *API) voiceConversion(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.convert(w, r, by, func(j *speech.Job) error { return stream(w, r, j) })
}

// voiceConversionFile answers with the converted speech as one file.
func (a *API) voiceConversionFile(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.convert(w, r, by, func(j *speech.Job) error { return sendFile(w, r, j) })
}

// convert parses a form, has its recording converted, and calls answer with the
// job.
func (a *API) convert(w http.ResponseWriter, r *http.Request, by caller, answer func(*speech.Job) error) error {
	leave, err := a.uploads.enter(by.AccountID)
	if err != nil {
		return err
	}
	defer leave()
	form, err := readConversion(r)
	if err != nil {
		return err
	}
	defer form.close()
	posted, err := contract.ParsePostedConversion(form.parts)
	if err != nil {
		return err
	}
	j, err := a.Speech.Convert(r.Context(), speech.ConversionRequest{
		Account:          by.AccountID,
		RequestID:        w.Header().Get("X-Request-Id"),
		PostedConversion: posted,
		Recording:        func() ([]float32, error) { return a.decodeRecording(r, form.recording) },
	})
	if err != nil {
		return err
	}
	return a.runJob(w, r, j, answer)
}

// conversionForm is a parsed form.
type conversionForm struct {
	recording *os.File // an unnamed file
	parts     map[string][][]byte
}

func (f *conversionForm) close() {
	if f.recording != nil {
		_ = f.recording.Close() // the file is deleted in any case
	}
}

// readConversion parses a form part by part. It writes the recording to a file,
// because the recording may be large and arrive slowly.
func readConversion(r *http.Request) (*conversionForm, error) {
	kind := r.Header.Get("Content-Type")
	media, params, err := mime.ParseMediaType(kind)
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return nil, contract.ErrMediaType{Got: kind, Allowed: "multipart/form-data with its boundary, as HTTP " +
			"clients write it themselves, and with the recording in its part audio"}
	}
	form := &conversionForm{parts: map[string][][]byte{}}
	parts := multipart.NewReader(r.Body, params["boundary"])
	left := int64(maxPartBytes)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && n == maxParts {
			err = contract.ErrInvalid{Field: "body", Why: fmt.Sprintf("more than %d parts", maxParts)}
		}
		if err == nil {
			err = form.addPart(part, &left)
		}
		if err != nil {
			form.close()
			return nil, formError(err)
		}
	}
	if form.recording == nil {
		return nil,
			contract.ErrMalformed{Detail: []contract.ValidationError{
				{Loc: []any{"body", "audio"}, Type: "missing", Msg: "missing; it is the recording, a file"}}}
	}
	return form, nil
}

// addPart stores a part other than the recording; left is how many bytes the
// parts may still have.
func (f *conversionForm) addPart(part *multipart.Part, left *int64) error {
	name, _, _ := strings.Cut(part.FormName(), "[") // include_timestamp_types[0]
	if name == "audio" {
		return f.saveRecording(part)
	}
	text, err := io.ReadAll(io.LimitReader(part, *left+1))
	if err != nil {
		return err
	}
	if *left -= int64(len(text)); *left < 0 {
		return contract.ErrInvalid{Field: contract.Clip(name),
			Why: fmt.Sprintf("the parts besides the recording have more than %d bytes", maxPartBytes)}
	}
	f.parts[name] = append(f.parts[name], text)
	return nil
}

// saveRecording writes the recording to a file. An empty part, or one that is
// null, counts as absent.
func (f *conversionForm) saveRecording(part *multipart.Part) error {
	if f.recording != nil {
		return contract.ErrInvalid{Field: "audio", Why: "comes twice; expected one recording"}
	}
	file, err := os.CreateTemp("", "parley-conversion-")
	if err != nil {
		return err
	}
	if err := os.Remove(file.Name()); err != nil {
		return errors.Join(err, file.Close())
	}
	begin := make([]byte, len("null")+1)
	n, err := io.ReadFull(part, begin)
	if short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); short && part.FileName() == "" &&
		(n == 0 || string(begin[:n]) == "null") {
		return file.Close()
	} else if err != nil && !short {
		return errors.Join(err, file.Close())
	}
	f.recording = file
	if _, err := file.Write(begin[:n]); err != nil {
		return err
	}
	_, err = io.Copy(file, part)
	return err
}

// formError returns the error for a form that cannot be parsed to its end.
func formError(err error) error {
	if k, public := kindOf(err); public != nil && k.status != 0 {
		return err
	}
	if _, path := errors.AsType[*os.PathError](err); path {
		return err
	}
	return contract.ErrInvalid{Field: "body", Why: "it is cut off, or is not valid multipart/form-data"}
}

// decodeRecording decodes recordings one at a time, because the samples are held
// in memory.
func (a *API) decodeRecording(r *http.Request, file *os.File) ([]float32, error) {
	select {
	case a.decoding <- struct{}{}:
		defer func() { <-a.decoding }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	pcm, err := audio.DecodeUpTo(data, engine.SpeechRateHz, contract.MaxConversion)
	if err != nil {
		return nil, decodeError(err)
	}
	return pcm, nil
}

// decodeError returns the error for a recording that cannot be decoded.
func decodeError(err error) error {
	const supported = "send WAV, MP3, FLAC, Ogg with Opus, Vorbis or FLAC, WebM with Opus or Vorbis, or MP4 with AAC " +
		"or Opus"
	format, unknown := errors.AsType[*audio.ErrFormat](err)
	_, long := errors.AsType[*audio.ErrTooLong](err)
	switch {
	case long:
		return contract.ErrInvalid{Field: "audio",
			Why: fmt.Sprintf("it is longer than %v: cut it into parts at pauses", contract.MaxConversion)}
	case unknown && format.Name == "":
		return contract.ErrInvalid{Field: "audio",
			Why: fmt.Sprintf("it begins with % x, which is not a known format: %s", format.Head, supported)}
	case unknown:
		return contract.ErrInvalid{Field: "audio",
			Why: fmt.Sprintf("it is %s, which is not supported: %s", format.What, supported)}
	}
	return contract.ErrInvalid{Field: "audio", Why: strings.TrimPrefix(err.Error(), "audio: ")}
}

// aboutConversion describes the routes of voice conversion.
func aboutConversion() descriptions {
	const more = "Speaks the words of the recording with its timing, phrase by phrase. Parts other than the " +
		"recording contain JSON; include_timestamp_types may also be several parts with a word each. The recording " +
		"may be WAV, MP3, FLAC, Ogg with Opus, Vorbis or FLAC, WebM with Opus or Vorbis, or MP4 with AAC or Opus, up " +
		"to five minutes and 64 MiB."
	return inSection("Text-to-speech", descriptions{
		"POST /v0/tts/voice_conversion/json": {
			ID:          "convertVoiceJson",
			Summary:     "Convert a recording to another voice, streamed as JSON",
			Description: more,
			Body:        "PostedConversion",
			Upload:      "audio",
			Answers:     jsonLines(),
			Errors:      []int{404},
		},
		"POST /v0/tts/voice_conversion/file": {
			ID:          "convertVoiceFile",
			Summary:     "Convert a recording to another voice, answered as one file",
			Description: more,
			Body:        "PostedConversion",
			Upload:      "audio",
			Answers:     soundFile(),
			Errors:      []int{404},
		},
	})
}
