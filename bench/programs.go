package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"golang.org/x/sync/errgroup"
)

// programsLoad is work that other programs have for a box through OpenAI's API: one program asks for messages, one
// sends recordings and one has texts spoken, each again and again.
type programsLoad struct{ endpoint endpoint }

// during keeps the programs running while f runs. A request that fails is an error.
func (l programsLoad) during(ctx context.Context, f func(context.Context) error) error {
	const text = "The museum opens at ten in the morning, and it closes at six. On Mondays it is closed. "
	spoken, err := l.post(ctx, "/audio/speech", map[string]any{
		"model": "tts-1", "voice": "joe", "response_format": "wav", "input": text + text,
	})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	programs, running := errgroup.WithContext(running)
	for _, request := range []func(int) error{
		func(n int) error {
			_, err := l.post(running, "/chat/completions", map[string]any{
				"model": "parley", "max_tokens": 200, "messages": []map[string]string{{"role": "user",
					"content": fmt.Sprintf("Tell story %d of a museum. It is about this: %s", n, text+text+text)}},
			})
			return err
		},
		func(int) error {
			_, err := l.send(running, "/audio/transcriptions", recordingForm(spoken))
			return err
		},
		func(n int) error {
			_, err := l.post(running, "/audio/speech", map[string]any{
				"model": "tts-1", "voice": "joe", "response_format": "pcm", "input": fmt.Sprint(n, ". ", text+text),
			})
			return err
		},
	} {
		programs.Go(func() error {
			for n := 0; ; n++ {
				if err := request(n); err != nil {
					return err
				}
			}
		})
	}
	err = f(ctx)
	stop()
	if failed := programs.Wait(); !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, failed)
	}
	return err
}

// form is a body with its content type.
type form struct {
	kind string
	body []byte
}

// recordingForm returns the form of a recording.
func recordingForm(recording []byte) form {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	// A write to memory does not fail.
	_ = w.WriteField("model", "whisper-1")
	if part, err := w.CreateFormFile("file", "a.wav"); err == nil {
		_, _ = part.Write(recording)
	}
	_ = w.Close()
	return form{w.FormDataContentType(), b.Bytes()}
}

// post sends JSON and returns the answer.
func (l programsLoad) post(ctx context.Context, path string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return l.send(ctx, path, form{"application/json", text})
}

func (l programsLoad) send(ctx context.Context, path string, f form) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.endpoint.address+"/v1"+path,
		bytes.NewReader(f.body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+l.endpoint.key)
	r.Header.Set("Content-Type", f.kind)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxFromBox))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %s", path, response.Status, answer)
	}
	return answer, nil
}
