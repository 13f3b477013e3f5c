package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/speech"
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
	form, err := readRecordingForm(r, "audio")
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
		return nil, decodeError(err, "audio", contract.MaxConversion)
	}
	return pcm, nil
}

// decodeError returns the error for a recording, of at most longest, that cannot be decoded.
func decodeError(err error, field string, longest time.Duration) error {
	const supported = "send WAV, MP3, FLAC, Ogg with Opus, Vorbis or FLAC, WebM with Opus or Vorbis, or MP4 with AAC " +
		"or Opus"
	format, unknown := errors.AsType[*audio.ErrFormat](err)
	_, long := errors.AsType[*audio.ErrTooLong](err)
	switch {
	case long:
		return contract.ErrInvalid{Field: field,
			Why: fmt.Sprintf("it is longer than %v: cut it into parts at pauses", longest)}
	case unknown && format.Name == "":
		return contract.ErrInvalid{Field: field,
			Why: fmt.Sprintf("it begins with % x, which is not a known format: %s", format.Head, supported)}
	case unknown:
		return contract.ErrInvalid{Field: field,
			Why: fmt.Sprintf("it is %s, which is not supported: %s", format.What, supported)}
	}
	return contract.ErrInvalid{Field: field, Why: strings.TrimPrefix(err.Error(), "audio: ")}
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
