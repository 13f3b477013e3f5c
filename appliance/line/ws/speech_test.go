package ws

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
)

// refusing is a Speaker that refuses every request.
type refusing struct {
	out  *SpeechLine
	done chan struct{}
	once sync.Once
}

func (r *refusing) Receive(contract.PublishTTS) error {
	return r.out.Fault(context.Background(), contract.Fault{Code: contract.SpeechRefused, Detail: "voice: missing."})
}
func (r *refusing) HangUp()               { r.once.Do(func() { close(r.done) }) }
func (r *refusing) Done() <-chan struct{} { return r.done }

// An error of a speech socket, also one of its query, has all fields of a chunk: the
// published clients throw if one is missing.
func TestAnErrorOfASpeechSocketIsAChunk(t *testing.T) {
	d := newDesk()
	server := NewServer(d, nil, quick, slog.New(slog.DiscardHandler))
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req-1")
		room := func() (func(), error) { return func() {}, nil }
		err := server.ServeSpeech(w, r, room, func(o SpeechOpening) (Speaker, error) {
			return &refusing{out: o.Line, done: make(chan struct{})}, nil
		}, d)
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	defer box.Close()
	for _, c := range []struct{ query, code, slug, said, format string }{
		{
			"format_type=ogg", "E0730", "invalid_connect_parameter",
			`A query parameter of the connection is invalid. format_type: "ogg" is not allowed; allowed: mp3, pcm, wav`,
			"mp3",
		},
		{"format_type=pcm", "E0740", "speech_refused", "This cannot be spoken as it is asked for. voice: missing.",
			"pcm"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		conn, _, err := websocket.Dial(ctx, box.URL+"?"+c.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"text":"Hello."}`)) // the first is refused before it
		_, data, err := conn.Read(ctx)
		var got map[string]any
		if err != nil || json.Unmarshal(data, &got) != nil {
			t.Fatal(string(data), err)
		}
		for field, want := range map[string]any{
			"type": "audio", "audio": "", "audio_format": c.format, "chunk_index": 0.0, "is_last_chunk": true,
			"text":          "",
			"generation_id": "", "snippet_id": "", "request_id": "req-1",
			"code": c.code, "error": c.slug, "slug": c.slug, "message": c.said,
		} {
			if got[field] != want {
				t.Errorf("%s: %s is %v, want %v", c.query, field, got[field], want)
			}
		}
		_ = conn.CloseNow()
	}
	d.lose()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := server.Wait(ctx); err != nil {
		t.Error(err)
	}
}
