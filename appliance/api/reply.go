package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// maxPooledBuffer is the largest buffer that is kept for the next answer: a page of
// configs is 20 KiB, and one long list should not hold its room for ever.
const maxPooledBuffer = 64 << 10

// result replies with v where err is nil, and returns err.
func (a *API) result(w http.ResponseWriter, status int, v any, err error) error {
	if err == nil {
		a.reply(w, status, v)
	}
	return err
}

// reply answers with v as JSON. It is written whole before the status is sent,
// so that a value that cannot be written is a clean 500.
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
		a.Log.Error("cannot write an answer as JSON", "err", err)
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
	_, _ = w.Write(body.Bytes()) // a client that is gone needs no answer
}
