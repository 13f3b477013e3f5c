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

// decode parses the JSON body of a request with parse. A body without a content
// type is taken for JSON.
func decode[T any](r *http.Request, parse func([]byte) (T, error)) (T, error) {
	var none T
	if kind := r.Header.Get("Content-Type"); kind != "" && !isJSON(kind) {
		return none, contract.ErrMediaType{Got: kind, Allowed: "application/json"}
	}
	body, err := readBody(r)
	if err != nil {
		return none, err
	}
	// Editors and shells of Windows put a byte order mark before UTF-8; a reader
	// may leave it out (RFC 8259, section 8.1).
	return parse(bytes.TrimPrefix(body, []byte("\ufeff")))
}

// readBody reads the whole body of a request.
func readBody(r *http.Request) ([]byte, error) {
	if packed := r.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return nil, contract.ErrMediaType{What: "content encoding", Got: packed, Allowed: "it is, without one"}
	}
	body, err := io.ReadAll(r.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, err
	}
	if err != nil { // the client closed the connection, or sent invalid chunks
		return nil, contract.ErrInvalid{Field: "body", Why: "it could not be read to its end"}
	}
	return body, nil
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

// isJSON reports whether a content type is JSON, also by its suffix (RFC 6839).
func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "application/json" ||
		strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}
