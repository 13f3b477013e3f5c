package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"parley/appliance/api/describe"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/speech"
)

// Speech synthesizes speech.
type Speech interface {
	// Begin waits until the request may run and finds its voices. The errors are
	// those of package contract.
	Begin(ctx context.Context, a speech.Request) (*speech.Job, error)
	// Regenerate is Begin for an earlier generation of the account. The error is
	// a contract.ErrNotFound if the box has not stored its request.
	Regenerate(ctx context.Context, account, id string, format contract.AudioFormat) (*speech.Job, error)
	// Convert waits until the request may run, transcribes its recording and
	// finds its voice. The errors are those of package contract.
	Convert(ctx context.Context, a speech.ConversionRequest) (*speech.Job, error)
}

// SpeechInput speaks the text that a socket receives.
type SpeechInput interface {
	// ServeInput upgrades the request to a WebSocket, and returns when it is
	// closed. If the error is not nil, nothing was written to w.
	ServeInput(w http.ResponseWriter, r *http.Request, account string, pass connection.Authorization) error
}

// ttsInput speaks the text that a socket receives.
func (a *API) ttsInput(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.SpeechInput.ServeInput(w, r, by.AccountID, a.authorization(w, r, by))
}

// tts answers with all speech in one JSON object.
func (a *API) tts(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.speak(w, r, by, false, func(j *speech.Job) error {
		out := &bufferedJSON{w: w}
		if err := j.Whole(r.Context(), out); err != nil {
			return err
		}
		return out.finish()
	})
}

// maxBuffered is how much of an answer is buffered: a minute and a half of MP3,
// or eight seconds of WAV. An error up to then is answered with its status. A
// longer answer is sent as it is made: a long text would take three times its
// size in memory.
const maxBuffered = 1 << 20

// bufferedJSON writes JSON, which it buffers up to maxBuffered.
type bufferedJSON struct {
	w      http.ResponseWriter
	buffer []byte
	sent   bool
}

func (h *bufferedJSON) Write(p []byte) (int, error) {
	if !h.sent && len(h.buffer)+len(p) <= maxBuffered {
		h.buffer = append(h.buffer, p...)
		return len(p), nil
	}
	if !h.sent {
		if err := h.send(); err != nil {
			return 0, err
		}
	}
	return h.w.Write(p)
}

func (h *bufferedJSON) send() error {
	h.sent = true
	h.w.Header().Set("Content-Type", "application/json")
	h.w.Header().Set("Cache-Control", "no-store")
	_, err := h.w.Write(h.buffer)
	h.buffer = nil
	return err
}

// finish sends what is still buffered.
func (h *bufferedJSON) finish() error {
	if h.sent {
		return nil
	}
	h.w.Header().Set("Content-Length", strconv.Itoa(len(h.buffer)))
	return h.send()
}

// ttsFile answers with all speech as one file.
func (a *API) ttsFile(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.speak(w, r, by, false, func(j *speech.Job) error { return sendFile(w, r, j) })
}

// ttsRegenerate makes an earlier generation again and answers with the file.
func (a *API) ttsRegenerate(w http.ResponseWriter, r *http.Request, by caller) error {
	format := contract.AudioFormat(r.URL.Query().Get("format_type"))
	switch format {
	case "":
		format = contract.FormatMP3
	case contract.FormatMP3, contract.FormatPCM, contract.FormatWAV:
	default:
		return contract.ErrInvalid{Field: "format_type",
			Why: fmt.Sprintf("%q is not allowed; allowed: mp3, pcm, wav", contract.Clip(string(format)))}
	}
	if r.Method == http.MethodHead { // the door of a hub asks which box has it
		_, err := a.Records.Generation(r.Context(), by.AccountID, r.PathValue("id"))
		if err == nil {
			soundHeaders(w, format)
		}
		return notFound(err, "generation", r.PathValue("id"))
	}
	j, err := a.Speech.Regenerate(r.Context(), by.AccountID, r.PathValue("id"), format)
	if err != nil {
		return err
	}
	defer j.Close()
	return sendFile(w, r, j)
}

