package sip

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// maxHeaders bounds the header fields of a message. A call through a dozen proxies has
// about sixty.
const maxHeaders = 256

// receive takes the bytes of one message from a flow. It is the one place where a message
// enters: whatever a message makes the parser or a handler do, a panic ends here.
func (e *Endpoint) receive(f *flow, text []byte) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("sip: a message caused a panic", "peer", f.remote, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if len(bytes.Trim(text, "\r\n\x00 ")) == 0 || !e.admit(f.remote.Addr(), text) {
		return // a keep-alive, or one message too many
	}
	m, err := parse(text)
	if err != nil {
		e.log.Debug("sip: a message is malformed", "peer", f.remote, "error", err)
		e.refuseMalformed(f, m)
		return
	}
	switch m := m.(type) {
	case *sip.Request:
		e.request(f, m)
	case *sip.Response:
		e.response(m)
	}
}

// refuseMalformed answers 400 to a request from a trunk of which enough could be read.
func (e *Endpoint) refuseMalformed(f *flow, m sip.Message) {
	req, ok := m.(*sip.Request)
	if !ok || req.Method == sip.ACK || e.trunkAt(f.remote.Addr()) == nil {
		return
	}
	via := req.Via()
	if via == nil || via.Host == "" || via.Transport == "" {
		return
	}
	if req.From() == nil || req.To() == nil || req.CallID() == nil || req.CSeq() == nil {
		return
	}
	e.stamp(f, req)
	e.answer(f, req, sip.StatusBadRequest)
}

// parse reads one message. With an error, m has what could be read, or is nil.
func parse(text []byte) (m sip.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("sip: the parser panicked: %v", p)
		}
	}()
	parser := sip.Parser{MaxMessageLength: maxMessage}
	sip.WithHeadersParsers(sip.DefaultHeadersParser())(&parser)
	if m, err = parser.ParseSIP(tidy(text)); err != nil {
		return m, err
	}
	tidyParams(m)
	return m, check(m)
}

// tidy writes a message as the parser wants it: no field goes on in a second line, one Via
// stands on a line, and there is no white space where it has no meaning (RFC 3261, section
// 7.3.1). A line feed alone becomes a space: to others, to whom the box passes a field on, it
// could begin another one.
func tidy(text []byte) []byte {
	head, body, found := bytes.Cut(text, []byte("\r\n\r\n"))
	if !found {
		return text
	}
	for _, fold := range []string{"\r\n ", "\r\n\t"} {
		head = bytes.ReplaceAll(head, []byte(fold), []byte(" "))
	}
	out := make([]byte, 0, len(text)+64)
	for i, line := range bytes.Split(head, []byte("\r\n")) {
		line = bytes.ReplaceAll(line, []byte("\n"), []byte(" "))
		name, value, ok := bytes.Cut(line, []byte(":"))
		name = bytes.TrimSpace(name)
		switch low := strings.ToLower(string(name)); {
		case i == 0 || !ok:
			out = append(out, line...)
		case low == "via" || low == "v":
			for n, via := range bytes.Split(tight(value, "/;=,:"), []byte(",")) {
				if n > 0 {
					out = append(out, "\r\n"...)
				}
				out = append(append(out, "Via: "...), via...)
			}
		case slices.Contains([]string{"from", "f", "to", "t", "contact", "m"}, low):
			out = append(append(append(out, name...), ": "...), tight(value, ";=")...)
		default:
			out = append(append(append(out, name...), ':'), value...)
		}
		out = append(out, "\r\n"...)
	}
	return append(append(out, "\r\n"...), body...)
}

// tight removes the white space around marks, outside of quotes, and at both ends.
func tight(value []byte, marks string) []byte {
	out := make([]byte, 0, len(value))
	quoted, escaped := false, false
	for _, c := range value {
		last := byte(';')
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		blank := c == ' ' || c == '\t'
		switch {
		case quoted:
			quoted = escaped || c != '"'
			escaped = c == '\\' && !escaped
		case blank && (len(out) == 0 || last == ' ' || strings.IndexByte(marks, last) >= 0):
			continue
		case blank:
			c = ' '
		case strings.IndexByte(marks, c) >= 0 && last == ' ':
			out = out[:len(out)-1]
		case c == '"':
			quoted = true
		}
		out = append(out, c)
	}
	return bytes.TrimRight(out, " ")
}

