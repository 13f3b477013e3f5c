// Package stream carries telephone calls over the media streams of a provider: the provider asks over HTTP
// what to do with a call, the box answers with TwiML that names a WebSocket, and the provider connects to
// it. On the socket both sides send JSON text with µ-law sound in base64
// (https://www.twilio.com/docs/voice/media-streams/websocket-messages).
package stream

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line/ws"
)

// SocketPath is the path of the socket.
const SocketPath = "/v0/evi/twilio/stream"

// maxMessage bounds a message of the provider in bytes: 24 s of sound as base64, where providers send 20 ms.
const maxMessage = 256 << 10

// ErrCannotTransfer is the error of Transfer: the protocol has no message for it.
var ErrCannotTransfer = errors.New("a media stream cannot transfer its call")

// Options are what a Server needs.
type Options struct {
	// AuthToken is the secret with which the provider signs its requests. Signatures are not checked
	// without one.
	AuthToken string
	// Admit returns an error if an account cannot have a call with these settings now.
	Admit func(ctx context.Context, account string, s contract.ConnectSettings) error
	// Answered holds the chat of a call that has begun. It runs on a goroutine of the call, which ends when
	// it returns. Its error says why there is no chat.
	Answered func(*Call) error
	Sockets  *ws.Server
	Log      *slog.Logger
}

// A Server answers the requests of providers, and serves their streams.
type Server struct {
	Options
	startTimeout time.Duration
	tokens       tokens
}

// Open returns a Server. It listens nowhere itself; its methods handle requests.
func Open(o Options) *Server { return &Server{Options: o, startTimeout: startTimeout} }

// Answer answers a provider's request for TwiML: for a call of the account that ends when the authorization
// does. A box that cannot take the call says that it is busy. An error means that the response is still to
// be written.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, account string,
	auth connection.Authorization) error {
	form, err := readForm(r)
	if err != nil {
		return err
	}
	if err := s.checkSignature(r, form); err != nil {
		return err
	}
	settings, err := contract.ParseConnectSettings(r.URL.Query())
	if f, ok := errors.AsType[contract.Fault](err); ok {
		return f.Refused()
	} else if err != nil {
		return err
	}
	t := newTicket(r, form)
	t.Account, t.Settings, t.Authorization = account, settings, auth
	t.RequestID = w.Header().Get("X-Request-Id")
	err = s.Admit(r.Context(), account, settings)
	var token string
	if err == nil {
		token, err = s.tokens.issue(t, time.Now())
	}
	if isBusy(err) {
		s.Log.WarnContext(r.Context(), "a telephone call was answered with busy", "why", err, "call_sid", t.CallSID,
			"request", t.RequestID)
		return writeTwiML(w, busyTwiML)
	}
	if err != nil {
		return err
	}
	return writeTwiML(w, connectTwiML(socketURL(r), token))
}

// isBusy reports whether an error means that the box cannot take a call now.
func isBusy(err error) bool {
	_, full := errors.AsType[contract.ErrFull](err)
	_, tooMany := errors.AsType[contract.ErrTooMany](err)
	_, unavailable := errors.AsType[contract.ErrUnavailable](err)
	return full || tooMany || unavailable
}

// Serve serves the socket of a stream, from its upgrade to its end. The token of the call is in the query or
// in the start message. An error means that there was no upgrade, and the response is still to be written.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request) error {
	if err := s.checkSocketSignature(r); err != nil {
		return err
	}
	token := r.URL.Query().Get("token") // for clients without custom parameters
	if token != "" && !s.tokens.has(token, time.Now()) {
		return contract.ErrForbidden{Why: errToken.Error()}
	}
	return s.Sockets.ServeText(w, r, maxMessage, func(socket *ws.TextSocket) {
		c, err := newCall(socket, s.Log)
		if err != nil {
			s.Log.Error("cannot begin a media stream", "err", err)
			socket.Close(contract.CloseInternal, contract.Internal.Slug())
			return
		}
		c.carry(token, &s.tokens, s.startTimeout, func() error { return s.Answered(c) })
	})
}
