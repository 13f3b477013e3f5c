package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// maxPooledBuffer is the largest buffer that is reused: a page of configs has 20
// KiB, and one long list should not hold its memory for ever.
const maxPooledBuffer = 64 << 10

// result replies with v, or returns err if it is not nil.
func (a *API) result(w http.ResponseWriter, status int, v any, err error) error {
	if err == nil {
		a.reply(w, status, v)
	}
	return err
}

// reply answers with v as JSON. It encodes v before it sends the status, so an
// encoding error becomes a clean 500.
func (a *API) reply(w http.ResponseWriter, status int, v any) {
	body, ok := a.bodies.Get().(*bytes.Buffer)
	if !ok {
		body = new(bytes.Buffer)
	}
	defer func() {
		if body.Cap() <= maxPooledBuffer {
			body.Reset()
			a.bodies.Put(body)
		}
	}()
	enc := json.NewEncoder(body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		a.Log.Error("cannot encode an answer as JSON", "err", err)
		status = http.StatusInternalServerError
		body.Reset()
		body.WriteString(
			`{"code":"internal_error","error":"Internal Server Error","message":"the answer could not be written"}` +
				"\n")
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // fails only when the client is gone
}
