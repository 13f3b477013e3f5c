package api

import (
	"context"
	"io"
	"net/http"
	"os"

	"golang.org/x/sync/semaphore"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/openai"
)

// maxTranscribing bounds the recordings on the disk while they are received and transcribed, in MiB: four of the
// longest, or a thousand of a minute.
const maxTranscribing = 4 * transcriptBody >> 20

// newTranscribing returns the limiter of the recordings on the disk, in MiB.
func newTranscribing() *semaphore.Weighted { return semaphore.NewWeighted(maxTranscribing) }

// openAITranscription transcribes a recording.
func (a *API) openAITranscription(w http.ResponseWriter, r *http.Request, by caller) error {
	size := r.ContentLength
	if size < 0 {
		size = transcriptBody
	}
	weight := size>>20 + 1
	if !a.transcribing.TryAcquire(weight) {
		return contract.ErrTooMany{What: "the recordings that are being transcribed fill their space on the disk",
			RetryAfter: uploadRetry}
	}
	defer a.transcribing.Release(weight)
	form, err := readRecordingForm(r, "file")
	if err != nil {
		return err
	}
	defer form.close()
	p, err := contract.ParsePostedOpenAITranscription(form.parts)
	if err != nil {
		return err
	}
	sound := recordedSound(form.recording)
	if p.Stream {
		return a.streamTranscript(w, r, by, p, sound)
	}
	t, err := a.OpenAI.Transcribe(r.Context(), by.AccountID, p, sound, nil)
	if err != nil {
		return err
	}
	switch p.ResponseFormat {
	case contract.OpenAIText:
		return sendText(w, "text/plain; charset=utf-8", t.Text+"\n")
	case contract.OpenAISRT:
		return sendText(w, "application/x-subrip; charset=utf-8", t.SRT())
	case contract.OpenAIVTT:
		return sendText(w, "text/vtt; charset=utf-8", t.VTT())
	case contract.OpenAIVerboseJSON:
		a.reply(w, http.StatusOK, t.Verbose(p))
	default:
		a.reply(w, http.StatusOK, t.JSON())
	}
	return nil
}

func sendText(w http.ResponseWriter, kind, text string) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	_, err := io.WriteString(w, text)
	return err
}

// streamTranscript sends the transcript as events.
func (a *API) streamTranscript(w http.ResponseWriter, r *http.Request, by caller, p contract.PostedOpenAITranscription,
	sound openai.Sound) error {
	events := newEventWriter(w)
	space := ""
	t, err := a.OpenAI.Transcribe(r.Context(), by.AccountID, p, sound, func(text string) error {
		delta := contract.TranscriptTextDelta{Delta: space + text}
		space = " "
		return events.send(delta)
	})
	if err != nil {
		return a.endEvents(w, r, events, err)
	}
	return events.send(t.Done())
}

// recordedSound decodes a recording piece by piece.
func recordedSound(file *os.File) openai.Sound {
	return func(ctx context.Context, emit func([]float32) error) error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		var failed error // of what takes the sound
		samples := 0
		err := audio.DecodeEach(file, engine.SpeechRateHz, contract.MaxOpenAIRecording, func(pcm []float32) error {
			samples += len(pcm)
			failed = emit(pcm)
			return failed
		})
		switch {
		case failed != nil:
			return failed
		case err == nil && samples == 0:
			return contract.ErrInvalid{Field: "file", Why: "it has no sound"}
		case err == nil:
			return context.Cause(ctx)
		}
		return decodeError(err, "file", contract.MaxOpenAIRecording)
	}
}
