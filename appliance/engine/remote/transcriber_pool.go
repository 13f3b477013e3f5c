package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

// TranscriberPool is a transcriber on one or several servers. If one fails or is slow, the next takes
// over, and then the embedded transcriber.
type TranscriberPool struct {
	*pool
	plain    []atomic.Bool // the server knows no verbose_json
	embedded engine.Transcriber
}

var _ engine.Transcriber = (*TranscriberPool)(nil)

// earPatience is the default Pacing.Patience of transcribers. The user waits in silence, and the
// embedded one needs less.
const earPatience = 1500 * time.Millisecond

// patiencePart is the part of the length of the sound by which the patience grows: a server that is
// slower than four times real time is too slow for a conversation.
const patiencePart = 4

// earLimits are the default limits of transcribers: the ear of a chat gives up after 30 s.
func earLimits() Limits {
	return Limits{FirstPiece: 10 * time.Second, Idle: 10 * time.Second, Reply: 30 * time.Second}
}

// OpenTranscribers prepares the use of transcribers on servers without calling them. embedded takes
// over when all of them fail; it may be nil. An error names the wrong option.
func OpenTranscribers(servers []Options, embedded engine.Transcriber, o PoolOptions) (*TranscriberPool, error) {
	all, err := openServers(transcriber, servers, earLimits())
	if err != nil {
		return nil, err
	}
	return &TranscriberPool{
		pool:     newPool(all, o, earPatience),
		plain:    make([]atomic.Bool, len(all)),
		embedded: embedded,
	}, nil
}

// Transcribe implements engine.Transcriber.
func (t *TranscriberPool) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (
	heard engine.Transcript, err error) {
	length := time.Duration(len(pcm)) * time.Second / engine.SpeechRateHz
	wav := audio.EncodeWAV(pcm, engine.SpeechRateHz)
	r := request{prefer: -1, extra: length / patiencePart, covered: t.embedded != nil}
	err = t.race(ctx, r, func(ctx context.Context, i int, pass func(func() error) error) error {
		answer, err := t.ask(ctx, i, wav, o)
		if err != nil {
			return err
		}
		return pass(func() error { heard = answer.transcript(o, length); return nil })
	})
	if _, failed := errors.AsType[*Error](err); failed && t.embedded != nil {
		return t.embedded.Transcribe(ctx, pcm, o)
	}
	return heard, err
}

// Warm has each server transcribe half a second of silence, so that it loads its model and a wrong
// address, key or name is detected early. Its error is as that of ModelPool.Warm.
func (t *TranscriberPool) Warm(ctx context.Context) error {
	silence := audio.EncodeWAV(make([]float32, engine.SpeechRateHz/2), engine.SpeechRateHz)
	return t.warm(ctx, func(ctx context.Context, i int) error {
		_, err := t.ask(ctx, i, silence, engine.TranscribeOptions{})
		return err
	})
}

// heardAnswer is the answer of a server. With response_format json it has a text only.
type heardAnswer struct {
	Text     *string `json:"text"`
	Language string  `json:"language"`
	Words    []struct {
		Word  string  `json:"word"`
		Start float64 `json:"start"` // s
		End   float64 `json:"end"`
	} `json:"words"`
	Segments []struct {
		MeanLogprob *float64 `json:"avg_logprob"`
	} `json:"segments"`
}

// ask asks a server for a transcript. One that refuses verbose_json, as newer models of OpenAI do, is
// asked for json from then on, which has neither language nor words.
func (t *TranscriberPool) ask(ctx context.Context, i int, wav []byte, o engine.TranscribeOptions) (heardAnswer, error) {
	format := "verbose_json"
	if t.plain[i].Load() {
		format = "json"
	}
	a, err := t.askFor(ctx, t.members[i].server, wav, o, format)
	if e, is := errors.AsType[*Error](err); is && e.wants("response_format") && t.plain[i].CompareAndSwap(false, true) {
		return t.askFor(ctx, t.members[i].server, wav, o, "json")
	}
	return a, err
}

