package api

import (
	"io"
	"net/http"

	"parley/appliance/contract"
	"parley/appliance/openai"
	"parley/appliance/speech"
)

// openAISpeech speaks a text, as one file that is sent while it is made.
func (a *API) openAISpeech(w http.ResponseWriter, r *http.Request, by caller, p contract.PostedOpenAISpeech) error {
	if err := a.OpenAI.CheckSpeech(p.Model); err != nil {
		return err
	}
	voice, err := a.OpenAI.Voice(r.Context(), by.AccountID, p.Voice)
	if err != nil {
		return err
	}
	j, err := a.Speech.Begin(r.Context(), speech.Request{
		Account:   by.AccountID,
		RequestID: w.Header().Get("X-Request-Id"),
		Unstored:  true,
		PostedTTS: p.Utterance(voice),
	})
	if err != nil {
		return inInput(err)
	}
	out := flushWriter{w, http.NewResponseController(w)}
	if p.StreamFormat == contract.OpenAIStreamSSE {
		return a.runJob(w, r, j, func(j *speech.Job) error { return speechEvents(w, r, j, p) })
	}
	return a.runJob(w, r, j, func(j *speech.Job) error {
		streamHeaders(w, openai.MediaType(p.ResponseFormat))
		_, err := encodeSpeech(r, j, p.ResponseFormat, out)
		return err
	})
}

// inInput names the field of the text as the request has it.
func inInput(err error) error {
	if k, public := kindOf(err); public != nil {
		if wrong, ok := public.(contract.ErrInvalid); ok && k.status == http.StatusBadRequest {
			return contract.ErrInvalid{Field: "input", Why: wrong.Why}
		}
	}
	return err
}

// encodeSpeech writes the speech of a job as a file, and returns its samples. Nothing is written before the first
// sound, so an error until then has its own status.
func encodeSpeech(r *http.Request, j *speech.Job, format contract.OpenAISoundFormat, w io.Writer) (samples int,
	err error) {
	late := &lateWriter{w: w}
	file, stop, err := openai.NewSoundFile(r.Context(), late, format)
	if err != nil {
		return 0, err
	}
	defer stop()
	err = j.Sound(r.Context(), contract.OpenAIRateHz, func(pcm []float32) error {
		samples += len(pcm)
		if len(pcm) == 0 {
			return nil
		}
		if err := late.begin(); err != nil {
			return err
		}
		return file.Write(pcm)
	})
	if err != nil {
		return samples, inInput(err)
	}
	if err := late.begin(); err != nil {
		return samples, err
	}
	return samples, file.Close()
}

// speechEvents sends speech as events.
func speechEvents(w http.ResponseWriter, r *http.Request, j *speech.Job, p contract.PostedOpenAISpeech) error {
	events := newEventWriter(w)
	samples, err := encodeSpeech(r, j, p.ResponseFormat, writerFunc(func(part []byte) error {
		return events.send(contract.SpeechAudioDelta{Audio: part})
	}))
	if err != nil {
		return err
	}
	return events.send(contract.SpeechAudioDone{Usage: p.Usage(samples)})
}

// writerFunc is a function as a writer.
type writerFunc func([]byte) error

func (f writerFunc) Write(p []byte) (int, error) {
	if err := f(p); err != nil {
		return 0, err
	}
	return len(p), nil
}