// sendFile makes all speech of a job and sends it as one file.
func sendFile(w http.ResponseWriter, r *http.Request, j *speech.Job) error {
	file, err := j.WholeFile(r.Context())
	if err != nil {
		return err
	}
	soundHeaders(w, j.Format())
	w.Header().Set("Content-Length", strconv.Itoa(file.Len()))
	_, err = file.WriteTo(w)
	return err
}

// ttsStream streams the speech as messages, one a line.
func (a *API) ttsStream(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.speak(w, r, by, true, func(j *speech.Job) error { return stream(w, r, j) })
}

func stream(w http.ResponseWriter, r *http.Request, j *speech.Job) error {
	out := flushWriter{w, http.NewResponseController(w)}
	streamHeaders(w, "application/x-ndjson")
	return j.Stream(r.Context(), func(m contract.TTSMessage) error {
		line, err := contract.Marshal(m)
		if err != nil {
			return err
		}
		_, err = out.Write(append(line, '\n'))
		return err
	})
}

// ttsStreamFile streams the speech as one file.
func (a *API) ttsStreamFile(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.speak(w, r, by, true, func(j *speech.Job) error {
		soundHeaders(w, j.Format())
		streamHeaders(w, w.Header().Get("Content-Type"))
		return j.File(r.Context(), flushWriter{w, http.NewResponseController(w)})
	})
}

// speak parses a request, waits until it may run, and calls answer with its job.
func (a *API) speak(w http.ResponseWriter, r *http.Request, by caller, stream bool,
	answer func(*speech.Job) error) error {
	posted, err := decode(r, func(body []byte) (contract.PostedTTS, error) {
		return contract.ParsePostedTTS(body, stream)
	})
	if err != nil {
		return err
	}
	j, err := a.Speech.Begin(r.Context(),
		speech.Request{Account: by.AccountID, RequestID: w.Header().Get("X-Request-Id"), PostedTTS: posted})
	if err != nil {
		return err
	}
	return a.runJob(w, r, j, answer)
}

// runJob calls answer with a job. An error after the answer has begun aborts the
// connection, so a client never takes a part for the whole.
func (a *API) runJob(w http.ResponseWriter, r *http.Request, j *speech.Job, answer func(*speech.Job) error) error {
	defer j.Close()
	err := answer(j)
	if sent, _ := w.(*response); err == nil || sent == nil || sent.status == 0 {
		return err
	}
	a.answerError(w, r, err) // into the log
	panic(http.ErrAbortHandler)
}

// flushWriter flushes each write to the network.
type flushWriter struct {
	io.Writer
	controller *http.ResponseController
}

func (f flushWriter) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err == nil {
		err = f.controller.Flush()
	}
	return n, err
}

// streamHeaders sets the headers of an answer that is sent as it is made: caches
// do not store it, and nginx does not buffer it.
func streamHeaders(w http.ResponseWriter, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
}

func soundHeaders(w http.ResponseWriter, format contract.AudioFormat) {
	kinds := map[contract.AudioFormat]string{contract.FormatMP3: "audio/mpeg", contract.FormatWAV: "audio/wav",
		contract.FormatPCM: "audio/pcm"}
	w.Header().Set("Content-Type", kinds[format])
	w.Header().Set("Cache-Control", "no-store")
}