func (t *TranscriberPool) askFor(ctx context.Context, s *server, wav []byte, o engine.TranscribeOptions,
	format string) (a heardAnswer, err error) {
	fields := [][2]string{{"model", s.model}, {"response_format", format}, {"temperature", "0"}}
	if language, _, _ := strings.Cut(o.Language, "-"); language != "" {
		fields = append(fields, [2]string{"language", language})
	}
	if o.Words && format == "verbose_json" {
		fields = append(fields, [2]string{"timestamp_granularities[]", "word"},
			[2]string{"timestamp_granularities[]", "segment"})
	}
	body, kind, err := form(fields, wav)
	if err != nil {
		return a, err
	}
	watched, watch := newTimeouts(ctx, s.limits, time.Now())
	defer watch.stop()
	r, err := http.NewRequestWithContext(watched, http.MethodPost,
		s.base.JoinPath("audio", "transcriptions").String(), bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", "application/json")
	response, err := s.send(r, s.key)
	if err != nil {
		return a, s.fault(watched, ctx, err, false)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return a, s.fault(watched, ctx, err, false)
	}
	if err := json.Unmarshal(text, &a); err != nil || a.Text == nil {
		return a, s.bad(false, "", fmt.Sprintf("what it answered (%s) is no transcript: is this an OpenAI-compatible "+
			"address (it often ends in /v1)?", clip(response.Header.Get("Content-Type"))))
	}
	return a, nil
}

// form returns the body of a multipart request with a sound file, and its content type.
func form(fields [][2]string, wav []byte) ([]byte, string, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, f := range fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			return nil, "", err
		}
	}
	file, err := w.CreateFormFile("file", "speech.wav")
	if err != nil {
		return nil, "", err
	}
	if _, err := file.Write(wav); err != nil {
		return nil, "", err
	}
	err = w.Close()
	return body.Bytes(), w.FormDataContentType(), err
}

// transcript converts the answer for sound of a length.
func (a heardAnswer) transcript(o engine.TranscribeOptions, length time.Duration) engine.Transcript {
	heard := engine.Transcript{
		Text:     strings.TrimSpace(strings.ToValidUTF8(*a.Text, "\uFFFD")),
		Language: languageTag(a.Language, o.Language),
	}
	if o.Words {
		heard.Confidence = a.confidence()
		heard.Words = a.words(heard.Text, heard.Confidence, audio.Samples(length, engine.SpeechRateHz))
	}
	return heard
}

// confidence returns the mean probability of the tokens, and 1 if the server reports none: a caller
// with a threshold must not lose everything.
func (a heardAnswer) confidence() float64 {
	sum, n := 0.0, 0.0
	for _, s := range a.Segments {
		if s.MeanLogprob != nil {
			sum, n = sum+*s.MeanLogprob, n+1
		}
	}
	if n == 0 {
		return 1
	}
	return min(1, math.Exp(sum/n))
}

// words returns the words of text: what white space separates, with the times of the server's words,
// which may come without punctuation. Words that it does not have are left without times.
func (a heardAnswer) words(text string, confidence float64, samples int) []engine.TranscriptWord {
	var all []engine.TranscriptWord
	next := 0
	for at := 0; at < len(text); {
		begin := at + strings.IndexFunc(text[at:], func(r rune) bool { return !unicode.IsSpace(r) })
		if begin < at {
			break
		}
		end := len(text)
		if n := strings.IndexFunc(text[begin:], unicode.IsSpace); n >= 0 {
			end = begin + n
		}
		word := engine.TranscriptWord{From: begin, To: end, Confidence: confidence}
		for i := next; i < min(next+maxSkipped, len(a.Words)); i++ {
			if w := a.Words[i]; sameWord(w.Word, text[begin:end]) {
				word.Begin, word.End = sampleAt(w.Start, samples), sampleAt(w.End, samples)
				next = i + 1
				break
			}
		}
		all = append(all, word)
		at = end
	}
	return all
}

// maxSkipped is how many of the server's words may be missing in its text.
const maxSkipped = 4

func sampleAt(seconds float64, samples int) int {
	return min(max(0, int(seconds*engine.SpeechRateHz)), samples)
}

// sameWord compares the letters and digits of words, in any case.
func sameWord(a, b string) bool {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	return utf8.ValidString(a) && letters(a) == letters(b)
}
