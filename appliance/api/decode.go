package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"parley/appliance/contract"
)

// decode reads the JSON body of a request by parse, which says what is wrong
// with it. A body that is not said to be anything is taken for JSON.
func decode[T any](r *http.Request, parse func([]byte) (T, error)) (T, error) {
	var none T
	if kind := r.Header.Get("Content-Type"); kind != "" && !isJSON(kind) {
		return none, contract.ErrMediaType{Got: kind, Allowed: "application/json"}
	}
	if packed := r.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return none, contract.ErrMediaType{What: "content encoding", Got: packed, Allowed: "it is, without one"}
	}
	body, err := io.ReadAll(r.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return none, err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return none, err
	}
	if err != nil { // the client broke off, or its chunks are none
		return none, contract.ErrInvalid{Field: "body", Why: "it could not be read to its end"}
	}
	// Editors and shells of Windows put a byte order mark before UTF-8; a reader
	// may leave it out (RFC 8259, section 8.1).
	return parse(bytes.TrimPrefix(body, []byte("\ufeff")))
}

// parsed returns a handler that parses the body before it calls handle.
func parsed[T contract.Readable[T]](handle func(http.ResponseWriter, *http.Request, caller, T) error) handler {
	return func(w http.ResponseWriter, r *http.Request, by caller) error {
		body, err := decode(r, contract.Parse[T])
		if err != nil {
			return err
		}
		return handle(w, r, by, body)
	}
}

// isJSON also takes the kinds that are JSON by their suffix (RFC 6839).
func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" ||
		strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}
