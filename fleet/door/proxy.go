package door

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// maxTries is how many boxes are asked for one request. Each may take dialLimit.
	maxTries = 3
	// answerLimit is how long a box may take to answer the handshake of a socket, for which it loads nothing.
	answerLimit = 10 * time.Second
	// replayBytes is the longest body that is sent to a second box after a first one failed: texts to speak have some
	// hundred bytes. Longer bodies pass through without being held.
	replayBytes = 64 << 10
)

// passage is one request on its way to a box.
type passage struct {
	door  *Door
	asked Request
	only  string

	body *heldBody
	box  *placement
	end  context.CancelFunc // of the request to the box
	// called means that the client has begun a call over WebRTC, which does not pass through the door.
	called bool
}

// proxy passes the request to a box and the answer back. See Serve for the error.
func (d *Door) proxy(w http.ResponseWriter, r *http.Request, p *passage) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer p.finish()
	socket := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	if socket {
		d.sockets.Add(1)
		defer d.sockets.Done()
		defer context.AfterFunc(d.options.Running, func() { cancel(errStopping) })()
		if lost := p.asked.Lost; lost != nil {
			defer context.AfterFunc(lost, func() { cancel(context.Cause(lost)) })()
		}
		w = &hijacker{ResponseWriter: w, stall: d.stall}
	}
	var failed error
	through := httputil.ReverseProxy{
		Rewrite:       p.rewrite,
		Transport:     p,
		FlushInterval: -1, // at once: streams of speech
		BufferPool:    &d.buffers,
		ErrorLog:      log.New(io.Discard, "", 0), // ErrorHandler gets the errors
		ErrorHandler:  func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err },
		ModifyResponse: func(res *http.Response) error {
			p.adapt(w.Header(), res)
			if res.StatusCode != http.StatusSwitchingProtocols {
				return nil
			}
			conn, ok := res.Body.(io.ReadWriteCloser)
			if !ok {
				return fmt.Errorf("box %s opened no socket", p.box.box)
			}
			res.Body = newBoxSocket(ctx, conn, p.box.box, d.silence)
			return nil
		},
	}
	through.ServeHTTP(w, r.WithContext(ctx))
	return failed
}

// heldBody is a body, or the start of a long one.
type heldBody struct {
	start []byte
	long  bool // there is more, which passes through once
}

// readBody reads the body if it is short enough to be sent again.
func readBody(r *http.Request) (*heldBody, error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return &heldBody{}, nil
	}
	start, err := io.ReadAll(io.LimitReader(r.Body, replayBytes+1))
	if err != nil {
		return nil, err
	}
	if len(start) <= replayBytes {
		return &heldBody{start: start}, nil
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), r.Body), r.Body}
	return &heldBody{start, true}, nil
}

// credentials are the headers and parameters in which clients send theirs.
var (
	credentialHeaders    = []string{"X-Service-Api-Key", "X-Hume-Api-Key", "Authorization", "Cookie"}
	credentialParameters = []string{"api_key", "apiKey", "apikey", "access_token", "accessToken"}
)

// rewrite makes the request that goes to a box: without the client's credentials, for which send has the hub's key. The
// hub has checked the origin of the page.
func (p *passage) rewrite(pr *httputil.ProxyRequest) {
	pr.SetXForwarded()
	h := pr.Out.Header
	for _, name := range append(credentialHeaders, "Origin") {
		h.Del(name)
	}
	query := pr.Out.URL.Query()
	for _, name := range credentialParameters {
		query.Del(name)
	}
	pr.Out.URL.RawQuery = query.Encode()
}

// RoundTrip sends a request to a box, and to another one if that box refuses it or cannot be reached.
func (p *passage) RoundTrip(out *http.Request) (*http.Response, error) {
	for tried := []string(nil); ; {
		chosen, err := p.door.choose(out, p.asked, p.only, tried)
		if err != nil {
			return nil, err
		}
		p.box = chosen
		res, err := p.send(out)
		if err == nil && !refused(res) {
			return res, nil
		}
		p.box = nil
		if err != nil && out.Context().Err() != nil { // the client has left, or its time is over
			chosen.end()
			return nil, err
		}
		if p.only == "" {
			chosen.refused()
		} else {
			chosen.end()
		}
		tried = append(tried, chosen.box)
		again := p.only == "" && !p.body.long && len(tried) < maxTries
		if err == nil && !again && res.StatusCode == http.StatusServiceUnavailable {
			return res, nil // in the words of the box
		}
		if err == nil {
			err = errors.New(res.Status)
			_ = res.Body.Close()
		}
		p.end()
		p.door.options.Log.Warn("a box did not take a client", "box", chosen.box, "err", err)
		if !again {
			return nil, unavailable("box %s does not answer", chosen.box)
		}
	}
}

// refused reports whether another box may take what a box refused: it is full, or does not know the hub's key yet.
func refused(res *http.Response) bool {
	return res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusUnauthorized
}

// send sends the request to the chosen box.
func (p *passage) send(out *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(out.Context())
	p.end = cancel
	t, err := p.door.transport(p.box.box)
	if err != nil {
		return nil, err
	}
	key, err := p.door.fleet.Key(ctx, p.box.box, p.asked.Account)
	if err != nil {
		return nil, err
	}
	to := out.Clone(ctx)
	to.Header.Set("X-Service-Api-Key", key)
	if !p.body.long {
		to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(p.body.start)), int64(len(p.body.start))
		to.TransferEncoding = nil
	}
	if to.ContentLength == 0 {
		to.Body = http.NoBody
	}
	to.URL.Scheme, to.URL.Host = t.base.Scheme, t.base.Host
	to.Host = t.base.Host
	if out.Header.Get("Upgrade") != "" {
		defer time.AfterFunc(answerLimit, cancel).Stop()
	}
	return t.RoundTrip(to)
}

// finish is called when the passage is over.
func (p *passage) finish() {
	if p.end != nil {
		p.end()
	}
	switch {
	case p.box == nil:
	case p.called:
		p.box.leave()
	default:
		p.box.end()
	}
}

// hubHeaders say what browsers may do at the origin of the hub, where operators are logged in: a box sets none of them.
var hubHeaders = []string{"Clear-Site-Data", "Content-Security-Policy", "Refresh", "Service-Worker-Allowed",
	"Set-Cookie", "Strict-Transport-Security", "X-Content-Type-Options"}

// adapt makes the answer of a box one of the hub, which has its own headers for pages of other origins.
func (p *passage) adapt(own http.Header, res *http.Response) {
	own.Set("Content-Security-Policy", "default-src 'none'; sandbox") // if it is a page, nothing in it runs
	for name := range res.Header {
		if strings.HasPrefix(name, "Access-Control-") || slices.Contains(hubHeaders, name) {
			res.Header.Del(name)
		} else if name != "Vary" {
			own.Del(name) // such as X-Request-Id: that of the box is in its messages and its log
		}
	}
	if at := res.Header.Get("Location"); p.asked.Kind == Chat && strings.HasPrefix(at, "/") {
		p.door.calls.Add(at, p.box.box)
		p.called = true
	}
}

// buffers are the buffers of answers that are being copied, 32 KiB each.
type buffers struct{ pool sync.Pool }

// Get returns a buffer.
func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[32 << 10]byte); ok {
		return buffer[:]
	}
	return make([]byte, 32<<10)
}

// Put gives a buffer back.
func (b *buffers) Put(buffer []byte) { b.pool.Put((*[32 << 10]byte)(buffer)) }
