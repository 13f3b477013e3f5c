package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"

	"parley/appliance/contract"
)

// RewriteLibraryErrors returns a function that wraps a connection so that error
// answers of the HTTP library become JSON, with a request id, as all other
// errors. The library answers requests that it cannot parse itself and has no
// hook for that, but its answers are one write that begins as no other answer
// does.
func RewriteLibraryErrors(log *slog.Logger) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn { return &errorRewriter{c, log} }
}

type errorRewriter struct {
	net.Conn
	log *slog.Logger
}

// Write writes p, or a JSON answer if p is an error answer of the library.
func (c *errorRewriter) Write(p []byte) (int, error) {
	status, why := libraryError(p)
	if status == 0 {
		return c.Conn.Write(p)
	}
	id := contract.NewID()
	c.log.Info("request", "request", id, "client", c.RemoteAddr(), "status", status, "why", why)
	if _, err := c.Conn.Write(libraryErrorAnswer(status, why, id)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite closes the writing side while the client may still send. Without it,
// the client might never see its answer.
func (c *errorRewriter) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// libraryHeaders are all the headers of the library's own answers. Answers of
// handlers have a Date and begin with Cache-Control.
var libraryHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// libraryError returns the status and the reason of an error answer of the
// library in p. The status is 0 if p is no such answer.
func libraryError(p []byte) (status int, why string) {
	line, ok := bytes.CutPrefix(p, []byte("HTTP/1.1 "))
	if !ok || len(line) < 4 || line[0] != '4' && line[0] != '5' {
		return 0, ""
	}
	status, err := strconv.Atoi(string(line[:3]))
	if err != nil {
		return 0, ""
	}
	if status == http.StatusExpectationFailed { // no handler answers with it
		return status, ""
	}
	first, _, whole := bytes.Cut(line, libraryHeaders)
	if !whole || bytes.IndexByte(first, '\r') >= 0 {
		return 0, ""
	}
	if _, more, ok := bytes.Cut(first, []byte(": ")); ok {
		why = string(more)
	}
	return status, why
}

// libraryErrorAnswer returns a whole answer as bytes.
func libraryErrorAnswer(status int, why, id string) []byte {
	p := problem{"invalid_request", http.StatusText(status),
		"the request cannot be read: its first line or one of its headers is no HTTP/1.1"}
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		p.Code, p.Message = "headers_too_large", fmt.Sprintf("the first line and the headers have more than %d bytes "+
			"together, which is the most allowed; long settings of a chat go into a session_settings message",
			maxHeaderBytes)
	case http.StatusNotImplemented:
		p.Code, p.Message = "unsupported_transfer_encoding",
			"the Transfer-Encoding is not read here; send the body as it is, or chunked"
	case http.StatusHTTPVersionNotSupported:
		p.Code, p.Message = "unsupported_version", "this version of HTTP is not supported; use HTTP/1.1 or HTTP/2"
	case http.StatusExpectationFailed:
		p.Code, p.Message = "expectation_failed", "the header Expect may say 100-continue and nothing else"
	default:
		if why != "" {
			p.Message = "the request cannot be read: " + why
		}
	}
	body, _ := json.Marshal(p) // cannot fail: three strings
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), id, len(body), body)
}