// aboutSpeech describes the routes of text-to-speech.
func aboutSpeech() descriptions {
	const (
		example = `{"utterances":[{"text":"The museum opens at ten."}],"format":{"type":"wav"}}`
		voiced  = `{"utterances":[{"text":"The museum opens at ten.","voice":{"name":"joe","provider":"HUME_AI"}}],` +
			`"format":{"type":"wav"}}`
	)
	return inSection("Text-to-speech", descriptions{
		"GET /v0/tts/stream/input": aboutSpeechInput(),
		"POST /v0/tts": {
			ID:          "synthesizeJson",
			Summary:     "Speak, answered as JSON when all is done",
			Description: "For texts of some seconds. Use a stream for longer ones.",
			Body:        "PostedTTS",
			Example:     example,
			Answers:     ok(contract.ReturnTTS{}),
			Errors:      []int{404},
		},
		"POST /v0/tts/file": {
			ID:          "synthesizeFile",
			Summary:     "Speak, answered as one file when all is done",
			Description: "Several generations follow each other in the file, a second apart.",
			Body:        "PostedTTS",
			Example:     example,
			Answers:     soundFile(),
			Errors:      []int{404},
		},
		"POST /v0/tts/stream/json": {
			ID:          "synthesizeJsonStreaming",
			Summary:     "Speak, streamed as JSON",
			Description: "One SnippetAudioChunk or TimestampMessage a line, as the socket sends them.",
			Body:        "PostedTTS",
			Example:     voiced,
			Answers:     jsonLines(),
			Errors:      []int{404},
		},
		"POST /v0/tts/stream/file": {
			ID:      "synthesizeFileStreaming",
			Summary: "Speak, streamed as one file",
			Description: "The answer is one file with or without strip_headers, because it does not mark where a " +
				"chunk ends.",
			Body:    "PostedTTS",
			Example: voiced,
			Answers: soundFile(),
			Errors:  []int{404},
		},
		"GET /v0/tts/generations/{id}/file": {
			ID:      "synthesizeAgain",
			Summary: "Make an earlier generation again",
			Description: "The sound is the same sample for sample as long as the box stores the request and has the " +
				"same program and packs.",
			Query: []describe.Parameter{{
				Name:        "format_type",
				Description: "The format of the file.",
				Schema: describe.Enum(contract.FormatMP3, contract.FormatPCM, contract.FormatWAV).
					WithDefault(contract.FormatMP3),
			}},
			Answers: soundFile(),
		},
	})
}

// jsonLines and soundFile describe the two kinds of answers with speech.
func jsonLines() []describe.Answer {
	return []describe.Answer{{
		Status:      200,
		Description: "JSON objects, one a line",
		Media:       "application/x-ndjson",
	}}
}

func soundFile() []describe.Answer {
	return []describe.Answer{{
		Status:      200,
		Description: "The sound, in the requested format",
		Media:       "audio/mpeg",
		Also:        []string{"audio/wav", "audio/pcm"},
	}}
}

// aboutSpeechInput is the description of the socket that speaks.
func aboutSpeechInput() describe.Operation {
	return describe.Operation{
		ID:      "streamInput",
		Summary: "Speak text as it arrives, over WebSocket",
		Description: "A sentence is spoken once it is complete: when more text follows, or none for half a second. " +
			"flush speaks the text received so far; close does too, and then closes the socket. Sound comes as " +
			"binary frames or, with no_binary, as JSON messages like the lines of /v0/tts/stream/json; times and " +
			"errors always come as text. An error is a chunk without sound that has a code, an error and a message. " +
			"Each flush ends a generation. When half a minute of snippets waits, the socket reads no more until they " +
			"are spoken. The messages are described in /asyncapi.json.",
		Query: append(describe.QueryFromShape(contract.TTSConnectQuery().Shape, map[string]string{
			"instant_mode": "Send sound as it is made, which requires a voice. Default: true if a voice is " +
				"named or the context has one, otherwise false, because a voice is designed first.",
			"no_binary": "Send sound in JSON messages instead of binary frames.",
			"strip_headers": "Make the chunks of a generation one file when joined; otherwise each chunk is a " +
				"file.",
			"format_type":           "The format of the sound; default: mp3.",
			"version":               "2 requires a voice.",
			"context_generation_id": "The generation to continue, in its voice unless another one is named.",
		}), parameter("include_timestamp_types",
			"Send the times of words, of phonemes, or of both: repeated, or separated by a comma.", describe.String())),
		Answers: []describe.Answer{{Status: 101, Description: "The socket is open"}},
		Errors:  []int{403, 426},
		Socket: &describe.Socket{
			Receives: []contract.Body{contract.PublishedTTS()},
			Sends:    []describe.Message{contract.SnippetAudioChunk{}, contract.TimestampMessage{}},
		},
	}
}
