package sip

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// maxParts bounds the parts of a body: SDP, and what telephone systems add about a caller
// or an emergency.
const maxParts = 16

var errNoSDP = errors.New("sip: the body is not SDP")

// sdpOf returns the SDP in the body of a message, alone or as a part of several. It is nil
// without a body.
func sdpOf(m sip.Message) ([]byte, error) {
	body := m.Body()
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	kind, params, err := mime.ParseMediaType(field(m, "content-type", "c"))
	switch {
	case err != nil:
		return nil, errNoSDP
	case kind == "application/sdp":
		return body, nil
	case !strings.HasPrefix(kind, "multipart/"):
		return nil, errNoSDP
	}
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for range maxParts {
		part, err := parts.NextPart()
		if err != nil {
			return nil, errNoSDP
		}
		if kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type")); kind == "application/sdp" {
			return io.ReadAll(part)
		}
	}
	return nil, errNoSDP
}

// bodyRefusal returns the status for a body that the box cannot read, or 0. A body that is
// not needed does not matter.
func bodyRefusal(m sip.Message) (status int, headers []sip.Header) {
	if len(bytes.TrimSpace(m.Body())) == 0 {
		return 0, nil
	}
	for _, encoding := range list(m, "content-encoding", "e") {
		if !strings.EqualFold(encoding, "identity") {
			return sip.StatusUnsupportedMediaType, []sip.Header{sip.NewHeader("Accept-Encoding", "identity")}
		}
	}
	disposition := strings.ToLower(field(m, "content-disposition", ""))
	if _, err := sdpOf(m); err == nil || strings.Contains(disposition, "handling=optional") {
		return 0, nil
	}
	return sip.StatusUnsupportedMediaType, []sip.Header{acceptSDP()}
}
