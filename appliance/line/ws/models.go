package ws

import (
	"bytes"
	"context"
	"net/http"

	"github.com/coder/websocket"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
)

// An Analyst answers the payloads of a client on a ModelsLine, which it closes at the end.
// After an error it is over.
type Analyst interface {
	// Receive takes a payload, or the fault of one. It blocks while another one waits.
	Receive(p contract.StreamPayload, fault error) error
	// HangUp reports that the client is gone.
	HangUp()
	// Done is closed when the analyst is over and has closed the line.
	Done() <-chan struct{}
}

// ModelsLine sends answers to the client. A client that is too slow is dropped.
type ModelsLine struct{ line *Line }

// Send sends a message. Many goroutines may call it.
func (l *ModelsLine) Send(ctx context.Context, m contract.StreamMessage) error {
	data, err := contract.Marshal(m)
	if err != nil {
		return err
	}
	return l.line.enqueue(ctx, queued{data: data})
}

// Close closes the line after what was sent.
func (l *ModelsLine) Close(code int, reason string) { l.line.Close(code, reason) }

// fail sends an error, and closes the line.
func (l *ModelsLine) fail(code contract.StreamCode, why string, closeCode int) {
	_ = l.Send(l.line.lifecycle.Gone(), contract.StreamErrorMessage{Error: why, Code: code})
	l.Close(closeCode, why)
}

// Admission bounds the messages of a socket that lie in memory.
type Admission interface {
	// Reserve is called before the upgrade, so that a full box can report that over HTTP.
	Reserve() (release func(), err error)
	// Enlarge waits until a message may grow beyond maxIdleBuffer.
	Enlarge(ctx context.Context) (release func(), err error)
}

// ServeModels serves a socket whose client sends media and gets predictions, from its upgrade
// to its end. An error means that there was no upgrade, and the response is still to be
// written.
func (s *Server) ServeModels(w http.ResponseWriter, r *http.Request, admission Admission,
	open func(*ModelsLine) Analyst, auth connection.Authorization) error {
	s.open.Add(1)
	defer s.open.Done()
	if err := checkUpgrade(r, s.origins); err != nil {
		return err
	}
	release, err := admission.Reserve()
	if err != nil {
		return err
	}
	defer release()
	l, err := s.accept(w, r)
	if err != nil {
		return err
	}
	l.maxMessage, l.enlarge = contract.MaxMessageBytes, admission.Enlarge
	defer l.finish()
	out := &ModelsLine{l}
	l.carryModels(open(out), out, auth)
	return nil
}

// carryModels passes the client's payloads to the analyst, until either ends.
func (l *Line) carryModels(analyst Analyst, out *ModelsLine, auth connection.Authorization) {
	revoked := func() {
		out.fail(contract.StreamKeyRevoked, contract.KeyRevoked.Message(), contract.ClosePolicy)
	}
	defer line.OnRevoked(auth, revoked)()
	l.lifecycle.Go("waiting for an analyst", func() {
		<-analyst.Done()
		l.Close(contract.CloseNormal, "") // in case the analyst has not closed it
	})
	l.endedBy(l.readModels(analyst, out, auth, revoked))
	analyst.HangUp()
	<-analyst.Done()
}

// readModels processes one message after the other.
func (l *Line) readModels(analyst Analyst, out *ModelsLine, auth connection.Authorization, revoked func()) (err error) {
	defer l.lifecycle.Recover("reading what is to be analysed", func() {
		out.fail(contract.StreamInternal, contract.Internal.Message(), contract.CloseInternal)
		err = sessionClosed{line.ErrPanicked}
	})
	return l.messages(func(typ websocket.MessageType, frame *bytes.Buffer) error {
		if l.lifecycle.Revoked(auth) {
			revoked()
			return nil
		}
		p, fault := contract.ParseStreamPayload(frame.Bytes())
		if typ == websocket.MessageBinary {
			fault = contract.StreamFault{Code: contract.StreamNotJSON,
				Why: "A binary frame; expected a text frame with an object such as " +
					`{"data":"Hello.","raw_text":true,"models":{"language":{}}}.`}
		}
		if frame.Cap() > maxIdleBuffer {
			*frame = bytes.Buffer{} // the payload has the medium
		}
		return sessionError(analyst.Receive(p, fault))
	})
}