// tidyParams removes the spaces around the names and values of parameters, and writes their
// names in lower case: they are compared without case.
func tidyParams(m sip.Message) {
	fix := func(p sip.HeaderParams) {
		for i := range p {
			p[i].K = strings.ToLower(strings.TrimSpace(p[i].K))
			p[i].V = strings.TrimSpace(p[i].V)
		}
	}
	if h := m.From(); h != nil {
		fix(h.Params)
	}
	if h := m.To(); h != nil {
		fix(h.Params)
	}
	for _, h := range m.GetHeaders("via") {
		if via, ok := h.(*sip.ViaHeader); ok {
			fix(via.Params)
		}
	}
	if h := m.CSeq(); h != nil {
		h.MethodName = sip.RequestMethod(strings.TrimSpace(string(h.MethodName)))
	}
}

var errIncomplete = errors.New("sip: Via, From, To, Call-ID or CSeq is missing or invalid")

// check refuses a message that could not be answered, or matched to its request.
func check(m sip.Message) error {
	via, from, to, cseq := m.Via(), m.From(), m.To(), m.CSeq()
	if via == nil || from == nil || to == nil || m.CallID() == nil || cseq == nil || via.Host == "" ||
		via.Port < 0 || via.Port > 65535 {
		return errIncomplete
	}
	for _, one := range []string{"from", "to", "call-id", "cseq"} {
		if len(m.GetHeaders(one)) != 1 {
			return fmt.Errorf("sip: there has to be one %s", one)
		}
	}
	if n := len(m.GetHeaders("content-length")); n > 1 {
		return errors.New("sip: there is more than one Content-Length")
	}
	switch m := m.(type) {
	case *sip.Request:
		if len(m.Headers()) > maxHeaders {
			return fmt.Errorf("sip: there are %d header fields; at most %d are allowed", len(m.Headers()), maxHeaders)
		}
		if !strings.EqualFold(string(cseq.MethodName), string(m.Method)) { // the parser writes m.Method in capitals
			return fmt.Errorf("sip: CSeq has the method %.20q and the request %.20q", cseq.MethodName, m.Method)
		}
	case *sip.Response:
		if len(m.Headers()) > maxHeaders || m.StatusCode < 100 || m.StatusCode > 699 {
			return fmt.Errorf("sip: the status is %d", m.StatusCode)
		}
	}
	return nil
}

// stamp writes into the topmost Via from where a request came (RFC 3261, section 18.2.1,
// and RFC 3581).
func (e *Endpoint) stamp(f *flow, req *sip.Request) {
	req.SetTransport(f.transport)
	req.SetSource(f.remote.String())
	via := req.Via()
	_, symmetric := via.Params.Get("rport")
	if symmetric {
		via.Params.Add("rport", strconv.Itoa(int(f.remote.Port())))
	}
	if at, err := netip.ParseAddr(via.Host); symmetric || err != nil || at.Unmap() != f.remote.Addr() {
		via.Params.Add("received", f.remote.Addr().String())
	}
}

// list returns the values of a header field that is a list of words, under its name and its
// compact name ("" if it has none).
func list(m sip.Message, name, compact string) (words []string) {
	fields := m.GetHeaders(name)
	if compact != "" {
		fields = append(fields, m.GetHeaders(compact)...)
	}
	for _, h := range fields {
		for word := range strings.SplitSeq(h.Value(), ",") {
			if word = strings.TrimSpace(word); word != "" {
				words = append(words, word)
			}
		}
	}
	return words
}

// lists reports whether a header field has a word.
func lists(m sip.Message, name, compact, word string) bool {
	return contains(list(m, name, compact), word)
}

// field returns the first value of a header field, under its name or its compact name.
func field(m sip.Message, name, compact string) string {
	for _, one := range []string{name, compact} {
		if all := m.GetHeaders(one); len(all) > 0 {
			return all[0].Value()
		}
	}
	return ""
}
